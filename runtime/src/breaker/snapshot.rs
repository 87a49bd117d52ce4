//! A breaker at one moment, for people and boards.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
#[cfg(feature = "metrics")]
use std::time::SystemTime;

use crate::breaker::Breaker;
use crate::cells::Sum;
use crate::cells::Tally;
use crate::clock::Tick;
use crate::event::By;
#[cfg(feature = "redis")]
use crate::member::Member;
use crate::policy::Policy;
use crate::reason::Reason;
use crate::rules::Circuit;
use crate::rules::Mode;
use crate::rules::Sums;
use crate::settings::Setting;
#[cfg(feature = "redis")]
use crate::sharing::Sharing;
use crate::state::State;

/// A breaker at one moment. Taking it changes nothing.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Snapshot {
    /// The service.
    pub service: &'static str,
    /// The key, where the service has a breaker for each. Calls are counted for all keys
    /// together.
    pub key: Option<Arc<str>>,
    /// How many keys have a breaker.
    pub keys: u64,
    /// Of the keys, those that do not admit all calls.
    pub open_keys: u64,
    /// Where the circuit stands.
    pub state: State,
    /// What the rules have made of it, also where somebody has forced it.
    pub beneath: State,
    /// Who has forced it, why, and for how long yet.
    pub forced: Option<Forced>,
    /// Rises with each transition, and where the window is emptied without one.
    pub generation: u64,
    /// The failures in a row, while the circuit is closed and has no window.
    pub consecutive_failures: u32,
    /// What the window holds, while the circuit is closed and has one; while it is open,
    /// what it held when it opened.
    pub window: Option<InWindow>,
    /// The share of failures in the window; none where it is no rule, below `min_calls` and
    /// in half-open. While the circuit is open, the one at which it opened.
    pub failure_rate: Option<f64>,
    /// The share of slow calls in the window, in the same way.
    pub slow_call_rate: Option<f64>,
    /// How often it has opened since it closed last, or since its last ramp ended.
    pub trips: u32,
    /// Why it opened last, if it is not closed.
    pub reason: Option<Reason>,
    /// The text of the failure that opened the circuit last, or a circuit of one of the keys
    /// of the service. None where that had no text: errors of guarded functions have one that
    /// can be shown, panics and calls that hang have none. At most 256 bytes.
    pub last_failure: Option<String>,
    /// How long until a call is admitted, while it is open; zero once the cooldown
    /// has passed and nobody has come.
    pub retry_after: Option<Duration>,
    /// The calls so far, by outcome.
    pub calls: Calls,
    /// The calls that shadow let through and that would have been rejected.
    pub would_reject: u64,
    /// The calls admitted and not ended.
    pub in_flight: u64,
    /// The numbers in force.
    pub policy: Policy,
    /// The same key by key, each with the place it comes from.
    pub configuration: Arc<[Setting]>,
    /// How the circuit is shared with other processes; none where it is not.
    #[cfg(feature = "redis")]
    pub sharing: Option<Sharing>,
}

/// What a window holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct InWindow {
    /// The calls that ended in it and said something about the service.
    pub calls: u64,
    /// Those of them that failed.
    pub failures: u64,
    /// Those of them that were slow.
    pub slow: u64,
    /// The calls that have not ended and are older than `slow_call`.
    pub hung: u64,
}

/// An override that lasts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Forced {
    /// Who wants it, and why.
    pub by: By,
    /// How long yet.
    pub left: Duration,
}

/// Calls by outcome. Each call has exactly one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Calls {
    /// The service answered.
    pub success: u64,
    /// The service failed.
    pub failure: u64,
    /// The service answered, too slowly: 0 without `slow_call`.
    pub slow_success: u64,
    /// The service failed, too slowly: 0 without `slow_call`.
    pub slow_failure: u64,
    /// The outcome said nothing.
    pub ignored: u64,
    /// The call was not made.
    pub rejected: u64,
    /// The caller dropped the call, also where that counted as a failure.
    pub cancelled: u64,
    /// The call panicked, which counts as a failure.
    pub panicked: u64,
    /// The circuit had moved when the call ended, so it decided nothing.
    pub late: u64,
}

impl Calls {
    /// The outcomes as metrics label them, with their counts.
    pub fn by_label(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        [
            (Tally::Success, self.success),
            (Tally::Failure, self.failure),
            (Tally::SlowSuccess, self.slow_success),
            (Tally::SlowFailure, self.slow_failure),
            (Tally::Ignored, self.ignored),
            (Tally::Rejected, self.rejected),
            (Tally::Cancelled, self.cancelled),
            (Tally::Panicked, self.panicked),
            (Tally::Late, self.late),
        ]
        .into_iter()
        .map(|(tally, calls)| (tally.label(), calls))
    }
}

impl From<Sum> for Calls {
    fn from(sum: Sum) -> Self {
        Self {
            success: sum.get(Tally::Success),
            failure: sum.get(Tally::Failure),
            slow_success: sum.get(Tally::SlowSuccess),
            slow_failure: sum.get(Tally::SlowFailure),
            ignored: sum.get(Tally::Ignored),
            rejected: sum.get(Tally::Rejected),
            cancelled: sum.get(Tally::Cancelled),
            panicked: sum.get(Tally::Panicked),
            late: sum.get(Tally::Late),
        }
    }
}

impl From<Sums> for InWindow {
    fn from(sums: Sums) -> Self {
        Self {
            calls: sums.calls,
            failures: sums.failures,
            slow: sums.slow,
            hung: sums.hung,
        }
    }
}

impl Breaker {
    /// The breaker at this moment.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let now = self.service.host.clock.now();
        let policy = self.policy();
        let (circuit, sums) = self.peek(now);
        let state = circuit.state();
        let beneath = circuit.beneath();
        let sums = match &circuit.mode {
            Mode::Closed(_) => Some(sums),
            Mode::Open(opening) => Some(opening.sums),
            Mode::HalfOpen(_) => None,
        };
        let consecutive_failures = match &circuit.mode {
            Mode::Closed(closed) => closed.failures,
            Mode::Open(_) | Mode::HalfOpen(_) => 0,
        };
        let retry_after = match (&circuit.mode, state) {
            (Mode::Open(opening), State::Open) => Some(opening.until.since(now)),
            _ => None,
        };
        let counts = self.service.counts();
        Snapshot {
            service: self.service.name,
            key: self.key.clone(),
            keys: self.service.all_keys().len() as u64,
            open_keys: self.service.open_keys(),
            state,
            beneath,
            forced: self.forced(&circuit, now),
            generation: circuit.generation,
            consecutive_failures,
            window: policy.get_window().and(sums).map(InWindow::from),
            failure_rate: sums.and_then(|sums| sums.failure_rate(&policy)),
            slow_call_rate: sums.and_then(|sums| sums.slow_call_rate(&policy)),
            trips: circuit.trips,
            reason: circuit.opened_by.filter(|_| beneath != State::Closed),
            last_failure: self.service.last_failure.get(),
            retry_after,
            calls: Calls::from(counts),
            would_reject: self.service.would_reject.load(Relaxed),
            // The sum is taken while calls begin and end, so the difference may
            // come out short for a moment, but never below nothing.
            in_flight: counts.get(Tally::Admitted).saturating_sub(counts.ended()),
            policy,
            configuration: self.service.configured.settings(self.service.name),
            #[cfg(feature = "redis")]
            sharing: self.member().map(Member::sharing),
        }
    }

    fn forced(&self, circuit: &Circuit, now: Tick) -> Option<Forced> {
        let until = circuit.overlay.as_ref()?.until()?;
        Some(Forced {
            by: self.by()?,
            left: until.since(now),
        })
    }

    /// The state and, where the circuit is open or forced open, when that ends.
    #[cfg(feature = "metrics")]
    pub(crate) fn state_and_end(&self) -> (State, Option<SystemTime>) {
        let now = self.service.host.clock.now();
        let (circuit, _) = self.peek(now);
        let until = match (circuit.state(), &circuit.mode) {
            (State::Open, Mode::Open(opening)) => Some(opening.until),
            (State::ForcedOpen, _) => circuit.overlay.as_ref().and_then(|it| it.until()),
            _ => None,
        };
        let end = until.map(|until| {
            let wall = SystemTime::now();
            // The end of time is beyond what some systems can tell.
            wall.checked_add(until.since(now))
                .and_then(|end| end.checked_sub(now.since(until)))
                .unwrap_or(wall)
        });
        (circuit.state(), end)
    }
}
