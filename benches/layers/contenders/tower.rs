//! tower: the layers it has itself, and for a breaker and a fallback those of
//! tower-resilience.

use std::future::poll_fn;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use tokio::time::Sleep;
use tower::BoxError;
use tower::Layer;
use tower::Service;
use tower::ServiceBuilder;
use tower::limit::ConcurrencyLimitLayer;
use tower::limit::RateLimitLayer;
use tower::retry::Policy;
use tower::retry::RetryLayer;
use tower::service_fn;
use tower::timeout::TimeoutLayer;
use tower_resilience_circuitbreaker::CircuitBreakerError;
use tower_resilience_fallback::FallbackLayer;

use super::service::called;
use super::tower_resilience::breaker;
use crate::body::FALLS_BACK;
use crate::body::Failed;
use crate::body::Order;
use crate::body::SUCCEEDS;
use crate::body::fails;
use crate::body::opened;
use crate::body::ordered;
use crate::body::repeated;
use crate::body::succeeds;
use crate::body::yields;
use crate::harness::Build;
use crate::harness::work::Work;
use crate::harness::work::now;
use crate::numbers::ATTEMPTS;
use crate::numbers::CONCURRENT;
use crate::numbers::DELAY;
use crate::numbers::FALLBACK;
use crate::numbers::PER;
use crate::numbers::RATE;
use crate::numbers::THRESHOLD;
use crate::numbers::TIMEOUT;
use crate::numbers::TOTAL;

pub(super) const CASES: &[(&str, Build)] = &[
    ("retry", retry),
    ("timeout", timeout),
    ("bulkhead", bulkhead),
    ("rate_limit", rate_limit),
    ("fallback", fallback),
    ("circuit_breaker", circuit_breaker),
    ("stack", || stack(service_fn(succeeds))),
    ("stack_pending", || stack(service_fn(yields))),
    ("rejected_fallback", rejected_fallback),
];

/// Some attempts, with a delay that doubles.
#[derive(Clone)]
struct Attempts {
    left: u32,
    delay: Duration,
}

impl Attempts {
    const ALL: Self = Self {
        left: ATTEMPTS - 1,
        delay: DELAY,
    };
}

/// What may be tried again.
trait Transient {
    fn is_transient(&self) -> bool;
}

impl Transient for Failed {
    fn is_transient(&self) -> bool {
        true
    }
}

impl Transient for CircuitBreakerError<BoxError> {
    fn is_transient(&self) -> bool {
        !self.is_circuit_open()
    }
}

impl<Req: Clone, E: Transient> Policy<Req, u64, E> for Attempts {
    type Future = Sleep;

    fn retry(&mut self, _: &mut Req, result: &mut Result<u64, E>) -> Option<Sleep> {
        let is_again = matches!(result, Err(error) if error.is_transient());
        if !is_again || self.left == 0 {
            return None;
        }
        let sleep = tokio::time::sleep(self.delay);
        self.left -= 1;
        self.delay *= 2;
        Some(sleep)
    }

    fn clone_request(&mut self, request: &Req) -> Option<Req> {
        Some(request.clone())
    }
}

fn retry() -> Box<dyn Work> {
    let stack = ServiceBuilder::new()
        .map_request(Order::new)
        .layer(RetryLayer::new(Attempts::ALL));
    called(SUCCEEDS, stack.service(service_fn(ordered)))
}

fn timeout() -> Box<dyn Work> {
    let layer = TimeoutLayer::new(TIMEOUT);
    called(SUCCEEDS, layer.layer(service_fn(succeeds)))
}

/// One that waits: tower has none that refuses.
fn bulkhead() -> Box<dyn Work> {
    let layer = ConcurrencyLimitLayer::new(CONCURRENT);
    called(SUCCEEDS, layer.layer(service_fn(succeeds)))
}

/// One that waits. It cannot be cloned, so it is shared by all who call, as ours is, in the
/// cheapest way: each call takes a lock.
fn rate_limit() -> Box<dyn Work> {
    let layer = RateLimitLayer::new(RATE.into(), PER);
    let service = Mutex::new(layer.layer(service_fn(succeeds)));
    Box::new(move |calls: u64| {
        repeated(calls, SUCCEEDS, |x| {
            let mut service = service.lock().unwrap_or_else(PoisonError::into_inner);
            now(poll_fn(|context| service.poll_ready(context)))?;
            now(service.call(x))
        })
    })
}

fn fallback() -> Box<dyn Work> {
    let layer = FallbackLayer::<_, _, Failed>::value(FALLBACK);
    called(SUCCEEDS, layer.layer(service_fn(succeeds)))
}

fn circuit_breaker() -> Box<dyn Work> {
    let layer = breaker(THRESHOLD);
    called(SUCCEEDS, layer.layer(service_fn(succeeds)))
}

fn stack<B>(body: B) -> Box<dyn Work>
where
    B: Service<u64, Response = u64, Error = Failed, Future: Send> + Clone + Send + 'static,
{
    let fallback = FallbackLayer::builder().value(FALLBACK);
    let stack = ServiceBuilder::new()
        .layer(fallback.handle(is_refused).build())
        .layer(TimeoutLayer::new(TOTAL))
        .layer(RetryLayer::new(Attempts::ALL))
        .layer(breaker(THRESHOLD))
        .layer(TimeoutLayer::new(TIMEOUT))
        .layer(ConcurrencyLimitLayer::new(CONCURRENT));
    called(SUCCEEDS, stack.service(body))
}

/// Whether the breaker below refused the call.
fn is_refused(error: &BoxError) -> bool {
    let error = error.downcast_ref::<CircuitBreakerError<BoxError>>();
    error.is_some_and(CircuitBreakerError::is_circuit_open)
}

/// The breaker of tower-resilience takes a fallback without another layer.
fn rejected_fallback() -> Box<dyn Work> {
    let breaker = breaker(1).layer(service_fn(fails));
    let service = breaker.with_fallback(|_| Box::pin(async { Ok(FALLBACK) }));
    opened(called(FALLS_BACK, service))
}
