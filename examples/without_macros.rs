//! The same guard by hand: permits, verdicts, and a breaker declared in code.
//!
//! `cargo run --release --example without_macros`

use std::time::Duration;

use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::Verdict;

/// What the warehouse answers, minute by minute.
const ANSWERS: [u16; 8] = [200, 404, 503, 503, 200, 429, 200, 200];

fn verdict(status: u16) -> Verdict {
    match status {
        // It says itself when it wants to be asked again.
        429 => Verdict::OpenFor(Duration::from_millis(300)),
        500..=599 => Verdict::Failure,
        // A 404 is an answer, too.
        _ => Verdict::Success,
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let policy = Policy::new()
        .threshold(2)
        .cooldown(Duration::from_millis(200));
    let registry = Registry::builder()
        .declare_with("warehouse", policy)
        .install()?;
    let warehouse = registry.breaker("warehouse").ok_or("declared above")?;

    let mut answers = ANSWERS.into_iter();
    while answers.len() > 0 {
        match warehouse.try_acquire() {
            Ok(permit) => {
                let probe = if permit.is_probe() { " (probe)" } else { "" };
                let status = answers.next().ok_or("checked above")?;
                permit.record(verdict(status));
                println!("{status}{probe}: the circuit is {}", warehouse.state());
            }
            Err(rejected) => {
                println!("{rejected}");
                // A worker would do something else meanwhile.
                std::thread::sleep(rejected.retry_after().unwrap_or_default());
            }
        }
    }

    let snapshot = warehouse.snapshot();
    println!(
        "{} answered, {} failed, {} not sent",
        snapshot.calls.success, snapshot.calls.failure, snapshot.calls.rejected
    );
    registry.close();
    Ok(())
}
