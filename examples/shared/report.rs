//! What is printed: the timeline of a scene, and the summary.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use serde_json::Value;
use serde_json::json;

use crate::words::Counts;
use crate::words::Said;
use crate::words::What;
use crate::worker;

/// All that has come out.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) workers: usize,
    /// Each time that one told all.
    pub(crate) openings: Vec<Opening>,
    /// How many calls were made in vain where each opened for itself.
    pub(crate) alone: u64,
    /// Of each outage that Redis was there for.
    pub(crate) probes: Vec<Probes>,
    /// How long after its process was killed another one probed.
    pub(crate) lease_ran_out: Option<Duration>,
    pub(crate) longest_without_redis: Duration,
    pub(crate) totals: BTreeMap<usize, Counts>,
    pub(crate) claims: Vec<Claim>,
}

#[derive(Debug)]
pub(crate) struct Opening {
    /// From the first circuit to the last one.
    pub(crate) within: Duration,
    /// Calls of all that were made and failed.
    pub(crate) in_vain: u64,
}

/// Calls to the provider while all circuits were open or half-open.
#[derive(Debug)]
pub(crate) struct Probes {
    pub(crate) made: usize,
    pub(crate) good: usize,
    pub(crate) at_once: usize,
}

#[derive(Debug)]
pub(crate) struct Claim {
    pub(crate) text: String,
    pub(crate) holds: bool,
}

impl Told {
    pub(crate) const fn new(workers: usize) -> Self {
        Self {
            workers,
            openings: Vec::new(),
            alone: 0,
            probes: Vec::new(),
            lease_ran_out: None,
            longest_without_redis: Duration::ZERO,
            totals: BTreeMap::new(),
            claims: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, worker: usize, counts: &Counts) {
        let total = self.totals.entry(worker).or_default();
        total.made += counts.made;
        total.in_vain += counts.in_vain;
        total.broken += counts.broken;
        total.rejected += counts.rejected;
        total.others_probed += counts.others_probed;
        total.median = counts.median;
        total.longest = total.longest.max(counts.longest);
        total.longest_rejected = total.longest_rejected.max(counts.longest_rejected);
    }
}

/// The lines of a scene in the order of their times.
pub(crate) fn scene(mut notes: Vec<(Duration, String, String)>, said: &[(usize, Said)]) -> String {
    let openings = said.iter().filter(|(_, said)| is_opening(&said.what));
    let first = openings.map(|(_, said)| said.at).min();
    for (number, said) in said {
        let text = match &said.what {
            What::Moved { from, to, reason } => {
                let moved = format!("{from} -> {to}, after {reason}");
                match first.filter(|_| is_opening(&said.what)) {
                    Some(first) if said.at > first => {
                        format!("{moved}; {:.1} ms after the first", millis(said.at - first))
                    }
                    _ => moved,
                }
            }
            What::Found => "has found Redis".to_owned(),
            What::Lost(cause) => format!("has lost Redis: {cause}"),
            What::Counts(_) => continue,
        };
        notes.push((said.at, worker::name(*number), text));
    }
    notes.sort();
    let mut text = String::new();
    for (at, who, what) in notes {
        let _ = writeln!(text, "{:>9.1} ms  {who:10} {what}", millis(at));
    }
    text
}

fn is_opening(what: &What) -> bool {
    matches!(what, What::Moved { from, to, .. } if from == "closed" && to == "open")
}

/// How many calls each has made in vain.
pub(crate) fn in_vain(counts: &[(usize, Counts)]) -> String {
    let each: Vec<_> = counts
        .iter()
        .map(|(_, it)| it.in_vain.to_string())
        .collect();
    let all: u64 = counts.iter().map(|(_, it)| it.in_vain).sum();
    format!("calls in vain: {} = {all}", each.join(" + "))
}

/// What became of the calls of each, and whether what is claimed holds.
pub(crate) fn summary(told: &Told) -> String {
    let mut text = format!(
        "\n{:10}{:>10}{:>10}{:>10}{:>28}\n",
        "", "made", "in vain", "rejected", "in the breaker, median/most"
    );
    for (number, counts) in &told.totals {
        let times = format!("{:.1?} / {:.1?}", counts.median, counts.longest);
        let _ = writeln!(
            text,
            "{:10}{:>10}{:>10}{:>10}{times:>28}",
            worker::name(*number),
            counts.made,
            counts.in_vain,
            counts.rejected,
        );
    }
    text.push('\n');
    for claim in &told.claims {
        let holds = if claim.holds {
            "holds"
        } else {
            "DOES NOT HOLD"
        };
        let _ = writeln!(text, "{holds}: {}", claim.text);
    }
    text
}

pub(crate) fn json(told: &Told) -> Value {
    let claims = told.claims.iter();
    let openings = told.openings.iter();
    json!({
        "workers": told.workers,
        "openings": openings.map(|opening| json!({
            "within_ms": round(millis(opening.within)),
            "in_vain": opening.in_vain,
        })).collect::<Vec<_>>(),
        "in_vain_without_redis": told.alone,
        "probes": told.probes.iter().map(|probes| json!({
            "made": probes.made,
            "good": probes.good,
            "at_once": probes.at_once,
        })).collect::<Vec<_>>(),
        "next_probe_after_kill_ms": told.lease_ran_out.map(|it| round(millis(it))),
        "longest_in_breaker_without_redis_us": round(told.longest_without_redis.as_secs_f64() * 1e6),
        "claims": claims.map(|claim| json!({
            "claim": claim.text,
            "holds": claim.holds,
        })).collect::<Vec<_>>(),
    })
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn round(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}
