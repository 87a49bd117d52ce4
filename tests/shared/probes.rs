//! All processes together probe no more than one may.

use std::panic;
use std::pin::pin;
use std::task::Context;
use std::task::Waker;
use std::thread;
use std::time::Duration;

use breakerbox::Policy;
use breakerbox::RejectedKind;
use breakerbox::State;
use breakerbox_servers::Direction;
use breakerbox_servers::Proxy;
use breakerbox_servers::Server;

use super::calm::calmly_panicking;
use super::fleet::Process;
use super::fleet::block_on;
use super::fleet::both_become;
use super::fleet::on_each;
use super::fleet::on_each_at_once;

const POLICY: Policy = Policy::new()
    .threshold(1)
    .cooldown(Duration::from_millis(100))
    .probe_wait(Duration::from_secs(10));

fn open(a: &Process, b: &Process) {
    a.fail();
    a.cools_down();
    b.cools_down();
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
        both_become(&a, &b, State::Closed);
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
        both_become(&a, &b, State::Closed);
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

/// A lease lasts two seconds.
#[test]
fn a_probe_that_outlives_its_lease_keeps_its_place() {
    on_each_at_once(|backing| {
        let [a, b] = backing.processes(POLICY);
        open(&a, &b);
        let probe = a.enter();
        for _ in 0..5 {
            thread::sleep(Duration::from_millis(900));
            let rejected = block_on(b.breaker.acquire()).expect_err("no second one");
            assert_eq!(rejected.kind(), RejectedKind::ProbesBusy);
        }
        probe.success();
        both_become(&a, &b, State::Closed);
    });
}

/// L25
#[test]
fn leave_that_comes_after_its_caller_is_gone_is_given_back_at_once() {
    calmly_panicking(|| {
        let server = Server::start().expect("a server: run ./tests/run");
        let proxy = Proxy::start(server.address()).expect("a proxy");
        let a = Process::start(POLICY, |it| it.redis(proxy.url()));
        let b = Process::start(POLICY, |it| it.redis(server.url()));
        open(&a, &b);
        proxy.delay(Direction::Down, Duration::from_millis(150));
        {
            let mut asks = pin!(a.breaker.acquire());
            let mut context = Context::from_waker(Waker::noop());
            assert!(asks.as_mut().poll(&mut context).is_pending());
            let leases = || server.order(&["HGET", "breakerbox:{shared}", "leases"]);
            a.eventually("leave is given", || !leases().text().is_empty());
            // The answer is still on its way.
            assert!(asks.as_mut().poll(&mut context).is_pending());
        }
        // Nobody else asks for anything, so nobody notices that a lease has expired.
        let leases = || server.order(&["HGET", "breakerbox:{shared}", "leases"]);
        a.eventually("it is given back", || leases().text().is_empty());
        b.enter().success();
        a.becomes(State::Closed);
    });
}

/// They rang once, and leave was asked for once: the others waited in vain.
#[test]
fn calls_that_come_at_once_get_as_many_places_as_there_are() {
    on_each(|backing| {
        // Less than until a lease is renewed, which also looked who waits.
        let wait = Duration::from_millis(500);
        let [a, b] = backing.processes(POLICY.probes(5).probe_wait(wait));
        open(&a, &b);
        let asks = || a.breaker.acquire();
        let permits = block_on(async { tokio::join!(asks(), asks(), asks(), asks(), asks()) });
        for permit in <[_; 5]>::from(permits) {
            permit.expect("there is a place").success();
        }
        both_become(&a, &b, State::Closed);
    });
}

/// Who asks without waiting is given leave for the next time. Where the next call waits, it was
/// refused because of the leave that its own process kept, and so was everybody else.
#[test]
fn leave_that_was_kept_for_who_does_not_wait_is_for_who_waits_too() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        open(&a, &b);
        a.breaker.try_acquire().expect_err("it does not wait");
        b.becomes(State::HalfOpen);
        let permit = block_on(a.breaker.acquire());
        permit.expect("leave that was given").success();
        both_become(&a, &b, State::Closed);
    });
}

/// A call that has waited and then is gone gives back what it may have been given.
#[test]
fn many_callers_who_are_gone_before_they_are_answered_leave_nothing_behind() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        open(&a, &b);
        for _ in 0..200 {
            let mut asks = pin!(a.breaker.acquire());
            let _ = asks.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        }
        b.enter().success();
        a.becomes(State::Closed);
        assert_eq!(a.breaker.snapshot().in_flight, 0);
    });
}

/// M18, J16
#[test]
fn a_call_that_takes_long_in_one_process_holds_up_none_of_another() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        let slow = a.enter();
        for _ in 0..100 {
            b.succeed();
        }
        slow.success();
        assert_eq!(b.breaker.snapshot().calls.success, 100);
    });
}

/// B020, J9
#[test]
fn a_probe_that_panics_opens_the_circuit_of_all_again_and_can_be_probed_again() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        open(&a, &b);
        for trips in 2..5 {
            let body = || -> Result<(), ()> { panic::resume_unwind(Box::new("it panics")) };
            let panicked = panic::catch_unwind(|| a.breaker.call_blocking(body));
            let payload = panicked.expect_err("the panic goes on");
            assert_eq!(payload.downcast_ref(), Some(&"it panics"));
            b.eventually("it opens again", || b.breaker.snapshot().trips == trips);
            a.cools_down();
            b.cools_down();
        }
        b.enter().success();
        both_become(&a, &b, State::Closed);
    });
}

/// B010: five rounds, each with one probe.
#[test]
fn each_cooldown_is_followed_by_one_probe_of_all() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        open(&a, &b);
        for round in 0..5 {
            let (first, second) = if round % 2 == 0 { (&a, &b) } else { (&b, &a) };
            let probe = first.enter();
            let rejected = block_on(second.breaker.acquire()).expect_err("no second one");
            assert_eq!(rejected.kind(), RejectedKind::ProbesBusy);
            probe.failure();
            for process in [first, second] {
                process.eventually("it opens again", || {
                    process.breaker.snapshot().trips == round + 2
                });
                process.cools_down();
            }
        }
        a.enter().success();
        b.becomes(State::Closed);
    });
}

/// J7: of a hundred threads in two processes, three get in.
#[test]
fn a_hundred_threads_that_race_for_three_places_get_three() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY.probes(3));
        open(&a, &b);
        let permits: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..100)
                .map(|at| {
                    let process = if at % 2 == 0 { &a } else { &b };
                    scope.spawn(|| {
                        let asks = || block_on(process.breaker.acquire()).ok();
                        (0..3).find_map(|_| asks())
                    })
                })
                .collect();
            let permits = threads.into_iter().map(|it| it.join().expect("no panic"));
            permits.flatten().collect()
        });
        assert!((1..=3).contains(&permits.len()), "{} got in", permits.len());
        let more = 3 - permits.len();
        let rest: Vec<_> = (0..more).map(|_| a.enter()).collect();
        for process in [&a, &b] {
            assert!(block_on(process.breaker.acquire()).is_err());
        }
        for permit in permits.into_iter().chain(rest) {
            permit.success();
        }
        both_become(&a, &b, State::Closed);
    });
}
