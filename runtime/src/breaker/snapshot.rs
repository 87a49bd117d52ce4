//! A breaker at one moment, for people and boards.

use std::time::Duration;

use crate::breaker::Breaker;
use crate::cells::Sum;
use crate::cells::Tally;
use crate::policy::Policy;
use crate::reason::Reason;
use crate::state::State;

/// A breaker at one moment. Taking it changes nothing.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Snapshot {
    /// The service.
    pub service: &'static str,
    /// Where the circuit stands.
    pub state: State,
    /// Rises by one with each transition.
    pub generation: u64,
    /// The failures in a row, while the circuit is closed.
    pub consecutive_failures: u32,
    /// Why it opened last, if it is not closed.
    pub reason: Option<Reason>,
    /// The text of the failure that opened the circuit last, as far as it has one, which
    /// the errors of guarded functions have that can be shown. At most 256 bytes.
    pub last_failure: Option<String>,
    /// How long until a call is admitted, while it is open; zero once the cooldown
    /// has passed and nobody has come.
    pub retry_after: Option<Duration>,
    /// The calls so far, by outcome.
    pub calls: Calls,
    /// The calls admitted and not ended.
    pub in_flight: u64,
    /// The numbers in force.
    pub policy: Policy,
}

/// Calls by outcome. Each call has exactly one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Calls {
    /// The service answered.
    pub success: u64,
    /// The service failed.
    pub failure: u64,
    /// The service answered, too slowly. Always 0 while no breaker has a rule for that.
    pub slow_success: u64,
    /// The service failed, too slowly. Always 0 while no breaker has a rule for that.
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
            ("success", self.success),
            ("failure", self.failure),
            ("slow_success", self.slow_success),
            ("slow_failure", self.slow_failure),
            ("ignored", self.ignored),
            ("rejected", self.rejected),
            ("cancelled", self.cancelled),
            ("panicked", self.panicked),
            ("late", self.late),
        ]
        .into_iter()
    }

    /// The calls that were made and have ended.
    fn ended(&self) -> u64 {
        self.by_label().map(|(_, n)| n).sum::<u64>() - self.rejected
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

impl Breaker {
    /// The breaker at this moment.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let (word, opening) = self.gate.view();
        let state = word.state();
        let sum = self.counts();
        let calls = Calls::from(sum);
        Snapshot {
            service: self.name,
            state,
            generation: word.generation(),
            consecutive_failures: word.count(),
            reason: (state != State::Closed).then_some(opening.reason),
            last_failure: self.last_failure.get(),
            retry_after: (state == State::Open).then(|| opening.until.since(self.host.clock.now())),
            calls,
            // The sum is taken while calls begin and end, so the difference may
            // come out short for a moment, but never below nothing.
            in_flight: sum.get(Tally::Admitted).saturating_sub(calls.ended()),
            policy: self.policy(),
        }
    }
}
