//! Live changes.

use std::panic;
use std::panic::AssertUnwindSafe;
use std::thread;
use std::time::Duration;

use breakerbox::Breaker;
use breakerbox::Key;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::State;
use breakerbox::Window;

use super::setting;

fn breaker(policy: Policy) -> &'static Breaker {
    let builder = Registry::builder().declare_with("updated", policy);
    let registry = builder.build().expect("nothing is wrong");
    registry.breaker("updated").expect("declared")
}

#[test]
fn a_live_change_is_given_what_is_written_and_changes_what_it_writes_otherwise() {
    let written = Policy::new().threshold(5).probes(2);
    let breaker = breaker(written);
    let mut given = None;
    let update = breaker.update(|policy| {
        given = Some(policy);
        policy.threshold(3).cooldown(Duration::from_secs(9))
    });
    assert_eq!(update, Ok(()));
    let given = given.unwrap();
    assert!(given.writes(Key::Threshold) && !given.writes(Key::Cooldown));
    assert_eq!(given, written);
    let expected = written.threshold(3).cooldown(Duration::from_secs(9));
    assert_eq!(breaker.policy(), expected);
    assert_eq!(setting(breaker, Key::Probes), "probes = 2 (code)");
    assert_eq!(
        setting(breaker, Key::Cooldown),
        "cooldown = 9s (live change)"
    );
}

#[test]
fn a_key_that_a_live_change_does_not_write_stays_as_it_was() {
    let breaker = breaker(Policy::new().threshold(5).probes(2));
    breaker.update(|_| Policy::new().threshold(3)).unwrap();
    assert_eq!(breaker.policy(), Policy::new().threshold(3).probes(2));
    // The second is put on the first.
    breaker.update(|_| Policy::new().probes(4)).unwrap();
    assert_eq!(breaker.policy(), Policy::new().threshold(3).probes(4));
}

/// K8
#[test]
fn numbers_that_are_refused_leave_everything_as_it_was() {
    let policy = Policy::new().threshold(5).probes(2);
    let breaker = breaker(policy);
    breaker.update(|policy| policy.jitter(0.5)).unwrap();
    for (key, wrong) in [
        (Key::Threshold, policy.threshold(0)),
        (Key::CloseAfter, policy.close_after(3)),
        (Key::FailureRate, policy.failure_rate(0.5)),
        (Key::Jitter, policy.jitter(f64::NAN)),
    ] {
        let refused = breaker.update(|_| wrong.cooldown(Duration::from_secs(1)));
        assert_eq!(refused.unwrap_err().key(), key);
        assert_eq!(breaker.policy(), policy.jitter(0.5));
        assert_eq!(setting(breaker, Key::Jitter), "jitter = 0.5 (live change)");
    }
}

/// DESIGN: a new threshold is judged at the next outcome.
#[test]
fn state_and_counts_stay_and_the_next_outcome_is_judged_by_the_new_numbers() {
    let breaker = breaker(Policy::new().threshold(5));
    for _ in 0..3 {
        breaker.try_acquire().unwrap().failure();
    }
    breaker.update(|policy| policy.threshold(2)).unwrap();
    assert_eq!(breaker.state(), State::Closed);
    assert_eq!(breaker.snapshot().consecutive_failures, 3);
    breaker.try_acquire().unwrap().failure();
    assert_eq!(breaker.state(), State::Open);

    breaker.update(|policy| policy.threshold(50)).unwrap();
    assert_eq!(breaker.state(), State::Open);
    assert!(breaker.clear_update());
    assert!(!breaker.clear_update());
    assert_eq!(breaker.state(), State::Open);
    assert_eq!(breaker.snapshot().calls.failure, 4);
}

#[test]
fn of_two_changes_at_once_none_is_lost() {
    const EACH: u32 = 200;
    let breaker = breaker(Policy::new().threshold(1).probes(1));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..EACH {
                    let more = |policy: Policy| {
                        let threshold = policy.get_threshold().unwrap_or(0);
                        policy.threshold(threshold + 1)
                    };
                    breaker.update(more).unwrap();
                    breaker
                        .update(|policy| policy.probes(policy.get_probes() + 1))
                        .unwrap();
                }
            });
        }
    });
    let expected = Policy::new().threshold(1 + 4 * EACH).probes(1 + 4 * EACH);
    assert_eq!(breaker.policy(), expected);
}

#[test]
fn a_change_that_panics_changes_nothing_and_hinders_nobody() {
    let breaker = breaker(Policy::new().threshold(5));
    let panicked = panic::catch_unwind(AssertUnwindSafe(|| {
        let _ = breaker.update(|_| panic::resume_unwind(Box::new("its own")));
    }));
    assert!(panicked.is_err());
    assert_eq!(breaker.policy(), Policy::new().threshold(5));
    breaker.update(|policy| policy.threshold(6)).unwrap();
    assert_eq!(breaker.policy(), Policy::new().threshold(6));
}

/// It may look at everything but not change it.
#[test]
fn a_change_may_read_its_breaker_and_make_calls() {
    let breaker = breaker(Policy::new().threshold(5));
    let update = breaker.update(|policy| {
        assert_eq!(breaker.snapshot().policy, policy);
        breaker.try_acquire().unwrap().failure();
        policy.window(Window::Calls(10))
    });
    assert_eq!(update, Ok(()));
}

/// The numbers are those of the service, whichever of its breakers is asked.
#[test]
fn a_change_by_the_breaker_of_a_key_is_one_for_the_whole_service() {
    let breaker = breaker(Policy::new().threshold(5));
    let (one, other) = (breaker.key("one"), breaker.key("other"));
    one.update(|policy| policy.threshold(1)).unwrap();
    assert_eq!(breaker.policy(), Policy::new().threshold(1));
    other.try_acquire().unwrap().failure();
    assert_eq!(other.state(), State::Open);
    assert_eq!(one.state(), State::Closed);
    assert_eq!(
        setting(&other, Key::Threshold),
        "threshold = 1 (live change)"
    );
    assert!(other.clear_update());
    assert_eq!(one.policy(), Policy::new().threshold(5));
}

/// It was told to the breakers of keys alone, and that of the service never had the window.
#[test]
fn a_window_that_the_breaker_of_a_key_brings_is_one_for_all_breakers_of_the_service() {
    let breaker = breaker(Policy::new().threshold(2));
    let (one, other) = (breaker.key("one"), breaker.key("other"));
    one.update(|policy| policy.window(Window::Calls(10)))
        .unwrap();
    for of_service in [breaker, &*one, &*other] {
        of_service.try_acquire().unwrap().failure();
        of_service.try_acquire().unwrap().success();
        assert_eq!(of_service.state(), State::Closed);
        of_service.try_acquire().unwrap().failure();
        assert_eq!(of_service.state(), State::Open);
    }
}
