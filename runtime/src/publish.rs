//! Publishing through the `metrics` facade.
//!
//! Calls are counted in cells; here they are added up and handed to whatever
//! recorder is installed, through handles taken afresh each time. So a recorder that
//! comes late, or one that forgets idle series, still gets every count in full. Only how
//! long calls took goes to one recorder, the next: a histogram takes samples and no totals.

mod stacks;
#[cfg(feature = "redis")]
pub(crate) mod store;

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::SystemTime;
use std::time::UNIX_EPOCH;

use metrics::Unit;
use metrics::counter;
use metrics::describe_counter;
use metrics::describe_gauge;
use metrics::describe_histogram;
use metrics::gauge;
use metrics::histogram;

use crate::breaker::Breaker;
use crate::cells::Tally;
use crate::policies::Policies;
use crate::reason::MOVES;
use crate::state::State;

/// One publisher at a time: a count that is read first is also published first.
static PUBLISHING: Mutex<()> = Mutex::new(());

pub(crate) fn publish(breakers: &[&Breaker], policies: &[&Policies]) {
    let _one_at_a_time = PUBLISHING.lock().unwrap_or_else(PoisonError::into_inner);
    for breaker in breakers {
        publish_calls(breaker);
        publish_state(breaker);
        publish_transitions(breaker);
        publish_rules(breaker);
        publish_durations(breaker);
    }
    for policies in policies {
        stacks::publish(policies);
    }
}

/// Says what the metrics mean.
pub(crate) fn describe() {
    describe_counter!(
        "breakerbox_calls_total",
        "Calls by outcome. Each call has exactly one."
    );
    describe_gauge!(
        "breakerbox_state",
        "Where the circuit stands: 1 for its state, 0 for the others."
    );
    describe_counter!(
        "breakerbox_transitions_total",
        "How often the circuit moved from one state to another, and why."
    );
    describe_gauge!(
        "breakerbox_open_until_timestamp_seconds",
        "When the opening ends, in seconds since 1970; 0 while the circuit is not open."
    );
    describe_gauge!(
        "breakerbox_in_flight",
        "Calls that were admitted and have not ended."
    );
    describe_counter!(
        "breakerbox_state_seconds_total",
        "How long the circuit was in each state, in whole seconds."
    );
    describe_gauge!(
        "breakerbox_failure_rate",
        "The share of failures in the window; NaN where it is no rule or the calls are too few."
    );
    describe_gauge!(
        "breakerbox_threshold",
        "Where the circuit opens, by rule; NaN for a rule that does not stand."
    );
    describe_gauge!(
        "breakerbox_keyed_open",
        "The keys of the service whose circuits do not admit all calls."
    );
    describe_gauge!(
        "breakerbox_override_active",
        "1 while somebody has forced the circuit, else 0."
    );
    describe_counter!(
        "breakerbox_would_reject_total",
        "Calls that a circuit in shadow let through and would have rejected."
    );
    describe_histogram!(
        "breakerbox_call_duration_seconds",
        Unit::Seconds,
        "How long calls took from leave to outcome. Those that were rejected are not among them."
    );
    stacks::describe();
}

fn publish_calls(breaker: &Breaker) {
    let service = breaker.name();
    let snapshot = breaker.snapshot();
    for (outcome, count) in snapshot.calls.by_label() {
        counter!("breakerbox_calls_total", "service" => service, "outcome" => outcome)
            .absolute(count);
    }
    gauge!("breakerbox_in_flight", "service" => service).set(as_f64(snapshot.in_flight));
}

fn publish_state(breaker: &Breaker) {
    let service = breaker.name();
    let (now, end) = breaker.state_and_end();
    // The new state first: whoever scrapes in between sees two states, never none.
    gauge!("breakerbox_state", "service" => service, "state" => now.label()).set(1.0);
    for other in State::ALL.iter().filter(|state| **state != now) {
        gauge!("breakerbox_state", "service" => service, "state" => other.label()).set(0.0);
    }
    gauge!("breakerbox_open_until_timestamp_seconds", "service" => service)
        .set(end.map_or(0.0, timestamp));
}

/// What is not measured is not a number.
fn publish_rules(breaker: &Breaker) {
    let service = breaker.name();
    let snapshot = breaker.snapshot();
    let policy = snapshot.policy;
    gauge!("breakerbox_failure_rate", "service" => service)
        .set(snapshot.failure_rate.unwrap_or(f64::NAN));
    for (kind, limit) in [
        ("threshold", policy.get_threshold().map(f64::from)),
        ("failure_rate", policy.get_failure_rate()),
        ("slow_call_rate", policy.get_slow_call_rate()),
    ] {
        gauge!("breakerbox_threshold", "service" => service, "kind" => kind)
            .set(limit.unwrap_or(f64::NAN));
    }
    gauge!("breakerbox_keyed_open", "service" => service).set(as_f64(snapshot.open_keys));
    let is_forced = snapshot.forced.is_some();
    gauge!("breakerbox_override_active", "service" => service).set(f64::from(is_forced));
    counter!("breakerbox_would_reject_total", "service" => service).absolute(snapshot.would_reject);
    let seconds = breaker.service().state_seconds(snapshot.state);
    for (state, seconds) in State::ALL.iter().zip(seconds) {
        counter!(
            "breakerbox_state_seconds_total",
            "service" => service,
            "state" => state.label(),
        )
        .absolute(seconds);
    }
}

fn publish_transitions(breaker: &Breaker) {
    let service = breaker.name();
    for (index, (from, to, reason)) in MOVES.into_iter().enumerate() {
        counter!(
            "breakerbox_transitions_total",
            "service" => service,
            "from" => from.label(),
            "to" => to.label(),
            "reason" => reason,
        )
        .absolute(breaker.service().transitions(index));
    }
}

fn publish_durations(breaker: &Breaker) {
    for (index, outcome) in Tally::ENDINGS.into_iter().enumerate() {
        let mut histogram = None;
        breaker.service().hand_on_spans(index, |seconds, calls| {
            let histogram = histogram.get_or_insert_with(|| {
                histogram!(
                    "breakerbox_call_duration_seconds",
                    "service" => breaker.name(),
                    "outcome" => outcome.label(),
                )
            });
            histogram.record_many(seconds, usize::try_from(calls).unwrap_or(usize::MAX));
        });
    }
}

/// Rounded to hundredths, so that reading two clocks one after the other does not
/// make the value tremble.
fn timestamp(time: SystemTime) -> f64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    (since.as_secs_f64() * 100.0).round() / 100.0
}

/// Exact up to 2^53 calls in flight.
#[allow(clippy::cast_precision_loss)]
const fn as_f64(count: u64) -> f64 {
    count as f64
}
