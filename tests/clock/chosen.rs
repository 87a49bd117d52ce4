//! The clock that a registry is given, and the one that it has otherwise.

use std::time::Duration;

use breakerbox::Clock;
use breakerbox::ManualClock;
use breakerbox::Policy;
use breakerbox::Registry;

use super::COOLDOWN;
use super::POLICY;
use super::SERVICE;
use super::TICK;
use super::left;
use super::opened;
use super::timed;

/// What the cheap clock of any system may be behind.
const LAG: Duration = Duration::from_millis(50);

#[tokio::test(start_paused = true)]
async fn tokios_clock_is_followed_by_choice_and_without_one() {
    let unchosen = Registry::builder().declare_with(SERVICE, POLICY).build();
    for registry in [timed(Clock::tokio()), unchosen.unwrap()] {
        let breaker = opened(&registry);
        tokio::time::advance(COOLDOWN - TICK).await;
        assert_eq!(left(breaker), Some(TICK));
        tokio::time::advance(TICK).await;
        assert_eq!(left(breaker), None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_manual_clock_does_not_follow_tokios() {
    let time = ManualClock::new();
    let breaker = opened(&timed(time.clock()));
    tokio::time::advance(COOLDOWN * 2).await;
    assert_eq!(left(breaker), Some(COOLDOWN));
    time.advance(COOLDOWN);
    assert_eq!(left(breaker), None);
}

#[tokio::test(start_paused = true)]
async fn the_clock_of_the_system_does_not_follow_tokios() {
    let breaker = opened(&timed(Clock::system()));
    tokio::time::advance(COOLDOWN * 100).await;
    // A rejection is told by a clock that may be a little behind.
    assert!(left(breaker).unwrap() <= COOLDOWN + LAG);
    let short = Policy::new().threshold(1).cooldown(TICK);
    let registry = Registry::builder()
        .clock(Clock::system())
        .declare_with(SERVICE, short)
        .build();
    let breaker = opened(&registry.unwrap());
    while left(breaker).is_some() {
        std::hint::spin_loop();
    }
}

#[tokio::test(start_paused = true)]
async fn registries_side_by_side_go_each_by_its_own_clock() {
    let (first, second) = (ManualClock::new(), ManualClock::new());
    let by_first = opened(&timed(first.clock()));
    let by_second = opened(&timed(second.clock()));
    let by_tokio = opened(&timed(Clock::tokio()));
    let by_system = opened(&timed(Clock::system()));
    first.advance(COOLDOWN);
    second.advance(TICK);
    tokio::time::advance(TICK * 2).await;
    assert_eq!(left(by_first), None);
    assert_eq!(left(by_second), Some(COOLDOWN - TICK));
    assert_eq!(left(by_tokio), Some(COOLDOWN - TICK * 2));
    assert!(left(by_system).is_some());
}

/// What a registry is told last stands, as of all its settings.
#[test]
fn of_two_clocks_the_second_is_taken() {
    let (first, second) = (ManualClock::new(), ManualClock::new());
    let registry = Registry::builder()
        .clock(first.clock())
        .clock(second.clock())
        .declare_with(SERVICE, POLICY)
        .build();
    let breaker = opened(&registry.unwrap());
    first.advance(COOLDOWN);
    assert_eq!(left(breaker), Some(COOLDOWN));
    second.advance(TICK);
    assert_eq!(left(breaker), Some(COOLDOWN - TICK));
}
