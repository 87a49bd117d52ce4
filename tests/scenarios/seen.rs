//! What can be seen of a breaker, in a form that a breaker and the naive law share.

use std::time::Duration;

use breakerbox::Event;
use breakerbox::Forced;
use breakerbox::Reason;
use breakerbox::Rejected;
use breakerbox::RejectedKind;
use breakerbox::Snapshot;
use breakerbox::State;

/// A call that was not made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Refused {
    pub(crate) kind: RejectedKind,
    pub(crate) left: Option<Duration>,
    pub(crate) why: Option<Reason>,
}

/// A breaker at one moment: all that a snapshot says of the law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct View {
    pub(crate) state: State,
    pub(crate) beneath: State,
    /// What is left of an override.
    pub(crate) forced: Option<Duration>,
    pub(crate) generation: u64,
    pub(crate) count: u64,
    pub(crate) window: Option<Held>,
    pub(crate) failure_rate: Option<f64>,
    pub(crate) slow_call_rate: Option<f64>,
    pub(crate) trips: u64,
    pub(crate) why: Option<Reason>,
    pub(crate) left: Option<Duration>,
    pub(crate) calls: Counts,
    pub(crate) would_reject: u64,
    pub(crate) in_flight: u64,
}

/// What a window holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) calls: u64,
    pub(crate) failures: u64,
    pub(crate) slow: u64,
    pub(crate) hung: u64,
}

/// Calls by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) success: u64,
    pub(crate) failure: u64,
    pub(crate) slow_success: u64,
    pub(crate) slow_failure: u64,
    pub(crate) ignored: u64,
    pub(crate) rejected: u64,
    pub(crate) cancelled: u64,
    pub(crate) panicked: u64,
    pub(crate) late: u64,
}

/// What listeners are told of a circuit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Told {
    Moved {
        from: State,
        to: State,
        why: Reason,
        /// How long it is open now, or forced.
        lasts: Option<Duration>,
        generation: u64,
    },
    WouldOpen {
        why: Reason,
        lasts: Duration,
    },
}

impl From<Rejected> for Refused {
    fn from(rejected: Rejected) -> Self {
        Self {
            kind: rejected.kind(),
            left: rejected.retry_after(),
            why: rejected.reason(),
        }
    }
}

impl From<Snapshot> for View {
    fn from(seen: Snapshot) -> Self {
        let calls = seen.calls;
        Self {
            state: seen.state,
            beneath: seen.beneath,
            forced: seen.forced.map(|Forced { left, .. }| left),
            generation: seen.generation,
            count: seen.consecutive_failures.into(),
            window: seen.window.map(|it| Held {
                calls: it.calls,
                failures: it.failures,
                slow: it.slow,
                hung: it.hung,
            }),
            failure_rate: seen.failure_rate,
            slow_call_rate: seen.slow_call_rate,
            trips: seen.trips.into(),
            why: seen.reason,
            left: seen.retry_after,
            calls: Counts {
                success: calls.success,
                failure: calls.failure,
                slow_success: calls.slow_success,
                slow_failure: calls.slow_failure,
                ignored: calls.ignored,
                rejected: calls.rejected,
                cancelled: calls.cancelled,
                panicked: calls.panicked,
                late: calls.late,
            },
            would_reject: seen.would_reject,
            in_flight: seen.in_flight,
        }
    }
}

impl View {
    /// A number by the word of the notation, or by the label of an outcome.
    pub(crate) fn number(&self, what: &str) -> Option<u64> {
        let window = self.window;
        Some(match what {
            "count" => self.count,
            "moves" => self.generation,
            "in-flight" => self.in_flight,
            "trips" => self.trips,
            "would-reject" => self.would_reject,
            "calls" => window?.calls,
            "failures" => window?.failures,
            "slow" => window?.slow,
            "hung" => window?.hung,
            "success" => self.calls.success,
            "failure" => self.calls.failure,
            "slow_success" => self.calls.slow_success,
            "slow_failure" => self.calls.slow_failure,
            "ignored" => self.calls.ignored,
            "rejected" => self.calls.rejected,
            "cancelled" => self.calls.cancelled,
            "panicked" => self.calls.panicked,
            "late" => self.calls.late,
            _ => return None,
        })
    }
}

impl Told {
    /// What an event says of a circuit, if it is about one.
    pub(crate) fn of(event: &Event) -> Option<Self> {
        match event {
            Event::Transition(it) => Some(Self::Moved {
                from: it.from,
                to: it.to,
                why: it.reason,
                lasts: it.open_for,
                generation: it.generation,
            }),
            Event::WouldOpen(it) => Some(Self::WouldOpen {
                why: it.reason,
                lasts: it.open_for,
            }),
            _ => None,
        }
    }
}
