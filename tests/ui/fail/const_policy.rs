//! Numbers behind constants are checked while compiling, at the constant.
use std::time::Duration;

use breakerbox::Window;
use breakerbox::circuit_breaker;
use breakerbox::timeout;

const LIMIT: u32 = 0;
const NONE: Duration = Duration::ZERO;
const NAME: &str = "";
const WINDOW: Window = Window::Calls(10);
const MOST: u32 = 11;
const GROWTH: f64 = f64::NAN;
const TOO_LATE: Duration = Duration::from_secs(2);
const IN_TIME: Duration = Duration::from_millis(1_999);

#[derive(Debug)]
pub struct E;

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

#[circuit_breaker(service = "a", window = 10, failure_rate = 0.5, min_calls = MOST)]
async fn min_calls() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", window = WINDOW, failure_rate = 0.5, min_calls = 11)]
async fn window() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", backoff = GROWTH)]
async fn backoff() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", window = NONE, failure_rate = MOST, shadow = MOST)]
async fn types() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[timeout("2s")]
#[circuit_breaker(service = "a", on_cancel = after(TOO_LATE))]
async fn never_counts() -> Result<(), breakerbox::Error<E>> {
    Ok(())
}

#[timeout("2s")]
#[circuit_breaker(service = "b", on_cancel = after(IN_TIME))]
async fn counts() -> Result<(), breakerbox::Error<E>> {
    Ok(())
}

#[circuit_breaker(service = "c", on_cancel = after(TOO_LATE))]
#[timeout("2s")]
async fn below() -> Result<(), breakerbox::Error<E>> {
    Ok(())
}

fn main() {}
