//! Clocks that differ, durations that overflow, timers that nobody runs.

use std::time::Duration;

use breakerbox::OnCancel;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::State;
use breakerbox::Verdict;
use breakerbox::circuit_breaker;
use breakerbox::with_registry;

use super::ONE;
use super::recovers;
use crate::scenarios::drivers;
use crate::scenarios::drivers::CallError;
use crate::scenarios::drivers::poll_once;
use crate::scenarios::drivers::seconds;
use crate::scenarios::notation::Ending;
use crate::scenarios::runner::scenarios;

const LONGEST: Policy = ONE
    .cooldown(Duration::MAX)
    .probe_timeout(Duration::MAX)
    .max_open_for(Duration::MAX)
    .on_cancel(OnCancel::After(Duration::MAX));

scenarios! {
    /// B066
    the_longest_of_all_durations_overflow_nothing: LONGEST, "+10d F look X +10000d X look =open";
    /// B066
    a_ban_until_the_end_of_time_overflows_nothing: ONE.max_open_for(Duration::MAX),
        "+10d Omax look X +10000d X =open";
    /// B066
    a_rest_until_the_end_of_time_overflows_nothing: ONE.max_open_for(Duration::MAX),
        "+10d Rmax look X +10000d X =open";
    /// B066
    a_probe_may_take_until_the_end_of_time: LONGEST.cooldown(seconds(1)),
        "F +1s [a +10000d Xbusy =half-open a]D S =closed";
    /// B066
    a_call_dropped_before_the_end_of_time_is_neutral: LONGEST, "[a +10000d a]D =closed cancelled:1";
    /// The shortest one is a whole tick.
    an_opening_of_one_tick_is_over_after_it: ONE.cooldown(Duration::from_nanos(1)),
        "F X1ns +1ns S =closed";
    /// A ban of no time at all still moves the circuit.
    a_ban_of_no_time_asks_for_a_probe_at_once: ONE, "O0s =open left:0s S =closed moves:3";
    /// B073: without a growing cooldown there is none.
    a_hundred_reopenings_leave_the_cooldown_as_it_was: ONE,
        "F 100x(X60s +60s F) X60s +60s S =closed F X60s moves:204";
    /// Long idle time is nothing to go through.
    ten_idle_years_change_nothing: Policy::new(), "4xF +3650d count:4 F =open +3650d =open S =closed";
}

#[circuit_breaker(service = "scenario")]
async fn call(is_up: bool) -> Result<(), CallError> {
    if is_up {
        Ok(())
    } else {
        Err(CallError::Ended(Ending::Failure))
    }
}

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().build().unwrap()
}

/// B070
#[test]
fn a_circuit_opened_in_one_runtime_is_probed_in_another() {
    let registry = drivers::registry(ONE.cooldown(Duration::from_millis(5)));
    let breaker = drivers::breaker(&registry);
    let first = runtime();
    first
        .block_on(with_registry(registry.clone(), call(false)))
        .unwrap_err();
    assert_eq!(breaker.state(), State::Open);
    drop(first);
    let second = runtime();
    second.block_on(with_registry(registry, async {
        while call(true).await.is_err() {
            std::hint::spin_loop();
        }
    }));
    assert_eq!(breaker.state(), State::Closed);
}

/// B071: no timer has to fire, and no other task has to run.
#[test]
fn a_caller_that_never_yields_leaves_the_opening_behind() {
    let registry = drivers::registry(ONE.cooldown(Duration::from_millis(5)));
    let breaker = drivers::breaker(&registry);
    runtime().block_on(with_registry(registry, async {
        call(false).await.unwrap_err();
        let mut rejections = 0_u64;
        loop {
            // Polled by hand: nothing is ever handed to the runtime.
            match poll_once(Box::pin(call(true)).as_mut()) {
                std::task::Poll::Ready(Ok(())) => break,
                std::task::Poll::Ready(Err(_)) => rejections += 1,
                std::task::Poll::Pending => panic!("a rejection waits for nothing"),
            }
        }
        assert_eq!(breaker.snapshot().calls.rejected, rejections);
    }));
    assert_eq!(breaker.state(), State::Closed);
}

/// B071: nor is there a runtime at all.
#[test]
fn a_circuit_recovers_where_no_runtime_is() {
    let registry = drivers::registry(ONE.cooldown(Duration::from_millis(5)));
    let breaker = drivers::breaker(&registry);
    breaker.try_acquire().unwrap().failure();
    recovers(breaker);
}

/// A paused clock stands still for the circuit, however long the test takes.
#[tokio::test(start_paused = true)]
async fn under_a_paused_clock_an_opening_lasts_until_time_is_told_to_pass() {
    let registry = drivers::registry(ONE.cooldown(Duration::from_nanos(1)));
    let breaker = drivers::breaker(&registry);
    breaker.try_acquire().unwrap().failure();
    for _ in 0..10_000 {
        breaker.try_acquire().unwrap_err();
    }
    tokio::time::sleep(Duration::from_millis(1)).await;
    breaker.try_acquire().unwrap().success();
    assert_eq!(breaker.state(), State::Closed);
}

/// A registry is often made where no runtime is yet.
#[test]
fn a_registry_made_before_the_runtime_follows_its_paused_clock() {
    let registry = drivers::registry(ONE);
    let breaker = drivers::breaker(&registry);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        breaker.try_acquire().unwrap().failure();
        tokio::time::advance(seconds(60) - Duration::from_nanos(1)).await;
        breaker.try_acquire().unwrap_err();
        tokio::time::advance(Duration::from_nanos(1)).await;
        breaker.try_acquire().unwrap().success();
    });
    assert_eq!(breaker.state(), State::Closed);
}

/// B065: no instant is taken from outside; a clock that is behind makes nothing
/// underflow.
#[test]
fn a_clock_that_is_behind_underflows_nothing() {
    let ahead = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let registry = Registry::builder()
        .declare_with(drivers::SERVICE, ONE.on_cancel(OnCancel::After(seconds(1))))
        .build()
        .unwrap();
    let breaker = drivers::breaker(&registry);
    let held = ahead.block_on(async {
        tokio::time::advance(seconds(1_000)).await;
        let held = breaker.try_acquire().unwrap();
        breaker.try_acquire().unwrap().record(Verdict::Failure);
        held
    });
    // Out here it is a thousand seconds earlier.
    drop(held);
    let rejected = breaker.try_acquire().unwrap_err();
    assert!(rejected.retry_after().unwrap() > seconds(900));
    let _ = breaker.snapshot();
    assert_eq!(breaker.state(), State::Open);
}
