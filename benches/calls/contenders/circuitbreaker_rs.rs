//! circuitbreaker-rs: failures in a row, or a rate over all calls since it last closed.
//!
//! Its time window cannot be measured: a breaker owns its policy and never tells it how a
//! call ended, so that the window of a `TimeBasedPolicy` stays empty.

use std::time::Duration;

use circuitbreaker_rs::BreakerBuilder;
use circuitbreaker_rs::CircuitBreaker;
use circuitbreaker_rs::DefaultPolicy;
use circuitbreaker_rs::MetricSink;
use metrics::Counter;
use metrics::counter;

use super::forever;
use crate::harness::Build;
use crate::harness::work::Work;
use crate::harness::work::now;
use crate::work::Failed;
use crate::work::fails;
use crate::work::polled;
use crate::work::succeeds;

pub(super) const CASES: &[(&str, Build)] = &[
    ("closed_consecutive", closed),
    ("rejected", rejected),
    ("two_threads_consecutive", closed),
    ("recorder", recorder),
];

type Breaker = CircuitBreaker<DefaultPolicy, Failed>;

/// The rate is out of reach, so that only failures in a row open it.
fn in_a_row(failures: u64) -> BreakerBuilder<DefaultPolicy, Failed> {
    Breaker::builder()
        .failure_threshold(2.0)
        .consecutive_failures(failures)
        .cooldown(Duration::from_secs(3600))
}

fn closed() -> Box<dyn Work> {
    calls(forever(in_a_row(5).build()))
}

fn rejected() -> Box<dyn Work> {
    let breaker = forever(in_a_row(1).build());
    now(breaker.call_async(|| fails(0))).expect_err("it fails and opens the circuit");
    calls(breaker)
}

/// It publishes what its user's sink does; this one holds on to its counters.
fn recorder() -> Box<dyn Work> {
    let sink = Sink {
        success: counter!("calls_total", "outcome" => "success"),
        failure: counter!("calls_total", "outcome" => "failure"),
    };
    calls(forever(in_a_row(5).metric_sink(sink).build()))
}

fn calls(breaker: &'static Breaker) -> Box<dyn Work> {
    polled(move |x| breaker.call_async(move || succeeds(x)))
}

struct Sink {
    success: Counter,
    failure: Counter,
}

impl MetricSink for Sink {
    fn record_state_transition(&self, _: &str, _: &str) {}

    fn record_error_rate(&self, _: f64) {}

    fn record_probe_attempt(&self, _: bool) {}

    fn record_call(&self, success: bool, _: Duration) {
        let counter = if success {
            &self.success
        } else {
            &self.failure
        };
        counter.increment(1);
    }
}
