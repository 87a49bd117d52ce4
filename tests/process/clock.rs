//! A clock for the global registry.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use breakerbox::BuildError;
use breakerbox::ManualClock;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::State;
use breakerbox::circuit_breaker;

use crate::alone::alone;

const SERVICE: &str = "process: timed";

#[circuit_breaker(service = "process: timed", threshold = 2, cooldown = "60s")]
fn call(fails: bool) -> io::Result<()> {
    if fails {
        return Err(io::Error::other("no"));
    }
    Ok(())
}

#[test]
fn given_before_the_first_call_a_clock_is_that_of_all_calls() {
    alone(|| {
        let time = ManualClock::new();
        let builder = Registry::builder().clock(time.clock());
        builder.declare("declared too").install().unwrap();
        assert!(breakerbox::breaker("declared too").is_some());
        call(true).unwrap_err();
        call(true).unwrap_err();
        let breaker = breakerbox::breaker(SERVICE).unwrap();
        let cooldown = Duration::from_secs(60);
        assert_eq!(breaker.snapshot().retry_after, Some(cooldown));
        time.advance(cooldown);
        call(false).unwrap();
        assert_eq!(breaker.state(), State::Closed);
    });
}

#[test]
fn a_clock_that_comes_after_the_first_call_is_refused_and_changes_nothing() {
    alone(|| {
        call(true).unwrap_err();
        let breaker = breakerbox::breaker(SERVICE).unwrap();
        let heard = Arc::new(());
        let hears = Arc::clone(&heard);
        let refused = Registry::builder()
            .clock(ManualClock::new().clock())
            .declare("refused")
            .declare_with(SERVICE, Policy::new().threshold(9))
            .on_event(move |_| drop(Arc::clone(&hears)))
            .install();
        assert!(matches!(refused, Err(BuildError::ClockRuns)), "{refused:?}");

        assert!(breakerbox::breaker("refused").is_none());
        assert_eq!(breaker.policy().get_threshold(), Some(2));
        assert_eq!(breaker.snapshot().consecutive_failures, 1);
        // The thread of the listener ends, with nothing heard.
        while Arc::strong_count(&heard) > 1 {
            std::thread::yield_now();
        }
        Registry::builder().declare("accepted").install().unwrap();
        assert!(breakerbox::breaker("accepted").is_some());
        call(true).unwrap_err();
        assert_eq!(breaker.state(), State::Open);
    });
}

/// A second install says so, whatever it brings.
#[test]
fn a_clock_after_an_install_is_a_second_install() {
    alone(|| {
        let time = ManualClock::new();
        Registry::builder().clock(time.clock()).install().unwrap();
        let refused = Registry::builder()
            .clock(ManualClock::new().clock())
            .install();
        assert!(
            matches!(refused, Err(BuildError::AlreadyInstalled)),
            "{refused:?}"
        );
    });
}
