//! nobreak: failures in a row, behind a mutex.

use std::time::Duration;

use nobreak::CircuitBreaker;

use super::forever;
use crate::harness::Build;
use crate::harness::work::Work;
use crate::harness::work::now;
use crate::work::fails;
use crate::work::polled;
use crate::work::succeeds;

pub(super) const CASES: &[(&str, Build)] = &[
    ("closed_consecutive", closed),
    ("rejected", rejected),
    ("two_threads_consecutive", closed),
];

fn in_a_row(failures: usize) -> &'static CircuitBreaker {
    let breaker = nobreak::builder()
        .with_failure_threshold(failures)
        .with_open_duration(Duration::from_secs(3600));
    forever(breaker.build())
}

fn closed() -> Box<dyn Work> {
    let breaker = in_a_row(5);
    polled(move |x| breaker.call_async(move || succeeds(x)))
}

fn rejected() -> Box<dyn Work> {
    let breaker = in_a_row(1);
    now(breaker.call_async(|| fails(0))).expect_err("it fails and opens the circuit");
    polled(move |x| breaker.call_async(move || succeeds(x)))
}
