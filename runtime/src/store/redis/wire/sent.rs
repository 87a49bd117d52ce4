//! A command with its policy, as the keys and arguments of the script.

use crate::policy::Policy;
use crate::rules::Outcome;
use crate::rules::fleet::Command;
use crate::rules::fleet::Flush;
use crate::rules::fleet::Force;
use crate::rules::fleet::Request;
use crate::rules::fleet::View;
use crate::rules::fleet::Width;
use crate::rules::fleet::millis;
use crate::store::redis::wire::channel;
use crate::store::redis::wire::escape::escape;
use crate::store::redis::wire::fields::write_cover;
use crate::store::redis::wire::fields::write_live;
use crate::store::redis::wire::fields::write_reason;
use crate::store::redis::wire::fields::write_width;
use crate::store::redis::wire::journal_key;
use crate::store::redis::wire::key;
use crate::verdict::Verdict;

/// What one run of the script gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    /// The hash of the circuit, and its journal.
    pub(crate) keys: [String; 2],
    pub(crate) args: Vec<String>,
}

/// A hash that nobody writes to is kept for so many milliseconds longer than what it holds.
const KEEP: u64 = 3_600_000;

/// What the script has to know for one command on a circuit. It answers with the `nonce`; the
/// journal names the `origin`.
pub(crate) fn send(
    prefix: &str,
    circuit: &str,
    nonce: u64,
    origin: &str,
    request: &Request,
    policy: &Policy,
) -> Sent {
    let mut args = vec![
        nonce.to_string(),
        channel(prefix),
        escape(circuit),
        escape(origin),
        opaque(request.instance),
        request.draw.to_string(),
        request.deadline.to_string(),
    ];
    push_view(&mut args, &request.view);
    push_policy(&mut args, policy);
    push_command(&mut args, &request.command);
    Sent {
        keys: [key(prefix, circuit), journal_key(prefix, circuit)],
        args,
    }
}

/// A number that the script only compares: it has no integers of 64 bits.
fn opaque(number: u64) -> String {
    format!("{number:016x}")
}

fn optional<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |it| it.to_string())
}

fn flag(is_so: bool) -> String {
    u8::from(is_so).to_string()
}

fn push_view(args: &mut Vec<String>, view: &View) {
    args.extend([
        view.epoch.to_string(),
        view.phase.state().label().to_owned(),
        view.remaining.to_string(),
        view.length.to_string(),
        view.trips.to_string(),
        write_reason(view.opened_by),
        write_cover(view.cover.as_ref()),
        write_live(&view.live),
    ]);
}

/// Rates go as the shortest text that reads back as the same number, so that both sides divide
/// and compare alike; it also stands in the reasons.
fn push_policy(args: &mut Vec<String>, policy: &Policy) {
    let width = Width::of(policy);
    let ramp = policy.get_ramp().map(millis);
    let window = match width {
        Some(Width::Millis(width)) => width * Width::BUCKETS,
        Some(Width::Calls(_)) | None => 0,
    };
    args.extend([
        optional(policy.get_threshold()),
        width.map_or_else(String::new, write_width),
        optional(policy.get_failure_rate()),
        policy.get_min_calls().to_string(),
        policy.get_min_failures().to_string(),
        optional(policy.get_slow_call_rate()),
        millis(policy.get_cooldown()).to_string(),
        policy.get_backoff().to_string(),
        millis(policy.get_max_cooldown()).to_string(),
        policy.get_jitter().to_string(),
        millis(policy.get_max_open_for()).to_string(),
        policy.get_probes().to_string(),
        policy.get_probe_concurrency().to_string(),
        policy.get_close_after().to_string(),
        optional(policy.get_probe_failure_rate()),
        millis(policy.get_probe_timeout()).to_string(),
        optional(ramp),
        policy.get_min_instances().to_string(),
        (KEEP + window.max(ramp.unwrap_or(0))).to_string(),
    ]);
}

fn push_command(args: &mut Vec<String>, command: &Command) {
    let mut push = |name: &str, more: &[String]| {
        args.push(name.to_owned());
        args.extend_from_slice(more);
    };
    match command {
        Command::Sync => push("sync", &[]),
        Command::Flush(flush) => push("flush", &flushed(flush)),
        Command::Acquire { token, ttl } => push("acquire", &[opaque(*token), ttl.to_string()]),
        Command::Renew { token, ttl } => push("renew", &[opaque(*token), ttl.to_string()]),
        Command::End { token, outcome } => {
            let token = token.map_or_else(String::new, opaque);
            let [verdict, is_slow, length] = ended(*outcome);
            push("end", &[token, verdict, is_slow, length]);
        }
        Command::Force(Force::Cover {
            kind,
            ttl,
            actor,
            why,
        }) => push(
            "cover",
            &[
                kind.state().label().to_owned(),
                ttl.to_string(),
                escape(actor),
                escape(why),
            ],
        ),
        Command::Force(Force::Clear) => push("clear", &[String::new()]),
        Command::Force(Force::ClearOnly(id)) => push("clear", &[id.to_string()]),
        Command::Force(Force::Reset) => push("reset", &[]),
        Command::Force(Force::Renumber { text, after }) => {
            push("renumber", &[escape(text), after.to_string()]);
        }
    }
}

fn flushed(flush: &Flush) -> [String; 5] {
    let deltas = flush.deltas.iter().map(|it| {
        let (calls, failures, slow) = (it.calls, it.failures, it.slow);
        format!("{},{calls},{failures},{slow};", it.age)
    });
    [
        flag(flush.success),
        flush.failures.to_string(),
        flush.at_least.to_string(),
        optional(flush.exactly),
        deltas.collect(),
    ]
}

fn ended(outcome: Outcome) -> [String; 3] {
    let (verdict, length) = match outcome.verdict {
        Verdict::Success => ("success", 0),
        Verdict::Failure => ("failure", 0),
        Verdict::RetryAfter(at_least) => ("retry_after", millis(at_least)),
        Verdict::OpenFor(exactly) => ("open_for", millis(exactly)),
        Verdict::Ignore => ("ignore", 0),
    };
    [
        verdict.to_owned(),
        flag(outcome.is_slow),
        length.to_string(),
    ]
}
