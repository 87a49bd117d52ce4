//! Jitter that can be repeated.

use std::time::Duration;

use breakerbox::ManualClock;
use breakerbox::Registry;
use breakerbox::RegistryBuilder;

use super::COOLDOWN;
use super::POLICY;
use super::SERVICE;
use super::left;
use super::opened;

/// The lengths of some openings, one after the other.
fn lengths(builder: RegistryBuilder) -> Vec<Duration> {
    let time = ManualClock::new();
    let registry = builder
        .clock(time.clock())
        .declare_with(SERVICE, POLICY.jitter(1.0))
        .build()
        .expect("good numbers");
    let openings = (0..8).map(|_| {
        let breaker = opened(&registry);
        let length = left(breaker).expect("it has just opened");
        time.advance(length);
        length
    });
    openings.collect()
}

#[test]
fn registries_with_one_seed_draw_the_same_jitter() {
    let seeded = |seed| lengths(Registry::builder().seed(seed));
    let first = seeded(7);
    assert_eq!(first, seeded(7));
    assert_ne!(first, seeded(8));
    let drawn = |length: &Duration| (COOLDOWN..=COOLDOWN * 2).contains(length);
    assert!(first.iter().all(drawn), "{first:?}");
}

#[test]
fn registries_without_a_seed_do_not_draw_alike() {
    assert_ne!(lengths(Registry::builder()), lengths(Registry::builder()));
}
