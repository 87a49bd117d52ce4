//! B090 B096 B100: retries that would do harm, nothing, or something else.
use breakerbox::circuit_breaker;
use breakerbox::resilient;
use breakerbox::retry;
use breakerbox::timeout;

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

#[retry]
async fn of_what() -> Result<(), E> {
    Ok(())
}

#[retry(attempts = 0, delay = "0s", factor = 0.5, jitter = 2, idempotent)]
async fn numbers() -> Result<(), E> {
    Ok(())
}

#[retry(attempts = 1, delay = "5s", max_delay = "1s", max_elapsed = "2s", idempotent)]
async fn more_numbers() -> Result<(), E> {
    Ok(())
}

#[retry(max_retries = 3, backoff = 2, initial_delay = "1s", idempotant)]
async fn names_of_others() -> Result<(), E> {
    Ok(())
}

#[retry(idempotent, budget = "20%")]
async fn whose_budget() -> Result<(), E> {
    Ok(())
}

#[retry(idempotent, wait_for_circuit)]
async fn which_circuit() -> Result<(), E> {
    Ok(())
}

#[retry(idempotent, retry_on = |_| true)]
#[retry(idempotent)]
async fn twice() -> Result<(), E> {
    Ok(())
}

#[retry(idempotent)]
async fn changed(mut a: Vec<u8>, mut b: &[u8], (mut c, d): (u8, u8)) -> Result<(), E> {
    a.push(b[0] + c + d);
    b = &b[1..];
    c += b[0];
    Ok(drop(c))
}

#[retry(idempotent, clone(a, a, b, c, self))]
async fn cloned(a: Vec<u8>, b: &[u8]) -> Result<(), E> {
    Ok(drop((a, b.len())))
}

#[retry(idempotent, clone = a)]
async fn clone_of(a: Vec<u8>) -> Result<(), E> {
    Ok(drop(a))
}

#[timeout("1s")]
#[retry(idempotent, attempts = 5, delay = "200ms")]
#[circuit_breaker(service = "a")]
async fn no_time() -> Result<(), E> {
    Ok(())
}

#[resilient(retry(idempotent, clone(a)), timeout("2s"))]
fn future(a: u8) -> impl Future<Output = Result<u8, E>> {
    let b = a;
    async move { Ok(b) }
}

fn main() {}
