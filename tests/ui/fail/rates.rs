//! M85, K8, K10: windows and rates that no breaker can work with.
use breakerbox::circuit_breaker;

const RATE: f64 = 1.5;

#[circuit_breaker(service = "a", window = "60s", failure_rate = 50)]
async fn percent_without_quotes() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", window = "60s", failure_rate = 1)]
async fn whole() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", window = "60s", failure_rate = "0.5")]
async fn decimal_in_quotes() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", window = "60s", failure_rate = "150%")]
async fn more_than_all() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", window = "60s", failure_rate = 50%, slow_call_rate = 12.5%)]
async fn percentages_without_quotes() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", window = "60s", failure_rate = "50", slow_call = "1s", slow_call_rate = 80.0)]
async fn percentages_without_a_sign() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", window = "60s", slow_call = "1s", slow_call_rate = "50 %")]
async fn percentage_with_a_space() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", window = "60s", failure_rate = 0.0)]
async fn none() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", window = "60s", failure_rate = -0.5)]
async fn negative() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", window = "60s", failure_rate = RATE)]
async fn constant() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", failure_rate = 0.5, slow_call_rate = 0.5)]
async fn without_a_window() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", window = 0)]
async fn empty_window() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", window = "0s")]
async fn empty_time() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", window = 2000000)]
async fn too_large_a_window() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", window = 1.5)]
async fn neither_time_nor_calls() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", window = 10, failure_rate = 0.5, min_calls = 11, min_failures = 12)]
async fn more_than_the_window() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", window = 10, threshold = 11)]
async fn a_threshold_beyond_the_window() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", window = 3)]
async fn the_default_threshold_beyond_the_window() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", window = 60s)]
async fn time_without_quotes() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", window = "100")]
async fn calls_in_quotes() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", window = -100)]
async fn negative_window() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", windw = "60s", failure_rate = 0.5, min_calls = 10)]
async fn a_misspelt_window_is_not_missed_twice() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", min_calls = 5, min_failures = 5)]
async fn gates_of_nothing() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", window = "60s", failure_rate = 0.5, min_calls = 0, min_failures = 0)]
async fn zero_gates() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", window = "1s", slow_call = "2s")]
async fn slower_than_the_window() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", window = "60s", slow_call_rate = 0.5)]
async fn without_slow_call() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[circuit_breaker(service = "a", slow_call = "0s")]
async fn zero_slow_call() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

fn main() {}
