//! The same work by designs that ask Redis at each call.
//!
//! They were written for this comparison, each as well as its idea allows; they are nobody's
//! product.

use std::sync::Arc;
use std::time::Duration;

use breakerbox_servers::Server;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;
use tokio::runtime::Runtime;

use crate::commands::per_10k;
use crate::effort::Effort;
use crate::fleet::server;
use crate::report::Report;
use crate::report::rounded;
use crate::samples::micros;

mod calls;
mod connections;
mod counter;
mod lock;
mod ours;

use calls::Counted;
use calls::calls;
use connections::Connections;

/// Each with its own connection.
const INSTANCES: usize = 16;

/// How many failures in a row open the circuit.
const THRESHOLD: u32 = 10;

const COOLDOWN: Duration = Duration::from_secs(30);

/// So many callers at once.
const CALLERS: [usize; 3] = [1, 16, 64];

/// With so many of them the commands are counted.
const COUNTED: usize = 16;

/// A way to guard calls.
trait Design: Send + Sync + 'static {
    /// Guards a call of this instance that takes no time and succeeds or fails. Says whether
    /// it was let in.
    fn call(&self, instance: usize, succeeds: bool) -> impl Future<Output = bool> + Send;

    /// How many commands were sent so far. None where it is not said.
    fn sent(&self) -> Option<u64>;
}

pub(crate) fn measure(effort: &Effort, report: &mut Report) {
    report.title("Beside designs that ask Redis at each call: 16 instances, callers back to back");
    let runtime = Runtime::new().expect("a runtime");
    let mut told = Map::new();
    let server = server();
    let ours = ours::Shared::start(&server);
    let mut ours = of("breakerbox", &runtime, &server, ours, effort, report);
    // How many commands a call is depends on the rate for this one only: there is another part
    // for that.
    ours["commands_per_10k"] = report.told("commands_per_10k");
    told.insert("breakerbox".to_owned(), ours);

    let server = self::server();
    let counter = runtime.block_on(counter::Counter::connect(&server));
    let counter = of("get_incr", &runtime, &server, counter, effort, report);
    told.insert("get_incr".to_owned(), counter);

    let server = self::server();
    let lock = runtime.block_on(lock::Lock::connect(&server));
    let lock = of("lock", &runtime, &server, lock, effort, report);
    told.insert("lock".to_owned(), lock);
    report.tell("designs", told.into());
}

fn of(
    name: &str,
    runtime: &Runtime,
    server: &Server,
    design: impl Design,
    effort: &Effort,
    report: &Report,
) -> Value {
    let design = Arc::new(design);
    let mut added = Map::new();
    let mut healthy = Counted::default();
    for callers in CALLERS {
        let (samples, counted) = calls(runtime, server, &design, callers, 0, effort.burst);
        let each = samples.sorted();
        let (p50, p99, max) = (
            micros(each.median()),
            micros(each.p99()),
            micros(each.max()),
        );
        let rate = f64::from(counted.calls) / effort.burst.as_secs_f64();
        report.fact(&format!("{name}, {callers} callers, p50"), p50, "us");
        report.fact(&format!("{name}, {callers} callers, p99"), p99, "us");
        report.fact(
            &format!("{name}, {callers} callers, in all"),
            rate.round(),
            "calls/s",
        );
        let figures = json!({
            "p50": rounded(p50),
            "p99": rounded(p99),
            "max": rounded(max),
            "calls_per_second": rate.round(),
        });
        added.insert(callers.to_string(), figures);
        if callers == COUNTED {
            healthy = counted;
        }
    }
    let (_, failing) = calls(runtime, server, &design, COUNTED, 10, effort.burst);
    let mut told = json!({"added_us": added, "rejected": failing.rejected});
    if let (Some(healthy_sent), Some(failing_sent)) = (healthy.sent, failing.sent) {
        let pair = |healthy_of: u64, failing_of: u64| {
            let healthy = per_10k(healthy_of, healthy.calls);
            let failing = per_10k(failing_of, failing.calls);
            json!({"healthy": rounded(healthy), "one_percent": rounded(failing)})
        };
        let sent = per_10k(healthy_sent, healthy.calls);
        let executed = per_10k(healthy.executed, healthy.calls);
        let one_percent = per_10k(failing_sent, failing.calls);
        report.fact(&format!("{name}, commands for 10,000 calls"), sent, "");
        report.fact(
            &format!("{name}, the same with those of scripts"),
            executed,
            "",
        );
        report.fact(&format!("{name}, the same where 1 % fail"), one_percent, "");
        told["commands_per_10k"] = pair(healthy_sent, failing_sent);
        told["executed_per_10k"] = pair(healthy.executed, failing.executed);
    }
    told
}
