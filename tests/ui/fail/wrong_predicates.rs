//! B213: predicates and expressions of the attribute whose types do not fit.
use breakerbox::circuit_breaker;

pub enum Own {
    Timeout,
    Rejected(breakerbox::Rejected),
}

impl From<breakerbox::Rejected> for Own {
    fn from(rejected: breakerbox::Rejected) -> Self {
        Self::Rejected(rejected)
    }
}

fn by_value(_: Own) -> bool {
    true
}

fn no_bool(_: &Own) -> u8 {
    1
}

#[circuit_breaker(service = "a", fails_on = by_value)]
async fn path() -> Result<u32, Own> {
    Ok(1)
}

#[circuit_breaker(service = "a", ignores = no_bool)]
async fn answer() -> Result<u32, Own> {
    Ok(1)
}

#[circuit_breaker(service = "a", fails_on = is_infra)]
async fn unknown() -> Result<u32, Own> {
    Ok(1)
}

#[circuit_breaker(service = "a", fails_on = |error| error.is_infra())]
async fn method() -> Result<u32, Own> {
    Ok(1)
}

#[circuit_breaker(service = "a", fails_on = |error| 5)]
async fn closure() -> Result<u32, Own> {
    Ok(1)
}

#[circuit_breaker(service = "a", classify = |out| "failed")]
async fn verdict() -> Result<u32, Own> {
    Ok(1)
}

#[circuit_breaker(service = "a", map_rejected = |rejected| rejected.service())]
async fn mapped() -> Result<u32, Own> {
    Ok(1)
}

#[circuit_breaker(service = "a", fallback = Ok("1"))]
async fn fallback() -> Result<u32, Own> {
    Ok(1)
}

#[circuit_breaker(service = "a", fallback = |rejected| { Err(rejected)? })]
async fn fallback_closure() -> Result<u32, std::num::ParseIntError> {
    Ok(1)
}

#[circuit_breaker(service = "a", fallback_when = by_value, fallback = Ok(1))]
async fn when() -> Result<u32, Own> {
    Ok(1)
}

#[circuit_breaker(service = 5 + 5)]
async fn service() -> Result<u32, Own> {
    Ok(1)
}

#[circuit_breaker(handle = "a")]
async fn handle() -> Result<u32, Own> {
    Ok(1)
}

#[circuit_breaker(service = "a", threshold = "5".len(), cooldown = 60 * 60)]
async fn numbers() -> Result<u32, Own> {
    Ok(1)
}

fn main() {}
