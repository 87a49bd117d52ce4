//! All processes together probe no more than one may.

use std::time::Duration;

use breakerbox::Policy;
use breakerbox::RejectedKind;
use breakerbox::State;
use tokio::runtime::Runtime;

use super::fleet::Process;
use super::fleet::on_each;

const POLICY: Policy = Policy::new()
    .threshold(1)
    .cooldown(Duration::from_millis(100))
    .probe_wait(Duration::from_secs(10));

fn open(a: &Process, b: &Process) {
    a.fail();
    a.cools_down();
    b.cools_down();
}

fn block_on<F: Future>(future: F) -> F::Output {
    Runtime::new().expect("a runtime").block_on(future)
}

/// M3
#[test]
fn two_probes_are_two_of_all_processes() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY.probes(2));
        open(&a, &b);
        block_on(async {
            let first = a.breaker.acquire().await.expect("the first probe");
            let second = b.breaker.acquire().await.expect("the second probe");
            let third = b.breaker.acquire().await.expect_err("no third");
            assert_eq!(third.kind(), RejectedKind::ProbesBusy);
            first.success();
            second.success();
        });
        a.becomes(State::Closed);
        b.becomes(State::Closed);
    });
}

/// M7
#[test]
fn a_probe_that_is_dropped_gives_its_place_to_another_process() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        open(&a, &b);
        block_on(async {
            let first = a.breaker.acquire().await.expect("the probe");
            assert!(b.breaker.acquire().await.is_err());
            drop(first);
            let mut permit = b.breaker.acquire().await;
            // Who was refused asks again soon, but not at once.
            while permit.is_err() {
                tokio::time::sleep(Duration::from_millis(1)).await;
                permit = b.breaker.acquire().await;
            }
            permit.expect("the place").success();
        });
        a.becomes(State::Closed);
        b.becomes(State::Closed);
    });
}

#[test]
fn a_failed_probe_opens_the_circuit_of_all_again() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY.backoff(1000.0));
        open(&a, &b);
        block_on(async {
            a.breaker.acquire().await.expect("the probe").failure();
        });
        a.eventually("it opens again", || a.breaker.snapshot().trips == 2);
        b.eventually("it opens again", || b.breaker.snapshot().trips == 2);
        assert_eq!(b.breaker.state(), State::Open);
    });
}
