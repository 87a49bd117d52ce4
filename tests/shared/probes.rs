//! All processes together probe no more than one may.

use std::time::Duration;

use breakerbox::MemoryStore;
use breakerbox::Policy;
use breakerbox::RejectedKind;
use breakerbox::State;

use super::fleet::Process;
use super::fleet::processes;

const POLICY: Policy = Policy::new()
    .threshold(1)
    .cooldown(Duration::from_millis(100))
    .probe_wait(Duration::from_secs(10));

fn open(a: &Process, b: &Process) {
    a.fail();
    for process in [a, b] {
        process.becomes(State::Open);
        process.eventually("the cooldown is over", || {
            process.breaker.snapshot().retry_after == Some(Duration::ZERO)
        });
    }
}

/// M3
#[tokio::test]
async fn two_probes_are_two_of_all_processes() {
    let store = MemoryStore::new();
    let [a, b] = processes(&store, POLICY.probes(2));
    open(&a, &b);
    let first = a.breaker.acquire().await.expect("the first probe");
    let second = b.breaker.acquire().await.expect("the second probe");
    let third = b.breaker.acquire().await.expect_err("no third");
    assert_eq!(third.kind(), RejectedKind::ProbesBusy);
    first.success();
    second.success();
    a.becomes(State::Closed);
    b.becomes(State::Closed);
}

/// M7
#[tokio::test]
async fn a_probe_that_is_dropped_gives_its_place_to_another_process() {
    let store = MemoryStore::new();
    let [a, b] = processes(&store, POLICY);
    open(&a, &b);
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
    a.becomes(State::Closed);
    b.becomes(State::Closed);
}

#[tokio::test]
async fn a_failed_probe_opens_the_circuit_of_all_again() {
    let store = MemoryStore::new();
    let [a, b] = processes(&store, POLICY.backoff(1000.0));
    open(&a, &b);
    a.breaker.acquire().await.expect("the probe").failure();
    a.eventually("it opens again", || a.breaker.snapshot().trips == 2);
    b.eventually("it opens again", || b.breaker.snapshot().trips == 2);
    assert_eq!(b.breaker.state(), State::Open);
}
