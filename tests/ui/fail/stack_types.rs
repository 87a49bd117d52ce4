//! What only the compiler knows about stacked policies.
use std::time::Duration;

use breakerbox::bulkhead;
use breakerbox::circuit_breaker;
use breakerbox::resilient;
use breakerbox::retry;
use breakerbox::timeout;

#[derive(Debug)]
pub struct Plain;

#[derive(Debug)]
pub struct Rejects;
impl From<breakerbox::Rejected> for Rejects {
    fn from(_: breakerbox::Rejected) -> Self {
        Self
    }
}

#[timeout("1s")]
async fn no_error_for_a_timeout() -> Result<u32, Plain> {
    Ok(1)
}

#[timeout("1s")]
#[circuit_breaker(service = "a")]
async fn nor_for_this_one() -> Result<u32, Rejects> {
    Ok(1)
}

#[retry(idempotent)]
async fn no_result() -> u32 {
    1
}

#[bulkhead(service = "a", max_concurrent = 1)]
async fn no_error_for_a_full_one() -> Result<u32, Plain> {
    Ok(1)
}

pub struct Token;

#[retry(idempotent, clone(token))]
async fn no_clone(token: Token) -> Result<u32, Plain> {
    drop(token);
    Ok(1)
}

#[retry(idempotent)]
async fn moved(name: String) -> Result<u32, Plain> {
    drop(name);
    Ok(1)
}

fn by_value(_: Plain) -> bool {
    true
}

#[retry(retry_on = by_value)]
async fn wrong_predicate() -> Result<u32, Plain> {
    Ok(1)
}

const NO_ATTEMPTS: u32 = 0;

#[retry(idempotent, attempts = NO_ATTEMPTS)]
async fn wrong_constant() -> Result<u32, Plain> {
    Ok(1)
}

const NO_PLACES: u32 = 0;

#[bulkhead(service = "b", max_concurrent = NO_PLACES)]
async fn wrong_number_of_places() -> Result<u32, Rejects> {
    Ok(1)
}

#[timeout(8 * SECOND)]
async fn unknown_constant() -> Result<u32, breakerbox::TimedOut> {
    Ok(1)
}

const SECONDS: u64 = 8;

#[timeout(SECONDS)]
async fn no_duration() -> Result<u32, breakerbox::TimedOut> {
    Ok(1)
}

#[resilient(timeout(Duration::from_secs(SECONDS)), bulkhead(service = "c", max_concurrent = 1))]
async fn keeps_a_place() -> Result<u32, breakerbox::Error<Plain>> {
    unknown()
}

#[bulkhead(service = name(), max_concurrent = NO_PLACES)]
async fn nor_of_a_service_by_expression() -> Result<u32, Rejects> {
    Ok(1)
}

fn name() -> &'static str {
    "d"
}

fn main() {}
