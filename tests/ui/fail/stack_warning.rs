//! What is legal and hardly meant is a warning at the policy, which can be allowed.
#![deny(deprecated)]
use breakerbox::bulkhead;
use breakerbox::retry;

#[bulkhead(service = "a", max_concurrent = 5)]
#[retry(idempotent)]
async fn keeps_its_place() -> Result<u32, breakerbox::Rejected> {
    Ok(1)
}

#[retry(idempotent)]
#[bulkhead(service = "a", max_concurrent = 5)]
async fn gives_it_back() -> Result<u32, breakerbox::Rejected> {
    Ok(1)
}

#[allow(deprecated)]
#[bulkhead(service = "a", max_concurrent = 5)]
#[retry(idempotent)]
async fn means_it() -> Result<u32, breakerbox::Rejected> {
    Ok(1)
}

fn main() {}
