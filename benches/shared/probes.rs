//! A crowd in many instances that all want to probe at once.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;
use std::time::Instant;

use breakerbox::Breaker;
use breakerbox::Policy;
use breakerbox::State;
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::effort::Effort;
use crate::fleet::Fleet;
use crate::fleet::server;
use crate::report::Report;
use crate::report::rounded;
use crate::samples::Samples;
use crate::samples::millis;

const INSTANCES: usize = 64;
const CROWD: usize = 256;
const PROBES: u32 = 3;

/// How long a probe takes, so that those of all instances are under way together.
const PROBE: Duration = Duration::from_millis(20);

const POLICY: Policy = Policy::new()
    .threshold(1)
    .cooldown(Duration::from_millis(200))
    .probes(PROBES);

#[derive(Default)]
struct Seen {
    at_once: AtomicUsize,
    most_at_once: AtomicUsize,
}

pub(crate) fn measure(effort: &Effort, report: &mut Report) {
    report.title("Half-open: 256 callers of 64 instances, 3 probes");
    let server = server();
    let fleet = Fleet::start(&server, INSTANCES, POLICY);
    let runtime = Runtime::new().expect("a runtime");
    let seen = Arc::new(Seen::default());
    let mut granted = Samples::default();
    let mut not_granted = 0;
    for _ in 0..effort.crowds {
        fleet.all_are(State::Closed);
        fleet
            .first()
            .try_acquire()
            .expect("a closed circuit")
            .failure();
        fleet.all_are(State::Open);
        fleet.all("the cooldown is over", |instance| {
            instance.breaker.snapshot().retry_after == Some(Duration::ZERO)
        });
        let of_this_crowd = runtime.block_on(crowd(&fleet, &seen));
        not_granted += CROWD - of_this_crowd.len();
        granted.extend(of_this_crowd);
    }
    let grants = granted.len();
    let granted = granted.sorted();
    let most = seen.most_at_once.load(SeqCst);
    let (p50, p99) = (millis(granted.median()), millis(granted.p99()));
    report.bound("probes at once", figure(most), f64::from(PROBES), "");
    report.fact("probes in all", figure(grants), "");
    report.fact("calls that did not probe", figure(not_granted), "");
    report.fact("until leave is given, p50", p50, "ms");
    report.fact("until leave is given, p99", p99, "ms");
    report.tell(
        "half_open",
        json!({
            "max_probes": most,
            "granted": grants,
            "refused": not_granted,
            "grant_ms": {"p50": rounded(p50), "p99": rounded(p99)},
        }),
    );
}

/// All ask once, and those who may probe.
async fn crowd(fleet: &Fleet, seen: &Arc<Seen>) -> Samples {
    let mut callers = JoinSet::new();
    for breaker in fleet.breakers().into_iter().cycle().take(CROWD) {
        callers.spawn(caller(breaker, Arc::clone(seen)));
    }
    let mut granted = Samples::default();
    while let Some(took) = callers.join_next().await {
        if let Some(took) = took.expect("a caller that does not panic") {
            granted.push(took);
        }
    }
    granted
}

async fn caller(breaker: &'static Breaker, seen: Arc<Seen>) -> Option<Duration> {
    let begin = Instant::now();
    let permit = breaker.acquire().await.ok()?;
    let took = begin.elapsed();
    if !permit.is_probe() {
        permit.success();
        return None;
    }
    let at_once = seen.at_once.fetch_add(1, SeqCst) + 1;
    seen.most_at_once.fetch_max(at_once, SeqCst);
    tokio::time::sleep(PROBE).await;
    seen.at_once.fetch_sub(1, SeqCst);
    permit.success();
    Some(took)
}

fn figure(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}
