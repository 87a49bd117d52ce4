//! M85, K8: recoveries and keys that no breaker can work with.
use breakerbox::circuit_breaker;

#[circuit_breaker(service = "a", backoff = 0.5)]
async fn shrinking() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", backoff = "2")]
async fn quoted_factor() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", jitter = 1.5)]
async fn more_than_all_of_it() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", max_cooldown = "30s")]
async fn shorter_than_the_default() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", probe_failure_rate = "0%")]
async fn no_probe_may_fail() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", ramp = "0s")]
async fn no_ramp() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", shadow = "yes")]
async fn neither_true_nor_false() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", on_cancel = after("0s"))]
async fn after_nothing() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", max_keys = 5)]
async fn keys_of_nothing() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", key = tenant, max_keys = 0)]
async fn no_keys(tenant: &str) -> Result<(), breakerbox::Rejected> {
    let _ = tenant;
    Ok(())
}

#[circuit_breaker(service = "a", key = tenant)]
async fn a_key_that_is_no_text(tenant: u32) -> Result<(), breakerbox::Rejected> {
    let _ = tenant;
    Ok(())
}

#[circuit_breaker(service = "a", key = tenant)]
fn a_returned_future(tenant: &str) -> impl Future<Output = Result<(), breakerbox::Rejected>> {
    let _ = tenant;
    async { Ok(()) }
}

#[circuit_breaker(service = "a", key = "tenant")]
async fn a_key_in_quotes() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(handle = breaker(), key = tenant, max_keys = 5)]
async fn a_key_beside_a_handle() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", jitter = 0, backoff = -2, probe_failure_rate = 20)]
async fn whole_and_negative() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", shadow: true, shadow)]
async fn a_switch_written_otherwise() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", ramp = "30s", ramp = "40s", max_keys = 3, max_keys = 4, key = tenant)]
async fn twice() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", failure_ratio = 0.5, sliding_window = 10, min_cals = 3)]
async fn names_of_others() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

fn main() {}
