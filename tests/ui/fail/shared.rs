//! M85, K8: numbers of shared circuits that no process can work with.
use std::time::Duration;

use breakerbox::circuit_breaker;
use breakerbox::resilient;

const TOO_MANY: u32 = 65;

#[circuit_breaker(service = "a", min_instances = 0)]
async fn no_process() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", min_instances = 65)]
async fn too_many_processes() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "b", min_instances = TOO_MANY)]
async fn too_many_behind_a_constant() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", min_instances = "2", probe_wait = 50)]
async fn quotes_the_other_way_round() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", min_instances = 0.5, probe_wait = true)]
async fn wrong_types() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "c", min_instances = Duration::ZERO, probe_wait = TOO_MANY)]
async fn wrong_types_behind_code() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", min_instances = -1, probe_wait = "5")]
async fn negative_and_without_a_unit() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", min_instances = 2, probe_wait = "1s", probe_wait = "2s", min_instances = 3)]
async fn twice() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(handle = breaker(), min_instances = 2, probe_wait = "0s")]
async fn beside_a_handle() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", min_instance = 2, probes_wait = "1s", quorum = 3, wait_for_probe = "1s")]
async fn names_nearby() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[resilient(service = "a", circuit_breaker(min_instances = 65, probe_wait = "5"), bulkhead(max_concurrent = 3))]
async fn among_other_policies() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[resilient(service = "a", circuit_breaker(threshold = 3), min_instances = 3)]
async fn beside_its_breaker() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

fn main() {}
