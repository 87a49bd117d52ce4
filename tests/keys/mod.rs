//! Breakers under one service, one a key.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use breakerbox::Breaker;
use breakerbox::ManualClock;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::State;
use breakerbox::Window;

const SECOND: Duration = Duration::from_secs(1);
const POLICY: Policy = Policy::new().threshold(1).max_keys(3);

fn service(clock: &ManualClock, policy: Policy) -> &'static Breaker {
    let registry = Registry::builder()
        .clock(clock.clock())
        .declare_with("keys", policy)
        .build()
        .expect("the numbers are good");
    registry.breaker("keys").expect("it is declared")
}

fn fail(service: &'static Breaker, key: &str) {
    let permit = service
        .key(key)
        .try_acquire()
        .map(|permit| permit.failure());
    permit.expect("it is admitted");
}

fn names(service: &Breaker) -> Vec<String> {
    let mut names: Vec<_> = service
        .keys()
        .iter()
        .map(|(key, _)| key.to_string())
        .collect();
    names.sort();
    names
}

#[test]
fn further_keys_share_one_breaker() {
    let service = service(&ManualClock::new(), POLICY);
    for key in ["a", "b", "c"] {
        service.key(key).try_acquire().unwrap().success();
    }
    fail(service, "d");
    assert!(service.key("e").try_acquire().is_err());
    assert!(service.key("a").try_acquire().is_ok());
    assert_eq!(names(service), ["a", "b", "breakerbox:overflow", "c"]);
    assert_eq!(service.snapshot().keys, 4);
}

#[test]
fn idle_closed_keys_make_room() {
    let clock = ManualClock::new();
    let service = service(&clock, POLICY);
    for key in ["a", "b", "c"] {
        service.key(key).try_acquire().unwrap().success();
    }
    clock.advance(61 * SECOND);
    service.key("b").try_acquire().unwrap().success();
    fail(service, "d");
    assert_eq!(names(service), ["b", "d"]);
}

#[test]
fn keys_that_are_open_half_open_forced_or_in_flight_stay() {
    let clock = ManualClock::new();
    let service = service(&clock, POLICY.max_keys(4).cooldown(10 * SECOND));
    fail(service, "open");
    fail(service, "half-open");
    service
        .key("forced")
        .force_open(999 * SECOND, "ana", "a test")
        .unwrap();
    let held = service.key("in flight");
    let permit = held.try_acquire().unwrap();
    clock.advance(10 * SECOND);
    drop(service.key("half-open").try_acquire().unwrap());
    assert_eq!(service.key("half-open").state(), State::HalfOpen);
    clock.advance(500 * SECOND);
    service.key("one more");
    assert_eq!(
        names(service),
        [
            "breakerbox:overflow",
            "forced",
            "half-open",
            "in flight",
            "open"
        ]
    );
    permit.success();
    drop(held);
    clock.advance(500 * SECOND);
    service.key("one more");
    assert!(names(service).contains(&"one more".to_owned()));
}

/// One that nobody has come to since would else keep its place for ever.
#[test]
fn idle_keys_make_room_whose_shadow_is_the_policy_s_or_whose_ramp_or_override_is_over() {
    let clock = ManualClock::new();
    let shadowed = service(&clock, POLICY.shadow(true));
    for key in ["a", "b", "c"] {
        shadowed.key(key).try_acquire().unwrap().success();
    }
    clock.advance(61 * SECOND);
    shadowed.key("d");
    assert_eq!(names(shadowed), ["d"]);

    let policy = POLICY.cooldown(10 * SECOND).ramp(100 * SECOND);
    let others = service(&clock, policy);
    fail(others, "ramp");
    clock.advance(10 * SECOND);
    others.key("ramp").try_acquire().unwrap().success();
    for (key, lasts) in [("forced", 100), ("forced longer", 400)] {
        let key = others.key(key);
        key.force_open(lasts * SECOND, "ana", "a test").unwrap();
    }
    clock.advance(61 * SECOND);
    others.key("too early");
    assert!(!names(others).contains(&"too early".to_owned()));
    clock.advance(61 * SECOND);
    others.key("d");
    assert_eq!(names(others), ["breakerbox:overflow", "d", "forced longer"]);
}

/// A shadow rejects nobody.
#[test]
fn a_key_in_shadow_is_not_counted_among_the_open_ones() {
    let shadowed = service(&ManualClock::new(), POLICY.shadow(true));
    fail(shadowed, "a");
    assert!(shadowed.key("a").try_acquire().is_ok());
    assert_eq!(shadowed.snapshot().open_keys, 0);
    shadowed
        .key("a")
        .force_open(SECOND, "ana", "a test")
        .unwrap();
    assert_eq!(shadowed.snapshot().open_keys, 1);
}

#[test]
fn a_service_that_is_forced_open_rejects_the_calls_of_all_keys() {
    let clock = ManualClock::new();
    let service = service(&clock, POLICY);
    service.key("a").try_acquire().unwrap().success();
    service.force_open(5 * SECOND, "ana", "a test").unwrap();
    assert!(service.key("a").try_acquire().is_err());
    assert!(service.key("new").try_acquire().is_err());
    clock.advance(5 * SECOND);
    assert!(service.key("a").try_acquire().is_ok());
}

#[test]
fn new_numbers_reach_every_key() {
    let service = service(&ManualClock::new(), POLICY.threshold(2));
    service.key("a").try_acquire().unwrap().failure();
    service.update(|policy| policy.threshold(3)).unwrap();
    service.key("a").try_acquire().unwrap().failure();
    assert_eq!(service.key("a").state(), State::Closed);
    service.key("a").try_acquire().unwrap().failure();
    assert_eq!(service.key("a").state(), State::Open);
}

/// One that had no window would count nothing, and never open.
#[test]
fn a_key_that_comes_while_numbers_change_has_the_new_ones() {
    let two_in_ten = |policy: Policy| policy.threshold(2).window(Window::Calls(10));
    for _ in 0..50 {
        let service = service(&ManualClock::new(), Policy::new().max_keys(1_000_000));
        service.key("before");
        let has_changed = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                service.update(two_in_ten).unwrap();
                has_changed.store(true, Relaxed);
            });
            for key in 0.. {
                service.key(&key.to_string());
                if has_changed.load(Relaxed) {
                    break;
                }
            }
        });
        for (name, key) in service.keys() {
            key.try_acquire().unwrap().failure();
            key.try_acquire().unwrap().success();
            key.try_acquire().unwrap().failure();
            assert_eq!(key.state(), State::Open, "{name}");
        }
    }
}

#[test]
fn a_key_has_a_window_of_its_own() {
    let clock = ManualClock::new();
    let policy = Policy::new()
        .window(Window::Time(10 * SECOND))
        .failure_rate(0.5)
        .min_calls(4);
    let service = service(&clock, policy);
    for _ in 0..10 {
        service.key("well").try_acquire().unwrap().success();
    }
    for _ in 0..3 {
        fail(service, "sick");
    }
    clock.advance(10 * SECOND);
    fail(service, "sick");
    assert_eq!(service.key("sick").state(), State::Closed);
    for _ in 0..3 {
        fail(service, "sick");
    }
    assert_eq!(service.key("sick").state(), State::Open);
    assert_eq!(service.key("well").state(), State::Closed);
}

#[test]
fn a_long_key_is_its_beginning() {
    let service = service(&ManualClock::new(), POLICY);
    let long = "é".repeat(100);
    fail(service, &long);
    assert_eq!(names(service), ["é".repeat(64)]);
}

#[test]
fn threads_that_come_for_one_key_get_one_breaker() {
    let service = service(&ManualClock::new(), Policy::new().threshold(100));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for call in 0..200 {
                    let key = format!("key {}", call % 50);
                    service.key(&key).try_acquire().unwrap().success();
                }
            });
        }
    });
    let snapshot = service.snapshot();
    assert_eq!((snapshot.keys, snapshot.calls.success), (50, 1_600));
}
