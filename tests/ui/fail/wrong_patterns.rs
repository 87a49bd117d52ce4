//! A typing error in a pattern is explained by rustc.
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

#[circuit_breaker(service = "a", fails_on = matches(Own::Timeot | Own::Rejected(_)))]
async fn variant() -> Result<u32, Own> {
    Ok(1)
}

#[circuit_breaker(service = "a", fails_on = matches(Own::Rejected(r) if r.is_open()))]
async fn guard() -> Result<u32, Own> {
    Ok(1)
}

fn main() {}
