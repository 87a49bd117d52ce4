//! M88: an error that has no place for a rejection.
use breakerbox::circuit_breaker;

pub struct Own;

#[circuit_breaker(service = "a")]
async fn plain() -> Result<u32, Own> {
    Ok(1)
}

#[circuit_breaker(service = "a", fallback_when = any, fallback = |e| Err(e))]
fn sync() -> Result<u32, std::fmt::Error> {
    Ok(1)
}

#[circuit_breaker(service = "a")]
async fn generic<E>() -> Result<u32, E> {
    Ok(1)
}

fn main() {}
