//! tower-resilience-circuitbreaker: a tower service with failures in a row, a count of
//! calls, or the calls of some time, and slow calls beside them.
//!
//! It boxes the future of every call itself; its body is not boxed here. Its feature
//! `metrics` changes every row of a build and is left out, so it has no row `recorder`.

use std::hint::black_box;
use std::task::Context;
use std::task::Waker;
use std::time::Duration;

use tower::Service;
use tower::service_fn;
use tower_resilience_circuitbreaker::CircuitBreakerConfigBuilder;
use tower_resilience_circuitbreaker::CircuitBreakerLayer;
use tower_resilience_circuitbreaker::DefaultClassifier;
use tower_resilience_circuitbreaker::SlidingWindowType;

use crate::harness::Build;
use crate::harness::work::Work;
use crate::harness::work::now;
use crate::work::fails;
use crate::work::fails_1pct;
use crate::work::succeeds;

pub(super) const CASES: &[(&str, Build)] = &[
    ("closed_consecutive", consecutive),
    // Its cost grows with the calls it holds; a hundred are few.
    ("closed_window", || window(100)),
    ("closed_window_1pct", window_1pct),
    ("closed_count_window", count),
    ("rejected", rejected),
    ("two_threads_consecutive", consecutive),
    ("two_threads_window", short_window),
    ("window_100", || window(100)),
    ("window_1000", || window(1_000)),
    ("window_10000", || window(10_000)),
];

type Config = CircuitBreakerConfigBuilder<DefaultClassifier>;

fn config() -> Config {
    CircuitBreakerLayer::builder()
        .failure_rate_threshold(0.5)
        .minimum_number_of_calls(20)
        .wait_duration_in_open(Duration::from_secs(3600))
}

fn of_time(window: Duration) -> Config {
    config()
        .sliding_window_type(SlidingWindowType::TimeBased)
        .sliding_window_duration(window)
        .slow_call_duration_threshold(Duration::from_secs(1))
        .slow_call_rate_threshold(0.5)
}

fn guarded<B: Service<u64>>(
    config: Config,
    body: B,
) -> tower_resilience_circuitbreaker::CircuitBreaker<B, DefaultClassifier> {
    let layer = config.build().expect("the numbers are good");
    layer.layer_fn(body)
}

fn consecutive() -> Box<dyn Work> {
    let config = config().consecutive_failures(5);
    Box::new(Calls(guarded(config, service_fn(succeeds))))
}

fn count() -> Box<dyn Work> {
    let config = config().sliding_window_size(100);
    Box::new(Calls(guarded(config, service_fn(succeeds))))
}

fn rejected() -> Box<dyn Work> {
    let calls = Calls(guarded(config().consecutive_failures(1), service_fn(fails)));
    calls.run(1);
    Box::new(calls)
}

/// So short that two threads keep some hundred calls in it, as none can be prepared
/// between the calls of two.
fn short_window() -> Box<dyn Work> {
    let config = of_time(Duration::from_micros(100));
    Box::new(Calls(guarded(config, service_fn(succeeds))))
}

fn window(holds: u64) -> Box<dyn Work> {
    let make = || {
        Calls(guarded(
            of_time(Duration::from_secs(10)),
            service_fn(succeeds),
        ))
    };
    Box::new(Holding::new(holds, make))
}

fn window_1pct() -> Box<dyn Work> {
    let make = || {
        Calls(guarded(
            of_time(Duration::from_secs(10)),
            service_fn(fails_1pct),
        ))
    };
    Box::new(Holding::new(100, make))
}

/// Calls of a service, which like any user of one takes a clone of it.
struct Calls<S>(S);

impl<S: Service<u64> + Clone + Send + Sync> Work for Calls<S> {
    fn run(&self, calls: u64) -> bool {
        let mut service = self.0.clone();
        let mut context = Context::from_waker(Waker::noop());
        let mut is_ok = false;
        for x in 0..calls {
            if service.poll_ready(&mut context).is_ready() {
                is_ok = black_box(now(service.call(black_box(x)))).is_ok();
            }
        }
        is_ok
    }
}

/// Calls of a time window that holds so many, and is made anew before it holds a tenth more.
struct Holding<S, M> {
    calls: Calls<S>,
    holds: u64,
    make: M,
}

impl<S: Service<u64> + Clone + Send + Sync, M: Fn() -> Calls<S> + Send + Sync> Holding<S, M> {
    fn new(holds: u64, make: M) -> Self {
        let calls = make();
        let mut new = Self { calls, holds, make };
        new.prepare();
        new
    }
}

impl<S, M> Work for Holding<S, M>
where
    S: Service<u64> + Clone + Send + Sync,
    M: Fn() -> Calls<S> + Send + Sync,
{
    fn run(&self, calls: u64) -> bool {
        self.calls.run(calls)
    }

    fn most(&self) -> u64 {
        self.holds / 10
    }

    fn prepare(&mut self) {
        self.calls = (self.make)();
        self.calls.run(self.holds);
    }
}
