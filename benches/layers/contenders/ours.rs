//! breakerbox, by its attributes.

use std::hint::black_box;
use std::sync::LazyLock;

use breakerbox::Clock;
use breakerbox::Registry;
use breakerbox::Rejected;
use breakerbox::circuit_breaker;

use crate::body::FALLS_BACK;
use crate::body::SUCCEEDS;
use crate::body::opened;
use crate::body::polled;
use crate::body::succeeds;
use crate::harness::Build;
use crate::harness::work::Work;
use crate::numbers::FALLBACK;

pub(super) const CASES: &[(&str, Build)] = &[
    ("bare", || polled(SUCCEEDS, succeeds)),
    ("circuit_breaker", || {
        guarded(|| polled(SUCCEEDS, circuit_breaker))
    }),
    ("rejected_fallback", rejected_fallback),
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

/// What a function of ours returns, which needs a place for a rejection.
#[derive(Debug)]
enum WorkError {
    Rejected(#[expect(dead_code)] Rejected),
    Failed,
}

impl From<Rejected> for WorkError {
    fn from(rejected: Rejected) -> Self {
        Self::Rejected(rejected)
    }
}

#[circuit_breaker(service = "circuit_breaker", threshold = 5, cooldown = "1h")]
async fn circuit_breaker(x: u64) -> Result<u64, WorkError> {
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

fn rejected_fallback() -> Box<dyn Work> {
    guarded(|| opened(polled(FALLS_BACK, falls_back)))
}
