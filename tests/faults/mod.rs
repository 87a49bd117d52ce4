//! What went wrong in other breakers must be impossible here.
//!
//! One file a kind of fault. The ids in the doc lines, such as B031, are labels that
//! name one fault each; around each its whole kind is tried. Where the steps say it all,
//! they are written in the notation of the scenarios.

#![allow(clippy::unwrap_used)]

mod k01_half_open;
mod k02_cancellation;
mod k03_late_outcomes;
mod k04_counting;
mod k05_classification;
mod k06_time;
mod nested;

use std::time::Duration;

use breakerbox::Breaker;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::State;

use crate::scenarios::drivers;
use crate::scenarios::drivers::seconds;

/// Opens at the first failure, for a minute.
const ONE: Policy = Policy::new().threshold(1);

/// A registry in half-open, with all places of its round free.
async fn half_open(policy: Policy) -> (Registry, &'static Breaker) {
    let registry = drivers::registry(policy);
    let breaker = drivers::breaker(&registry);
    while breaker.state() == State::Closed {
        breaker.try_acquire().unwrap().failure();
    }
    tokio::time::advance(breaker.snapshot().retry_after.unwrap()).await;
    drop(breaker.try_acquire().unwrap());
    assert_eq!(breaker.state(), State::HalfOpen);
    (registry, breaker)
}

/// A service that is well again is called again: the circuit closes with good calls
/// alone, and every place is free.
fn recovers(breaker: &Breaker) {
    // Real time, and more of it than any cooldown here.
    let limit = std::time::Instant::now() + Duration::from_secs(20);
    while breaker.state() != State::Closed {
        if let Ok(permit) = breaker.try_acquire() {
            permit.success();
        }
        assert!(
            std::time::Instant::now() < limit,
            "{:#?}",
            breaker.snapshot()
        );
    }
    assert_eq!(breaker.snapshot().in_flight, 0);
}

/// The same under a paused clock.
async fn recovers_at_once(breaker: &Breaker, probes: u32) {
    if let Some(left) = breaker.snapshot().retry_after {
        tokio::time::advance(left).await;
    }
    for _ in 0..probes {
        breaker.try_acquire().unwrap().success();
    }
    assert_eq!(breaker.state(), State::Closed);
    assert_eq!(breaker.snapshot().in_flight, 0);
    tokio::time::advance(seconds(1)).await;
    breaker.try_acquire().unwrap().success();
}

/// A small generator of random numbers (xorshift), so that a stress says the same
/// each time.
struct Dice(u64);

impl Dice {
    const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// One of `0..sides`.
    const fn throw(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }
}
