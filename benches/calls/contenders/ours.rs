//! breakerbox, by its attribute and by its permits.

use std::hint::black_box;
use std::sync::LazyLock;
use std::time::Duration;

use breakerbox::Breaker;
use breakerbox::Clock;
use breakerbox::Permit;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::Rejected;
use breakerbox::circuit_breaker;

use crate::harness::Build;
use crate::harness::work::Work;
use crate::harness::work::now;
use crate::work::Failed;
use crate::work::plain;
use crate::work::polled;
use crate::work::succeeds;

pub(super) const CASES: &[(&str, Build)] = &[
    ("bare", || polled(succeeds)),
    ("closed_consecutive", || guarded(|| polled(closed))),
    ("closed_window", || guarded(|| polled(windowed))),
    ("closed_window_1pct", || guarded(|| polled(windowed_1pct))),
    ("closed_count_window", || guarded(|| polled(counted))),
    ("permit_consecutive", permit),
    ("permit_durations", measured_permit),
    ("rejected", open),
    ("rejected_permit", open_permit),
    ("two_threads_consecutive", || guarded(|| polled(closed))),
    ("two_threads_window", || guarded(|| polled(windowed))),
    ("window_100", || holding(100)),
    ("window_1000", || holding(1_000)),
    ("window_10000", || holding(10_000)),
    ("keyed", || guarded(|| polled(|x| keyed("acme", x)))),
    ("recorder", || guarded(|| polled(closed))),
];

/// The registry of all rows, with the services that no attribute names.
static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    let once = Policy::new()
        .threshold(1)
        .cooldown(Duration::from_secs(3600));
    Registry::builder()
        // Cargo builds all of a workspace with the features of its tests, where breakerbox
        // would follow tokio's clock: this is the clock that it has everywhere else.
        .clock(Clock::system())
        .declare("closed_permit")
        .declare_with("open_permit", once)
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

#[circuit_breaker(service = "closed")]
async fn closed(x: u64) -> Result<u64, WorkError> {
    Ok(black_box(x) + 1)
}

#[circuit_breaker(
    service = "windowed",
    window = "10s",
    failure_rate = 0.5,
    slow_call = "1s",
    slow_call_rate = 0.5
)]
async fn windowed(x: u64) -> Result<u64, WorkError> {
    Ok(black_box(x) + 1)
}

#[circuit_breaker(
    service = "windowed_1pct",
    window = "10s",
    failure_rate = 0.5,
    slow_call = "1s",
    slow_call_rate = 0.5
)]
async fn windowed_1pct(x: u64) -> Result<u64, WorkError> {
    if x % 100 == 99 {
        Err(WorkError::Failed)
    } else {
        Ok(black_box(x) + 1)
    }
}

#[circuit_breaker(service = "counted", window = 100, failure_rate = 0.5)]
async fn counted(x: u64) -> Result<u64, WorkError> {
    Ok(black_box(x) + 1)
}

#[circuit_breaker(service = "keyed", key = tenant)]
async fn keyed(tenant: &str, x: u64) -> Result<u64, WorkError> {
    Ok(black_box(x) + 1)
}

#[circuit_breaker(service = "open", threshold = 1, cooldown = "1h")]
async fn rejected(_: u64) -> Result<u64, WorkError> {
    Err(WorkError::Failed)
}

/// What an annotated function finds: the registry is installed before its first call.
fn guarded(work: impl FnOnce() -> Box<dyn Work>) -> Box<dyn Work> {
    LazyLock::force(&REGISTRY);
    work()
}

fn breaker(service: &str) -> &'static Breaker {
    REGISTRY.breaker(service).expect("declared")
}

/// A window that holds so many calls already.
fn holding(calls: u64) -> Box<dyn Work> {
    guarded(|| {
        // The one loop fills it, too: called from a second place, it would not be inlined.
        let work = polled(windowed);
        work.run(calls);
        work
    })
}

fn permit() -> Box<dyn Work> {
    let breaker = breaker("closed_permit");
    plain(move |x| {
        let permit = breaker.try_acquire().map_err(|_| Failed)?;
        let _ = black_box(now(succeeds(x)));
        permit.success();
        Ok::<_, Failed>(())
    })
}

/// Of a registry of its own: in one, all calls are measured or none.
fn measured_permit() -> Box<dyn Work> {
    let registry = Registry::builder()
        .clock(Clock::system())
        .declare("measured_permit")
        .call_durations()
        .build();
    let registry = registry.expect("nothing is wrong with it");
    let breaker = registry.breaker("measured_permit").expect("declared");
    plain(move |x| {
        let permit = breaker.try_acquire().map_err(|_| Failed)?;
        let _ = black_box(now(succeeds(x)));
        permit.success();
        Ok::<_, Failed>(())
    })
}

fn open() -> Box<dyn Work> {
    guarded(|| {
        now(rejected(0)).expect_err("the first call fails and opens it");
        polled(rejected)
    })
}

fn open_permit() -> Box<dyn Work> {
    let breaker = breaker("open_permit");
    breaker.try_acquire().expect("closed").failure();
    plain(|_| {
        breaker
            .try_acquire()
            .map(Permit::success)
            .map_err(|_| Failed)
    })
}
