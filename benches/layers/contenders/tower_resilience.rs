//! tower-resilience: a crate for each policy, and a layer in each.
//!
//! Each layer boxes the future of every call. The errors are nested as they are: its own
//! conversions into one error type would be a cost of their own.

use tower::Layer;
use tower::Service;
use tower::ServiceBuilder;
use tower::service_fn;
use tower_resilience_bulkhead::BulkheadError;
use tower_resilience_bulkhead::BulkheadLayer;
use tower_resilience_bulkhead::BulkheadServiceError;
use tower_resilience_circuitbreaker::CircuitBreakerConfigBuilder;
use tower_resilience_circuitbreaker::CircuitBreakerError;
use tower_resilience_circuitbreaker::CircuitBreakerLayer;
use tower_resilience_circuitbreaker::DefaultClassifier;
use tower_resilience_fallback::FallbackLayer;
use tower_resilience_ratelimiter::RateLimiterLayer;
use tower_resilience_retry::RetryLayer;
use tower_resilience_timelimiter::TimeLimiterError;
use tower_resilience_timelimiter::TimeLimiterLayer;

use super::service::called;
use crate::body::FALLS_BACK;
use crate::body::Failed;
use crate::body::Order;
use crate::body::SUCCEEDS;
use crate::body::fails;
use crate::body::opened;
use crate::body::ordered;
use crate::body::succeeds;
use crate::body::yields;
use crate::harness::Build;
use crate::harness::work::Work;
use crate::numbers::ATTEMPTS;
use crate::numbers::CONCURRENT;
use crate::numbers::COOLDOWN;
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
    ("stack", || stack(service_fn(succeeds))),
    ("stack_pending", || stack(service_fn(yields))),
    ("rejected_fallback", rejected_fallback),
];

/// What comes out of a timeout around a bulkhead.
type Attempt = TimeLimiterError<BulkheadServiceError<Failed>>;

/// The layer of a breaker that counts failures in a row.
pub(super) fn breaker(threshold: usize) -> CircuitBreakerLayer<DefaultClassifier> {
    let config: CircuitBreakerConfigBuilder<_> = CircuitBreakerLayer::builder()
        .consecutive_failures(threshold)
        .wait_duration_in_open(COOLDOWN);
    config.build().expect("the numbers are good")
}

fn retry() -> Box<dyn Work> {
    let stack = ServiceBuilder::new()
        .map_request(Order::new)
        .layer(retries(|_: &Failed| true));
    called(SUCCEEDS, stack.service(service_fn(ordered)))
}

fn retries<Req, E: 'static>(again: fn(&E) -> bool) -> RetryLayer<Req, u64, E> {
    let config = RetryLayer::builder()
        .max_attempts(ATTEMPTS as usize)
        .exponential_backoff(DELAY);
    config.retry_on(again).build()
}

fn timeout() -> Box<dyn Work> {
    let layer = TimeLimiterLayer::builder().timeout_duration(TIMEOUT);
    called(SUCCEEDS, layer.build().layer(service_fn(succeeds)))
}

fn bulkhead() -> Box<dyn Work> {
    called(SUCCEEDS, slots().layer(service_fn(succeeds)))
}

fn slots() -> BulkheadLayer {
    let config = BulkheadLayer::builder()
        .max_concurrent_calls(CONCURRENT)
        .reject_when_full();
    config.build().expect("the numbers are good")
}

fn rate_limit() -> Box<dyn Work> {
    // A window that starts anew is the cheapest of the algorithms it has.
    let config = RateLimiterLayer::builder()
        .limit_for_period(RATE as usize)
        .refresh_period(PER);
    let layer = config.build().expect("the numbers are good");
    called(SUCCEEDS, layer.layer(service_fn(succeeds)))
}

fn stack<B>(body: B) -> Box<dyn Work>
where
    B: Service<u64, Response = u64, Error = Failed, Future: Send> + Clone + Send + 'static,
{
    let of_all = TimeLimiterLayer::builder().timeout_duration(TOTAL);
    let of_each = TimeLimiterLayer::builder().timeout_duration(TIMEOUT);
    let fallback = FallbackLayer::builder().value(FALLBACK);
    let fallback = fallback.handle(|error: &TimeLimiterError<_>| match error {
        TimeLimiterError::Inner(refused) => is_refused(refused),
        TimeLimiterError::Timeout => false,
    });
    let stack = ServiceBuilder::new()
        .layer(fallback.build())
        .layer(of_all.build())
        .layer(retries(|error| !is_refused(error)))
        .layer(breaker(THRESHOLD))
        .layer(of_each.build())
        .layer(slots());
    called(SUCCEEDS, stack.service(body))
}

fn is_refused(error: &CircuitBreakerError<Attempt>) -> bool {
    use BulkheadServiceError::Bulkhead;
    match error {
        CircuitBreakerError::OpenCircuit => true,
        CircuitBreakerError::Inner(inner) => matches!(
            inner,
            TimeLimiterError::Inner(Bulkhead(BulkheadError::Timeout))
        ),
    }
}

fn rejected_fallback() -> Box<dyn Work> {
    let fallback = FallbackLayer::builder().value(FALLBACK);
    let fallback = fallback.handle(CircuitBreakerError::<Failed>::is_circuit_open);
    let stack = ServiceBuilder::new()
        .layer(fallback.build())
        .layer(breaker(1));
    opened(called(FALLS_BACK, stack.service(service_fn(fails))))
}
