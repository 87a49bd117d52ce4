//! Failures count together, and what one has seen protects all.

use std::time::Duration;

use breakerbox::Event;
use breakerbox::Policy;
use breakerbox::Reason;
use breakerbox::State;

use super::fleet::on_each;

const POLICY: Policy = Policy::new()
    .threshold(5)
    .cooldown(Duration::from_secs(600));

/// M1
#[test]
fn what_one_process_has_seen_opens_the_circuit_of_another_that_has_seen_nothing() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        for _ in 0..5 {
            a.fail();
        }
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
        for _ in 0..3 {
            a.fail();
        }
        assert_eq!(a.breaker.state(), State::Closed);
        for _ in 0..2 {
            b.fail();
        }
        a.becomes(State::Open);
        b.becomes(State::Open);
    });
}
