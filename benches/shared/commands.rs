//! The commands that a server executes for calls that are guarded.

use std::collections::BTreeMap;
use std::time::Duration;

use breakerbox::Policy;
use breakerbox::Window;
use breakerbox_servers::Server;
use serde_json::json;

use crate::effort::Effort;
use crate::fleet::Fleet;
use crate::fleet::server;
use crate::report::Report;
use crate::report::rounded;
use crate::traffic::Traffic;
use crate::traffic::drive;

const INSTANCES: usize = 16;

const IN_A_ROW: Policy = Policy::new().threshold(10);

const IN_A_WINDOW: Policy = Policy::new()
    .window(Window::Time(Duration::from_secs(10)))
    .failure_rate(0.5)
    .min_calls(100);

/// What the script does within one command of ours, and no instance sends.
const IN_THE_SCRIPT: [&str; 6] = ["hmget", "hset", "pexpire", "publish", "lpush", "ltrim"];

/// For 10,000 calls.
#[derive(Clone, Copy)]
struct Commands {
    /// What the instances sent.
    sent: f64,
    /// All that the server executed, also within the script.
    executed: f64,
    rejected: u32,
}

pub(crate) fn measure(effort: &Effort, report: &mut Report) {
    report.title("Commands for 10,000 calls: 16 instances, 10,000 calls a second in all");
    let healthy = of(IN_A_ROW, 0, effort);
    let failing = of(IN_A_ROW, 10, effort);
    let window_healthy = of(IN_A_WINDOW, 0, effort);
    let window_failing = of(IN_A_WINDOW, 10, effort);

    report.bound("10 failures in a row, healthy", healthy.sent, 30.0, "");
    report.bound("10 failures in a row, 1 % fail", failing.sent, 250.0, "");
    report.bound("a window of 10 s, healthy", window_healthy.sent, 30.0, "");
    report.bound("a window of 10 s, 1 % fail", window_failing.sent, 250.0, "");
    report.fact(
        "in a row, 1 % fail, with those of the script",
        failing.executed,
        "",
    );
    report.fact(
        "a window, 1 % fail, with those of the script",
        window_failing.executed,
        "",
    );
    let all = [healthy, failing, window_healthy, window_failing];
    let rejected: u32 = all.iter().map(|it| it.rejected).sum();
    report.bound("calls that were rejected", f64::from(rejected), 0.0, "");

    let told = |healthy: f64, failing: f64| json!({"healthy": rounded(healthy), "one_percent": rounded(failing)});
    let window = (window_healthy, window_failing);
    report.tell("commands_per_10k", told(healthy.sent, failing.sent));
    report.tell("executed_per_10k", told(healthy.executed, failing.executed));
    report.tell(
        "window_commands_per_10k",
        told(window.0.sent, window.1.sent),
    );
    report.tell(
        "window_executed_per_10k",
        told(window.0.executed, window.1.executed),
    );
    report.tell("false_rejections", json!(rejected));
}

fn of(policy: Policy, failures: u32, effort: &Effort) -> Commands {
    let server = server();
    let fleet = Fleet::start(&server, INSTANCES, policy);
    let breakers = fleet.breakers();
    // What an instance may tell at once, it has told after this.
    let first = drive(&breakers, failures, Duration::from_secs(1), || true);
    server.reset_command_stats();
    let Traffic { calls, rejected } = drive(&breakers, failures, effort.traffic, || true);
    let stats = executed(&server);
    let of = |command: &str| stats.get(command).copied().unwrap_or(0);
    let executed: u64 = stats.values().sum();
    // The script asks for the time before it reads the circuit; instances ask for it, too.
    let within = IN_THE_SCRIPT.map(of).iter().sum::<u64>() + of("hmget");
    let sent = executed - within;
    Commands {
        sent: per_10k(sent, calls),
        executed: per_10k(executed, calls),
        rejected: first.rejected + rejected,
    }
}

/// How often a server has executed each command, without what it was asked to know this.
pub(crate) fn executed(server: &Server) -> BTreeMap<String, u64> {
    let mut stats = server.command_stats();
    stats.retain(|command, _| !["config|resetstat", "info"].contains(&&**command));
    stats
}

/// So many commands, for 10,000 calls.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn per_10k(commands: u64, calls: u32) -> f64 {
    commands as f64 * 10_000.0 / f64::from(calls)
}
