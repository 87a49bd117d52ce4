//! What an outcome has to bring along.

use crate::policy::Policy;
use crate::verdict::Verdict;

/// Leave to make one call: the generation it belongs to and, for a probe, its place
/// in the round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) generation: u64,
    pub(crate) place: u32,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) verdict: Verdict,
    /// Whether it took longer than `slow_call`.
    pub(crate) is_slow: bool,
}

impl Ticket {
    /// The place of a call that a probe makes itself: none. It is the largest that a word
    /// can hold, and no list of probes is that long.
    pub(crate) const RIDING: u32 = Policy::MAX_THRESHOLD;

    /// The place of a call without a vote, which only an override let through.
    pub(crate) const NO_VOTE: u32 = Self::RIDING - 1;
}

impl Outcome {
    /// Whether it says something about the service, and so is counted.
    pub(crate) const fn is_recorded(self) -> bool {
        !matches!(self.verdict, Verdict::Ignore)
    }

    pub(crate) const fn is_failure(self) -> bool {
        match self.verdict {
            Verdict::Failure | Verdict::RetryAfter(_) | Verdict::OpenFor(_) => true,
            Verdict::Success | Verdict::Ignore => false,
        }
    }
}
