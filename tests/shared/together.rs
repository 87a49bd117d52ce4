//! Failures count together, and what one has seen protects all.

use std::thread;
use std::time::Duration;

use breakerbox::Event;
use breakerbox::Policy;
use breakerbox::Reason;
use breakerbox::RejectedKind;
use breakerbox::State;

use super::fleet::Process;
use super::fleet::both_become;
use super::fleet::on_each;
use super::fleet::on_each_at_once;

const POLICY: Policy = Policy::new()
    .threshold(5)
    .cooldown(Duration::from_secs(600));

/// M1
#[test]
fn what_one_process_has_seen_opens_the_circuit_of_another_that_has_seen_nothing() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        a.fail_times(5);
        b.becomes(State::Open);
        let rejected = b.breaker.try_acquire().expect_err("it is open");
        assert!(rejected.retry_after().expect("it is known") > Duration::from_secs(590));
        assert_eq!(b.breaker.snapshot().calls.failure, 0);
        let expected = Reason::Threshold {
            failures: 5,
            threshold: 5,
        };
        b.eventually("it is told", || {
            b.count(|event| match event {
                Event::Transition(it) => {
                    (it.from, it.to, it.reason) == (State::Closed, State::Open, expected)
                }
                _ => false,
            }) == 1
        });
    });
}

/// M2
#[test]
fn failures_of_several_processes_count_together() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        a.fail_times(3);
        assert_eq!(a.breaker.state(), State::Closed);
        b.fail_times(2);
        both_become(&a, &b, State::Open);
    });
}

/// M8
#[test]
fn what_is_forced_in_one_process_is_forced_in_all_and_ends_for_all() {
    on_each_at_once(|backing| {
        let [a, b] = backing.processes(POLICY);
        let ttl = Duration::from_secs(2);
        let forced = a.breaker.force_open(ttl, "ana", "the provider migrates");
        assert!(forced.expect("it has all it needs").is_shared());
        b.becomes(State::ForcedOpen);
        let rejected = b.breaker.try_acquire().expect_err("it is forced");
        assert_eq!(rejected.kind(), RejectedKind::ForcedOpen);
        let by = b.breaker.snapshot().forced.expect("it is forced").by;
        assert_eq!(&*by.actor, "ana");
        assert_eq!(&*by.reason, "the provider migrates");
        both_become(&a, &b, State::Closed);
        // They share it as before.
        a.fail();
        a.fail();
        b.fail_times(3);
        both_become(&a, &b, State::Open);
    });
}

/// M8: the opening beneath is as long as it was, and nobody probes meanwhile.
#[test]
fn an_opening_beneath_what_is_forced_goes_on_afterwards() {
    on_each_at_once(|backing| {
        let [a, b] = backing.processes(POLICY);
        a.fail_times(5);
        b.becomes(State::Open);
        let ttl = Duration::from_secs(1);
        b.breaker
            .force_open(ttl, "ana", "a test")
            .expect("it has all it needs");
        a.becomes(State::ForcedOpen);
        for process in [&a, &b] {
            process.becomes(State::Open);
            let left = process.breaker.snapshot().retry_after;
            assert!(left.is_some_and(|left| left > Duration::from_secs(500)));
            assert_eq!(process.breaker.snapshot().trips, 1);
        }
    });
}

#[test]
fn what_is_forced_for_as_long_as_a_value_lives_ends_with_it_for_all() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        let ttl = Duration::from_secs(600);
        let forced = a.breaker.force_closed(ttl, "ana", "a test");
        let guard = forced.expect("it has all it needs").guard();
        b.becomes(State::ForcedClosed);
        b.fail_times(9);
        drop(guard);
        both_become(&a, &b, State::Closed);
        // One that another has replaced ends nothing when its value goes.
        let forced = a.breaker.force_open(ttl, "ana", "a test");
        let guard = forced.expect("it has all it needs").guard();
        b.becomes(State::ForcedOpen);
        let later = b.breaker.force_closed(ttl, "bob", "a test");
        later.expect("it has all it needs");
        a.becomes(State::ForcedClosed);
        drop(guard);
        b.breaker.clear_override();
        a.becomes(State::Closed);
        b.eventually("it is told", || {
            b.moves(State::ForcedClosed, State::Closed) == 2
        });
    });
}

/// M17
#[test]
fn a_rejection_in_another_process_says_why_and_for_how_long() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        a.fail_times(5);
        b.becomes(State::Open);
        let rejected = b.breaker.try_acquire().expect_err("it is open");
        assert_eq!(rejected.service(), "shared");
        assert_eq!(rejected.kind(), RejectedKind::Open);
        assert!(rejected.retry_after() > Some(Duration::from_secs(500)));
        let expected = Reason::Threshold {
            failures: 5,
            threshold: 5,
        };
        assert_eq!(rejected.reason(), Some(expected));
        assert_eq!(b.breaker.snapshot().reason, Some(expected));
    });
}

/// M21
#[test]
fn two_versions_with_other_numbers_share_a_circuit() {
    on_each(|backing| {
        let early: Process = backing.start(POLICY.threshold(3));
        let late: Process = backing.start(POLICY.threshold(5));
        early.fail_times(3);
        both_become(&early, &late, State::Open);
        late.breaker.reset();
        early.becomes(State::Closed);
        // What it hears of its own reset is one more.
        thread::sleep(Duration::from_millis(300));
        late.fail_times(5);
        both_become(&early, &late, State::Open);
    });
}
