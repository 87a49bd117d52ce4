//! The breakers that are asked, set up alike: five failures in a row or their like open
//! them, and half-open admits one probe, whose success closes, wherever that can be set.

use std::sync::Arc;

use breakerbox::Clock;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::Window;
use circuitbreaker_rs::BreakerBuilder;
use circuitbreaker_rs::DefaultPolicy;
use failsafe::backoff;
use failsafe::failure_policy;
use failsafe::futures::CircuitBreaker as _;
use recloser::AsyncRecloser;
use recloser::Recloser;
use tower::ServiceExt;
use tower::service_fn;
use tower_resilience_circuitbreaker::CircuitBreakerConfigBuilder;
use tower_resilience_circuitbreaker::CircuitBreakerLayer;
use tower_resilience_circuitbreaker::DefaultClassifier;

use crate::body::Body;
use crate::body::Failed;
use crate::call::Breaker;
use crate::questions::COOLDOWN;

/// One that is asked.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) breaker: fn() -> Breaker,
    /// One that opens when half of 100 calls failed, where there is one.
    pub(crate) by_rate: Option<fn() -> Breaker>,
}

pub(crate) const ALL: &[Contender] = &[
    Contender {
        name: "breakerbox",
        breaker: || ours(Policy::new().threshold(5)),
        by_rate: Some(|| ours(Policy::new().window(Window::Calls(100)).failure_rate(0.5))),
    },
    Contender {
        name: "failsafe",
        breaker: failsafe,
        by_rate: None,
    },
    Contender {
        name: "recloser",
        breaker: || recloser(10),
        by_rate: Some(|| recloser(100)),
    },
    Contender {
        name: "tower-resilience-circuitbreaker",
        breaker: || tower_resilience(CircuitBreakerLayer::builder().consecutive_failures(5)),
        by_rate: Some(|| tower_resilience(CircuitBreakerLayer::builder().sliding_window_size(100))),
    },
    // It has no window: its rate is over all calls since it last closed.
    Contender {
        name: "circuitbreaker-rs",
        breaker: || circuitbreaker_rs(BreakerBuilder::new()),
        by_rate: Some(|| {
            let builder = BreakerBuilder::new().min_throughput(100);
            circuitbreaker_rs(builder.consecutive_failures(u64::MAX))
        }),
    },
    Contender {
        name: "nobreak",
        breaker: nobreak,
        by_rate: None,
    },
];

fn ours(policy: Policy) -> Breaker {
    let registry = Registry::builder()
        .clock(Clock::system())
        .declare_with("service", policy.cooldown(COOLDOWN));
    let registry = registry.build().expect("the numbers are good");
    let breaker = registry.breaker("service").expect("declared");
    Box::new(move |body| {
        Box::pin(async move {
            let _ = breaker.call(body).await;
        })
    })
}

/// It cannot be told how many probes to admit.
fn failsafe() -> Breaker {
    let policy = failure_policy::consecutive_failures(5, backoff::constant(COOLDOWN));
    let breaker = failsafe::Config::new().failure_policy(policy).build();
    Box::new(move |body| {
        let call = breaker.call(body);
        Box::pin(async move {
            let _ = call.await;
        })
    })
}

/// Half-open it judges a ring of probes, the shortest of one, and admits all that come.
fn recloser(last: usize) -> Breaker {
    let breaker = Recloser::custom()
        .closed_len(last)
        .error_rate(0.5)
        .half_open_len(1)
        .open_wait(COOLDOWN);
    let breaker = AsyncRecloser::from(breaker.build());
    Box::new(move |body| {
        let call = breaker.call(body);
        Box::pin(async move {
            let _ = call.await;
        })
    })
}

fn tower_resilience(config: CircuitBreakerConfigBuilder<DefaultClassifier>) -> Breaker {
    let config = config
        .wait_duration_in_open(COOLDOWN)
        .permitted_calls_in_half_open(1);
    let layer = config.build().expect("the numbers are good");
    let service = layer.layer_fn(service_fn(|body: Body| body));
    Box::new(move |body| {
        let call = service.clone().oneshot(body);
        Box::pin(async move {
            let _ = call.await;
        })
    })
}

fn circuitbreaker_rs(builder: BreakerBuilder<DefaultPolicy, Failed>) -> Breaker {
    let breaker = builder
        .cooldown(COOLDOWN)
        .probe_interval(1)
        .consecutive_successes(1)
        .build();
    Box::new(move |body| {
        let breaker = breaker.clone();
        Box::pin(async move {
            let _ = breaker.call_async(|| body).await;
        })
    })
}

/// It cannot be told how many probes to admit.
fn nobreak() -> Breaker {
    let breaker = nobreak::builder()
        .with_failure_threshold(5)
        .with_success_threshold(1)
        .with_open_duration(COOLDOWN);
    let breaker = Arc::new(breaker.build());
    Box::new(move |body| {
        let breaker = Arc::clone(&breaker);
        Box::pin(async move {
            let _ = breaker.call_async(|| body).await;
        })
    })
}
