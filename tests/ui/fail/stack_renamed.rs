//! Attributes under other names cannot find each other.
use breakerbox::circuit_breaker;
use breakerbox::circuit_breaker as guarded;
use breakerbox::retry as again;
use breakerbox::timeout;
use breakerbox::timeout as within;

#[derive(Debug)]
pub struct E;
impl From<breakerbox::Rejected> for E {
    fn from(_: breakerbox::Rejected) -> Self {
        Self
    }
}
impl From<breakerbox::TimedOut> for E {
    fn from(_: breakerbox::TimedOut) -> Self {
        Self
    }
}

#[circuit_breaker(service = "a")]
#[again(idempotent)]
async fn below_a_breaker() -> Result<(), E> {
    Ok(())
}

#[timeout("1s")]
#[guarded(service = "a")]
async fn below_a_timeout() -> Result<(), E> {
    Ok(())
}

#[circuit_breaker(service = "a")]
#[within("1s")]
fn in_a_box() -> std::pin::Pin<Box<dyn Future<Output = Result<(), E>>>> {
    Box::pin(async move { Ok(()) })
}

// The name of a crate in a macro may stand for any crate.
macro_rules! by_the_crate_of_the_macro {
    ($name:ident) => {
        #[$crate::circuit_breaker(service = "a")]
        #[$crate::timeout("1s")]
        async fn $name() -> Result<(), E> {
            Ok(())
        }
    };
}
by_the_crate_of_the_macro!(below_in_a_macro);

fn main() {}
