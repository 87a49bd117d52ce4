//! What the connection has done so far, for the metrics.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
#[cfg(any(feature = "metrics", test))]
use std::time::Duration;

use crate::rules::fleet::Command;
use crate::store::StoreError;

/// Counted up, and read whenever somebody wants to publish them.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    commands: [AtomicU64; KINDS],
    dropped: [AtomicU64; REASONS.len()],
    connections: AtomicU64,
    losses: AtomicU64,
    foreign: AtomicU64,
    /// In microseconds.
    lag: AtomicU64,
}

/// The commands as metrics label them.
#[cfg(any(test, feature = "metrics"))]
const OPS: [&str; KINDS] = [
    "sync",
    "flush",
    "acquire",
    "renew",
    "end",
    "force",
    "journal",
    "numbers",
    "heartbeat",
];

/// So many there are.
const KINDS: usize = 9;

/// Where its label lies in `OPS`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    Sync,
    Flush,
    Acquire,
    Renew,
    End,
    Force,
    Journal,
    Numbers,
    Heartbeat,
}

/// Why a command was not done, or is not known to be, as metrics label it.
const REASONS: [&str; 6] = [
    "unavailable",
    "timed_out",
    "late",
    "full",
    "denied",
    "foreign",
];

impl Counts {
    /// Commands that were sent, by the label of each.
    #[cfg(any(test, feature = "metrics"))]
    pub(crate) fn commands(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        with_labels(&OPS, &self.commands)
    }

    /// Commands that came to nothing, by the reason.
    #[cfg(any(test, feature = "metrics"))]
    pub(crate) fn dropped(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        with_labels(&REASONS, &self.dropped)
    }

    /// Connections that came up, the first among them.
    #[cfg(any(test, feature = "metrics"))]
    pub(crate) fn connections(&self) -> u64 {
        self.connections.load(Relaxed)
    }

    /// Connections that came up after the first.
    #[cfg(feature = "metrics")]
    pub(crate) fn reconnects(&self) -> u64 {
        self.connections().saturating_sub(1)
    }

    /// Connections that were up and are lost.
    #[cfg(test)]
    pub(crate) fn losses(&self) -> u64 {
        self.losses.load(Relaxed)
    }

    /// Messages on the channel that are not ours, or of a version to come.
    #[cfg(any(test, feature = "metrics"))]
    pub(crate) fn foreign_messages(&self) -> u64 {
        self.foreign.load(Relaxed)
    }

    /// How long the last message was on its way.
    #[cfg(any(feature = "metrics", test))]
    pub(crate) fn push_lag(&self) -> Duration {
        Duration::from_micros(self.lag.load(Relaxed))
    }

    pub(super) fn sent(&self, command: &Command) {
        self.sent_for(match command {
            Command::Sync => Op::Sync,
            Command::Flush(_) => Op::Flush,
            Command::Acquire { .. } => Op::Acquire,
            Command::Renew { .. } => Op::Renew,
            Command::End { .. } => Op::End,
            Command::Force(_) => Op::Force,
        });
    }

    pub(super) fn sent_for(&self, op: Op) {
        self.commands[op as usize].fetch_add(1, Relaxed);
    }

    pub(super) fn beat(&self) {
        self.sent_for(Op::Heartbeat);
    }

    pub(super) fn dropped_for(&self, error: &StoreError) {
        let reason = REASONS.iter().position(|label| *label == error.label());
        if let Some(reason) = reason {
            self.dropped[reason].fetch_add(1, Relaxed);
        }
    }

    pub(super) fn connected(&self) {
        self.connections.fetch_add(1, Relaxed);
    }

    pub(super) fn lost(&self) {
        self.losses.fetch_add(1, Relaxed);
    }

    pub(super) fn foreign_message(&self) {
        self.foreign.fetch_add(1, Relaxed);
    }

    pub(super) fn lagged(&self, micros: u64) {
        self.lag.store(micros, Relaxed);
    }
}

#[cfg(any(test, feature = "metrics"))]
fn with_labels<'a>(
    labels: &'static [&'static str],
    counts: &'a [AtomicU64],
) -> impl Iterator<Item = (&'static str, u64)> + 'a {
    let counts = counts.iter().map(|count| count.load(Relaxed));
    labels.iter().copied().zip(counts)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn every_error_of_a_store_has_a_reason_that_counts_it() {
        let counts = Counts::default();
        let why: Arc<str> = "why".into();
        for error in [
            StoreError::Unavailable(why.clone()),
            StoreError::TimedOut,
            StoreError::Late,
            StoreError::Full(why.clone()),
            StoreError::Denied(why.clone()),
            StoreError::Foreign(why),
        ] {
            counts.dropped_for(&error);
        }
        assert!(counts.dropped().all(|(_, count)| count == 1));
    }
}
