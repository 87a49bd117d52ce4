//! The metrics of the store that processes share their circuits through.

use metrics::counter;
use metrics::describe_counter;
use metrics::describe_gauge;
use metrics::gauge;

use crate::breaker::Breaker;
use crate::fleet::Fleet;

/// All of them, also at zero.
pub(crate) fn publish(fleet: &Fleet, breakers: &[&Breaker]) {
    gauge!("breakerbox_store_up").set(f64::from(fleet.is_up()));
    for breaker in breakers {
        if let Some(member) = breaker.member() {
            let differs = !member.differences().is_empty();
            gauge!("breakerbox_config_mismatch", "service" => breaker.name())
                .set(f64::from(differs));
        }
    }
    // A store in memory has no connection to tell of.
    let Some(counts) = fleet.counts() else {
        return;
    };
    for (op, count) in counts.commands() {
        counter!("breakerbox_store_commands_total", "op" => op).absolute(count);
    }
    for (reason, count) in counts.dropped() {
        counter!("breakerbox_store_dropped_total", "reason" => reason).absolute(count);
    }
    gauge!("breakerbox_store_push_lag_seconds").set(counts.push_lag().as_secs_f64());
    counter!("breakerbox_store_reconnects_total").absolute(counts.reconnects());
    counter!("breakerbox_store_foreign_messages_total").absolute(counts.foreign_messages());
}

/// Says what the metrics mean.
pub(crate) fn describe() {
    describe_gauge!(
        "breakerbox_store_up",
        "1 while the store is reached, 0 while it is lost. It may refuse some circuit all the same."
    );
    describe_gauge!(
        "breakerbox_config_mismatch",
        "1 while processes that share the circuit go by different numbers, as during a rollout."
    );
    describe_counter!(
        "breakerbox_store_commands_total",
        "Commands that this process has sent to the store."
    );
    describe_counter!(
        "breakerbox_store_dropped_total",
        "Commands that were not done, or of which that is not known, and why."
    );
    describe_gauge!(
        "breakerbox_store_push_lag_seconds",
        "How long the last message was on its way from the store."
    );
    describe_counter!(
        "breakerbox_store_reconnects_total",
        "How often the store was reached again after it was lost."
    );
    describe_counter!(
        "breakerbox_store_foreign_messages_total",
        "Messages on the channel that were no messages, or of a version to come."
    );
}
