//! B075 B076 B081 B110: policies whose order or numbers contradict each other.
use breakerbox::bulkhead;
use breakerbox::circuit_breaker;
use breakerbox::fallback;
use breakerbox::rate_limit;
use breakerbox::resilient;
use breakerbox::retry;
use breakerbox::timeout;

#[derive(Debug)]
pub struct E;
impl From<breakerbox::Rejected> for E {
    fn from(_: breakerbox::Rejected) -> Self {
        Self
    }
}
impl From<breakerbox::TimedOut> for E {
    fn from(_: breakerbox::TimedOut) -> Self {
        Self
    }
}
type R = Result<u32, E>;

#[circuit_breaker(service = "a")]
#[fallback(Ok(1))]
async fn fallback_in_breaker() -> R {
    Ok(1)
}

#[retry(idempotent)]
#[fallback(|_| Ok(1), when = any)]
async fn nothing_to_retry() -> R {
    Ok(1)
}

#[fallback(Ok(1))]
#[timeout("1s")]
async fn nothing_rejects() -> R {
    Ok(1)
}

#[fallback(Ok(1), when = timed_out)]
#[circuit_breaker(service = "a")]
async fn nothing_times_out() -> R {
    Ok(1)
}

#[fallback(Ok(1))]
#[fallback(Ok(2))]
#[circuit_breaker(service = "a")]
async fn same_occasion() -> R {
    Ok(1)
}

#[fallback(when = "failed")]
async fn fallback_of_what() -> R {
    Ok(1)
}

#[timeout("1s")]
#[timeout("2s")]
async fn longer_inside() -> R {
    Ok(1)
}

#[timeout("0s")]
async fn no_time() -> R {
    Ok(1)
}

#[timeout(8)]
async fn no_unit() -> R {
    Ok(1)
}

#[timeout(limit = "8s")]
async fn no_key() -> R {
    Ok(1)
}

#[timeout]
async fn how_long() -> R {
    Ok(1)
}

#[timeout("1s")]
fn not_async() -> R {
    Ok(1)
}

#[timeout("1s")]
#[circuit_breaker(service = "a", on_cancel = ignore)]
async fn hides_a_hang() -> R {
    Ok(1)
}

#[timeout("1s")]
#[circuit_breaker(service = "a", fallback = Ok(1))]
async fn fallback_as_a_key() -> R {
    Ok(1)
}

#[bulkhead(max_concurrent = 0, queue = 5, counts)]
async fn places() -> R {
    Ok(1)
}

#[bulkhead(10)]
async fn no_name() -> R {
    Ok(1)
}

#[timeout("1s")]
#[bulkhead(service = "a", max_concurrent_calls = 1)]
#[bulkhead(service = "b", max_concurrent = 1, max_wait = "1s")]
async fn two_bulkheads() -> R {
    Ok(1)
}

#[rate_limit("0/s", burst = 0)]
#[rate_limit(100, service = "a")]
async fn rates() -> R {
    Ok(1)
}

#[rate_limit(per_second = 5, service = "a")]
async fn a_rate_has_no_key() -> R {
    Ok(1)
}

#[resilient(retri(idempotent), timeout = "8s", circuit_breaker(service = "a"))]
async fn unknown_policy() -> R {
    Ok(1)
}

#[resilient]
async fn resilient_of_what() -> R {
    Ok(1)
}

#[resilient(timeout("1s"))]
#[circuit_breaker(service = "a")]
async fn beside_resilient() -> R {
    Ok(1)
}

#[timeout("1s", map_rejected = |_| E, operation = "x")]
async fn of_no_effect() -> R {
    Ok(1)
}

#[retry(idempotent)]
struct NoFunction;

fn main() {}
