//! A policy that is tried before it rejects anybody: in shadow the rules run as they would,
//! tell each opening that they would have made, count what they would have rejected, and let
//! every call through.
//!
//! `cargo run --release --example shadow`

use std::error::Error;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use breakerbox::Breaker;
use breakerbox::Event;
use breakerbox::Registry;
use breakerbox::circuit_breaker;

static IS_DOWN: AtomicBool = AtomicBool::new(false);

/// `shadow` is all that tells it from the policy that will reject.
#[circuit_breaker(
    service = "search",
    window = "2s",
    failure_rate = "50%",
    min_calls = 20,
    cooldown = "300ms",
    shadow
)]
async fn search(query: u32) -> io::Result<u32> {
    tokio::time::sleep(Duration::from_millis(1)).await;
    if IS_DOWN.load(Relaxed) {
        return Err(io::Error::other("no answer"));
    }
    Ok(query)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::builder()
        .on_event(|event| match event {
            Event::WouldOpen(would) => println!(
                "  would have opened for {:?} after {}",
                would.open_for, would.reason
            ),
            Event::Warning(warning) => eprintln!("{warning}"),
            _ => {}
        })
        .install()?;
    let breaker = breakerbox::breaker("search").ok_or("it is annotated")?;

    println!("in shadow, and healthy:");
    traffic(50).await;
    show(breaker);
    println!("in shadow, during an outage:");
    IS_DOWN.store(true, Relaxed);
    traffic(300).await;
    show(breaker);
    IS_DOWN.store(false, Relaxed);
    traffic(300).await;
    println!("in shadow, after it:");
    show(breaker);

    println!("for real, with the same numbers:");
    breaker.update(|policy| policy.shadow(false))?;
    IS_DOWN.store(true, Relaxed);
    traffic(300).await;
    show(breaker);

    registry.close();
    Ok(())
}

/// So many calls, one after the other.
async fn traffic(calls: u32) {
    for query in 0..calls {
        let _ = search(query).await;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

fn show(breaker: &Breaker) {
    let snapshot = breaker.snapshot();
    println!(
        "  {} (beneath: {}), {} answered, {} failed, {} rejected, {} would have been rejected",
        snapshot.state,
        snapshot.beneath,
        snapshot.calls.success,
        snapshot.calls.failure,
        snapshot.calls.rejected,
        snapshot.would_reject
    );
}
