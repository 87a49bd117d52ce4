//! A client function and its guard, in twenty lines.
//!
//! `cargo run --release --example quickstart`

use breakerbox::Rejected;
use breakerbox::circuit_breaker;

#[derive(Debug, thiserror::Error)]
enum PaymentError {
    #[error(transparent)]
    Unavailable(#[from] Rejected), // the call was never made
    #[error("gateway answered {0}")]
    Gateway(u16),
}

#[circuit_breaker(service = "stripe", threshold = 3, cooldown = "60s")]
async fn charge(cents: u64) -> Result<(), PaymentError> {
    println!("  asking the gateway for {cents} cents");
    Err(PaymentError::Gateway(503))
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    for job in 1..=5 {
        match charge(990).await {
            Ok(()) => println!("job {job}: charged"),
            Err(PaymentError::Unavailable(rejected)) => println!("job {job}: put back: {rejected}"),
            Err(error) => println!("job {job}: failed: {error}"),
        }
    }
}
