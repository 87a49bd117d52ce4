//! Calls that are dropped or panic, anywhere: a place always comes back.

mod panics;
mod threads;

use std::mem;
use std::panic;
use std::pin::Pin;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use breakerbox::Breaker;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::State;
use breakerbox::circuit_breaker;
use breakerbox::with_registry;
use tokio::task::yield_now;

use super::Dice;
use super::ONE;
use super::half_open;
use super::recovers_at_once;
use crate::scenarios::drivers;
use crate::scenarios::drivers::CallError;
use crate::scenarios::drivers::poll_once;
use crate::scenarios::drivers::seconds;
use crate::scenarios::runner::scenarios;

scenarios! {
    /// B018: the default is that a dropped probe frees its place and says nothing.
    a_dropped_probe_does_not_leave_the_circuit_open_for_ever: ONE,
        "F +60s [a a]D =half-open +600s S =closed";
    /// B020
    a_panicking_probe_does_not_leave_its_place_taken: ONE, "F 20x(+60s P =open X60s) +60s S =closed";
    /// B021: at any number of others in flight.
    a_place_that_comes_back_is_one_place: ONE.probes(2),
        "F +60s 9x([a [b Xbusy a]D [c Xbusy b]I c]D) [d [e Xbusy d]S e]S =closed";
    /// A probe that ended cannot give its place back once more.
    every_way_of_ending_gives_exactly_one_place_back: ONE.probes(3).probe_concurrency(1),
        "F +60s D [a Xbusy a]I [b Xbusy b]S [c Xbusy c]D [d Xbusy d]N [e Xbusy e]S =closed";
}

type Answer<T = ()> = Result<T, CallError>;

/// Where a body is disturbed: at none of its steps, or when it has gone on `n` times.
const AWAITS: usize = 6;

#[circuit_breaker(service = "scenario")]
async fn stepwise(panics_at: Option<usize>, log: &mut Vec<usize>) -> Answer<usize> {
    for step in 0..AWAITS {
        log.push(step);
        if panics_at == Some(step) {
            panic::resume_unwind(Box::new(step));
        }
        yield_now().await;
    }
    Ok(log.len())
}

/// The ways in which a function can be guarded; each is disturbed in the same way.
fn ways<'a>(
    breaker: &'static Breaker,
    registry: &Registry,
    panics_at: Option<usize>,
    log: &'a mut Vec<usize>,
    way: usize,
) -> Pin<Box<dyn Future<Output = bool> + 'a>> {
    let registry = registry.clone();
    match way {
        0 => Box::pin(with_registry(registry, async move {
            stepwise(panics_at, log).await.is_ok()
        })),
        1 => Box::pin(async move {
            let body = async move {
                for step in 0..AWAITS {
                    if panics_at == Some(step) {
                        panic::resume_unwind(Box::new(step));
                    }
                    yield_now().await;
                }
                Ok::<_, CallError>(())
            };
            breaker.call(body).await.is_ok()
        }),
        // A guarded function inside a guarded block of another service.
        _ => Box::pin(with_registry(registry, async move {
            let outer = breakerbox::breaker("fault: outer").expect("it is declared");
            outer.call(stepwise(panics_at, log)).await.is_ok()
        })),
    }
}

fn with_outer(policy: Policy) -> (Registry, &'static Breaker) {
    let registry = Registry::builder()
        .declare_with(drivers::SERVICE, policy)
        .declare_with("fault: outer", Policy::new().threshold(1_000))
        .build()
        .unwrap();
    let breaker = drivers::breaker(&registry);
    (registry, breaker)
}

/// B018, B021
#[tokio::test(start_paused = true)]
async fn a_call_dropped_at_any_await_gives_its_place_back() {
    for way in 0..3 {
        for polls in 0..=AWAITS {
            let (registry, breaker) = with_outer(ONE);
            breaker.try_acquire().unwrap().failure();
            tokio::time::advance(seconds(60)).await;
            let mut log = Vec::new();
            let mut call = ways(breaker, &registry, None, &mut log, way);
            for _ in 0..polls {
                assert_eq!(poll_once(call.as_mut()), Poll::Pending);
            }
            // A future that was never polled has not even asked.
            assert_eq!(breaker.snapshot().in_flight, u64::from(polls > 0));
            drop(call);
            let calls = breaker.snapshot().calls;
            assert_eq!(
                calls.cancelled,
                u64::from(polls > 0),
                "way {way}, {polls} polls"
            );
            assert_eq!(calls.panicked, 0);
            recovers_at_once(breaker, 1).await;
        }
    }
}

#[circuit_breaker(service = "scenario")]
async fn hang() -> Answer {
    std::future::pending().await
}

#[circuit_breaker(service = "scenario")]
async fn answer() -> Answer {
    Ok(())
}

/// B018
#[tokio::test(start_paused = true)]
async fn a_probe_that_hangs_behind_a_timeout_does_not_wedge_the_circuit() {
    let (registry, breaker) = half_open(ONE).await;
    with_registry(registry, async {
        let late = tokio::time::timeout(Duration::from_millis(10), hang()).await;
        assert!(late.is_err());
        assert_eq!(breaker.state(), State::HalfOpen);
        tokio::time::advance(seconds(60)).await;
        answer().await.unwrap();
        assert_eq!(breaker.state(), State::Closed);
    })
    .await;
}

/// B021: tasks that are aborted wherever they happen to be.
#[tokio::test(start_paused = true)]
async fn aborted_tasks_leave_every_place_free() {
    let mut dice = Dice::new(21);
    let (registry, breaker) = half_open(ONE.probes(2)).await;
    let mut aborted = 0;
    for _ in 0..200 {
        let registry = registry.clone();
        let task = tokio::spawn(with_registry(registry, async {
            let mut log = Vec::new();
            loop {
                // Never a whole call: a success would close the circuit.
                let call = stepwise(None, &mut log);
                let mut call = pin!(call);
                for _ in 0..3 {
                    if let Poll::Ready(out) = poll_once(call.as_mut()) {
                        out.expect_err("three polls end no call");
                    }
                    yield_now().await;
                }
            }
        }));
        for _ in 0..dice.throw(9) {
            yield_now().await;
        }
        task.abort();
        aborted += u64::from(task.await.unwrap_err().is_cancelled());
        assert_eq!(breaker.snapshot().in_flight, 0);
        assert_eq!(breaker.state(), State::HalfOpen);
    }
    assert_eq!(aborted, 200);
    recovers_at_once(breaker, 2).await;
}

/// The branch of a `select!` that loses.
#[tokio::test(start_paused = true)]
async fn the_losing_branch_of_a_select_is_cancelled() {
    let (registry, breaker) = half_open(ONE.probes(2)).await;
    with_registry(registry, async {
        tokio::select! {
            biased;
            _ = hang() => unreachable!(),
            out = answer() => out.unwrap(),
        }
    })
    .await;
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.calls.success, snapshot.calls.cancelled), (1, 2));
    assert_eq!(snapshot.in_flight, 0);
    recovers_at_once(breaker, 1).await;
}

/// A future that nobody ever polls has asked for nothing.
#[tokio::test(start_paused = true)]
async fn a_future_that_is_dropped_unpolled_was_no_call() {
    let (registry, breaker) = half_open(ONE).await;
    let before = breaker.snapshot().calls;
    for _ in 0..100 {
        drop(with_registry(registry.clone(), answer()));
        drop(breaker.call(answer()));
        drop(breaker.acquire());
    }
    assert_eq!(breaker.snapshot().calls, before);
    assert_eq!(breaker.snapshot().in_flight, 0);
    recovers_at_once(breaker, 1).await;
}

/// A permit that is forgotten never ends. Its place is free after the timeout all the
/// same, and a round of which all are forgotten begins again.
#[tokio::test(start_paused = true)]
async fn forgotten_probes_do_not_wedge_the_circuit() {
    let registry = drivers::registry(ONE.probe_timeout(seconds(5)));
    let breaker = drivers::breaker(&registry);
    breaker.try_acquire().unwrap().failure();
    for _ in 0..20 {
        tokio::time::advance(seconds(60)).await;
        for _ in 0..2 {
            mem::forget(breaker.try_acquire().unwrap());
            breaker.try_acquire().unwrap_err();
            tokio::time::advance(seconds(5)).await;
        }
        breaker.try_acquire().unwrap_err();
        assert_eq!(breaker.state(), State::Open);
    }
    tokio::time::advance(seconds(60)).await;
    mem::forget(breaker.try_acquire().unwrap());
    tokio::time::advance(seconds(5)).await;
    breaker.try_acquire().unwrap().success();
    assert_eq!(breaker.state(), State::Closed);
}
