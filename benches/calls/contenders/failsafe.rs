//! failsafe: failures in a row, and an average of the success rate over time.
//!
//! Its window knows no slow calls, and nothing of it counts calls for anybody else.

use std::hint::black_box;
use std::time::Duration;

use failsafe::Config;
use failsafe::FailurePolicy;
use failsafe::StateMachine;
use failsafe::backoff;
use failsafe::failure_policy::consecutive_failures;
use failsafe::failure_policy::success_rate_over_time_window;
use failsafe::futures::CircuitBreaker;

use crate::harness::Build;
use crate::harness::work::Work;
use crate::harness::work::now;
use crate::work::Failed;
use crate::work::fails;
use crate::work::fails_1pct;
use crate::work::plain;
use crate::work::polled;
use crate::work::succeeds;

pub(super) const CASES: &[(&str, Build)] = &[
    ("closed_consecutive", consecutive),
    ("closed_window", || window(0)),
    ("closed_window_1pct", window_1pct),
    ("permit_consecutive", permit),
    ("rejected", rejected),
    ("rejected_permit", rejected_permit),
    ("two_threads_consecutive", consecutive),
    ("two_threads_window", || window(0)),
    ("window_100", || window(100)),
    ("window_1000", || window(1_000)),
    ("window_10000", || window(10_000)),
];

const COOLDOWN: Duration = Duration::from_secs(3600);

fn in_a_row(failures: u32) -> StateMachine<impl FailurePolicy + Send + Sync, ()> {
    let policy = consecutive_failures(failures, backoff::constant(COOLDOWN));
    Config::new().failure_policy(policy).build()
}

fn over_time() -> StateMachine<impl FailurePolicy + Send + Sync, ()> {
    let waits = backoff::constant(COOLDOWN);
    let policy = success_rate_over_time_window(0.5, 20, Duration::from_secs(10), waits);
    Config::new().failure_policy(policy).build()
}

fn opened() -> StateMachine<impl FailurePolicy + Send + Sync, ()> {
    let breaker = in_a_row(1);
    now(breaker.call(fails(0))).expect_err("it fails and opens the circuit");
    breaker
}

fn consecutive() -> Box<dyn Work> {
    let breaker = in_a_row(5);
    polled(move |x| breaker.call(succeeds(x)))
}

/// It keeps an average instead of the calls: what the window holds changes nothing.
fn window(holds: u64) -> Box<dyn Work> {
    let breaker = over_time();
    let work = polled(move |x| breaker.call(succeeds(x)));
    work.run(holds);
    work
}

fn window_1pct() -> Box<dyn Work> {
    let breaker = over_time();
    polled(move |x| breaker.call(fails_1pct(x)))
}

fn permit() -> Box<dyn Work> {
    let breaker = in_a_row(5);
    plain(move |x| {
        if !breaker.is_call_permitted() {
            return Err(Failed);
        }
        let _ = black_box(now(succeeds(x)));
        breaker.on_success();
        Ok(())
    })
}

fn rejected() -> Box<dyn Work> {
    let breaker = opened();
    polled(move |x| breaker.call(succeeds(x)))
}

fn rejected_permit() -> Box<dyn Work> {
    let breaker = opened();
    plain(move |_| breaker.is_call_permitted().then_some(()).ok_or(Failed))
}
