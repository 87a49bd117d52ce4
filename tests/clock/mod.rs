//! Whose time a registry goes by.

mod chosen;
mod manual;
mod seeds;

use std::time::Duration;

use breakerbox::Breaker;
use breakerbox::Clock;
use breakerbox::Policy;
use breakerbox::Registry;

const SERVICE: &str = "clock: timed";

const COOLDOWN: Duration = Duration::from_secs(60);

const TICK: Duration = Duration::from_nanos(1);

const POLICY: Policy = Policy::new().threshold(1).cooldown(COOLDOWN);

/// A registry that goes by this clock.
fn timed(clock: Clock) -> Registry {
    Registry::builder()
        .clock(clock)
        .declare_with(SERVICE, POLICY)
        .build()
        .expect("good numbers")
}

/// The one breaker of it.
fn breaker(registry: &Registry) -> &'static Breaker {
    registry.breaker(SERVICE).expect("declared")
}

/// A breaker that a failure has just opened.
fn opened(registry: &Registry) -> &'static Breaker {
    let breaker = breaker(registry);
    breaker.try_acquire().expect("closed").failure();
    breaker
}

/// How long it rejects; nothing where it admits, which leaves it as it was.
fn left(breaker: &Breaker) -> Option<Duration> {
    match breaker.try_acquire() {
        Ok(permit) => {
            drop(permit);
            None
        }
        Err(rejected) => rejected.retry_after(),
    }
}
