//! breakerbox, by its attributes.

use std::hint::black_box;
use std::sync::LazyLock;

use breakerbox::Clock;
use breakerbox::Registry;
use breakerbox::Rejected;
use breakerbox::TimedOut;
use breakerbox::bulkhead;
use breakerbox::circuit_breaker;
use breakerbox::fallback;
use breakerbox::rate_limit;
use breakerbox::retry;
use breakerbox::timeout;

use crate::body::FALLS_BACK;
use crate::body::Order;
use crate::body::SUCCEEDS;
use crate::body::once_pending;
use crate::body::opened;
use crate::body::polled;
use crate::body::succeeds;
use crate::harness::Build;
use crate::harness::work::Work;
use crate::numbers::FALLBACK;

pub(super) const CASES: &[(&str, Build)] = &[
    ("bare", || polled(SUCCEEDS, succeeds)),
    ("retry", || {
        guarded(|| polled(SUCCEEDS, |x| retried(Order::new(x))))
    }),
    ("timeout", || guarded(|| polled(SUCCEEDS, timed))),
    ("bulkhead", || guarded(|| polled(SUCCEEDS, in_a_slot))),
    ("rate_limit", || guarded(|| polled(SUCCEEDS, limited))),
    ("fallback", || guarded(|| polled(SUCCEEDS, with_fallback))),
    ("circuit_breaker", || guarded(|| polled(SUCCEEDS, closed))),
    ("stack", || guarded(|| polled(SUCCEEDS, stack))),
    ("stack_pending", || {
        guarded(|| polled(SUCCEEDS, stack_pending))
    }),
    ("rejected_fallback", || {
        guarded(|| opened(polled(FALLS_BACK, falls_back)))
    }),
];

/// The registry of all rows.
static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    Registry::builder()
        // Cargo builds all of a workspace with the features of its tests, where breakerbox
        // would follow tokio's clock: this is the clock that it has everywhere else.
        .clock(Clock::system())
        .install()
        .expect("nothing was installed before")
});

/// What a function of ours returns, which needs a place for a rejection and for a time
/// that is over.
#[derive(Debug, thiserror::Error)]
enum WorkError {
    #[error(transparent)]
    Rejected(#[from] Rejected),
    #[error(transparent)]
    TimedOut(#[from] TimedOut),
    #[error("the service failed")]
    Failed,
}

fn is_transient(error: &WorkError) -> bool {
    matches!(error, WorkError::Failed | WorkError::TimedOut(_))
}

#[retry(attempts = 3, delay = "100ms", retry_on = is_transient)]
async fn retried(order: Order) -> Result<u64, WorkError> {
    black_box(&order.lines);
    Ok(black_box(order.x) + 1)
}

#[timeout("1s")]
async fn timed(x: u64) -> Result<u64, WorkError> {
    Ok(black_box(x) + 1)
}

#[bulkhead(service = "bulkhead", max_concurrent = 100)]
async fn in_a_slot(x: u64) -> Result<u64, WorkError> {
    Ok(black_box(x) + 1)
}

#[rate_limit("200000000/s", service = "rate_limit")]
async fn limited(x: u64) -> Result<u64, WorkError> {
    Ok(black_box(x) + 1)
}

#[fallback(Ok(FALLBACK), when = any)]
async fn with_fallback(x: u64) -> Result<u64, WorkError> {
    Ok(black_box(x) + 1)
}

#[circuit_breaker(service = "closed", threshold = 5, cooldown = "1h")]
async fn closed(x: u64) -> Result<u64, WorkError> {
    Ok(black_box(x) + 1)
}

#[fallback(Ok(FALLBACK))]
#[timeout("5s")]
#[retry(attempts = 3, delay = "100ms", retry_on = is_transient)]
#[circuit_breaker(service = "stack", threshold = 5, cooldown = "1h")]
#[timeout("1s")]
#[bulkhead(max_concurrent = 100)]
async fn stack(x: u64) -> Result<u64, WorkError> {
    Ok(black_box(x) + 1)
}

#[fallback(Ok(FALLBACK))]
#[timeout("5s")]
#[retry(attempts = 3, delay = "100ms", retry_on = is_transient)]
#[circuit_breaker(service = "stack_pending", threshold = 5, cooldown = "1h")]
#[timeout("1s")]
#[bulkhead(max_concurrent = 100)]
async fn stack_pending(x: u64) -> Result<u64, WorkError> {
    once_pending().await;
    Ok(black_box(x) + 1)
}

#[circuit_breaker(service = "open", threshold = 1, cooldown = "1h", fallback = Ok(FALLBACK))]
async fn falls_back(_: u64) -> Result<u64, WorkError> {
    Err(WorkError::Failed)
}

/// What an annotated function finds: the registry is installed before its first call.
fn guarded(work: impl FnOnce() -> Box<dyn Work>) -> Box<dyn Work> {
    LazyLock::force(&REGISTRY);
    work()
}
