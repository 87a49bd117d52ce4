//! M74: outputs that are no `Result`.
use breakerbox::circuit_breaker;

#[circuit_breaker(service = "a")]
async fn option() -> Option<u32> {
    Some(1)
}

#[circuit_breaker(service = "a")]
fn unit() {}

#[circuit_breaker(service = "a", fallback = None)]
async fn only_a_fallback() -> Option<u32> {
    Some(1)
}

#[circuit_breaker(service = "a", classify = Option::is_none)]
async fn only_a_verdict() -> Option<u32> {
    Some(1)
}

#[circuit_breaker(service = "a")]
fn future() -> std::future::Ready<Result<u32, breakerbox::Rejected>> {
    std::future::ready(Ok(1))
}

#[circuit_breaker(service = "a", wrap_error)]
async fn not_wrapped() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
