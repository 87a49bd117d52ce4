//! M85: numbers that no breaker can work with.
use breakerbox::circuit_breaker;

#[circuit_breaker(service = "a", threshold = 0)]
async fn zero() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", threshold = -1)]
async fn negative() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", threshold = "5")]
async fn quoted() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", threshold = 5u64)]
async fn other_type() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", threshold = 4294967296)]
async fn too_large() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", threshold = 524288)]
async fn larger_than_the_word() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", threshold = 0.5)]
async fn fraction() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", probes = 0, probe_concurrency = 0, close_after = 0)]
async fn zero_probes() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", probes = 2, probe_concurrency = 3, close_after = 4)]
async fn contradictory_probes() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", probe_concurrency = 2)]
async fn more_than_the_one_probe() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

fn main() {}
