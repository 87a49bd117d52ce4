//! M85: the attribute is no name and value.
use breakerbox::circuit_breaker;

#[circuit_breaker = "a"]
async fn f() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

fn main() {}
