//! Numbers behind constants are checked while compiling, at the constant.
use std::time::Duration;

use breakerbox::circuit_breaker;

const LIMIT: u32 = 0;
const NONE: Duration = Duration::ZERO;
const NAME: &str = "";

#[circuit_breaker(service = "a", threshold = LIMIT)]
async fn threshold() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", threshold = 5, cooldown = NONE)]
async fn cooldown() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = NAME)]
async fn name() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

fn main() {}
