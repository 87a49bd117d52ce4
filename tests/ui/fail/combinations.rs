//! Keys that exclude each other, or have nothing to do.
use breakerbox::circuit_breaker;

type Answer = Result<(), breakerbox::Rejected>;

#[circuit_breaker(service = "a", classify = |_| true, fails_on = |_| true, ignores = matches(Some(1)))]
async fn verdicts() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", fallback_when = any)]
async fn no_fallback() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", fallback = Ok(()), map_rejected = |r| r)]
async fn map_for_nothing() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", wrap_error, map_rejected = |_| breakerbox::Error::Inner(Unit))]
async fn map_and_wrap() -> Result<(), breakerbox::Error<Unit>> {
    Err(Unit)
}

#[derive(Debug)]
pub struct Unit;

#[circuit_breaker(service = "a", classify = |_| true, fallback_when = failed, fallback = |e| Err(e))]
async fn an_error_that_need_not_be() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", boxed)]
fn boxed_sync() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", boxed)]
fn boxed_twice() -> std::pin::Pin<Box<dyn Future<Output = Answer>>> {
    Box::pin(async { Ok(()) })
}

#[async_trait::async_trait]
trait Client {
    #[circuit_breaker(service = "a", wrap_error)]
    async fn wrapped(&self) -> Result<(), breakerbox::Error<std::fmt::Error>> {
        Ok(())
    }
}

fn main() {}
