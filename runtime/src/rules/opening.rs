//! How long an opening lasts.

use crate::clock::Tick;
use crate::policy::Policy;
use crate::reason::Reason;
use crate::verdict::Verdict;

/// One opening: until when, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opening {
    /// The first instant at which a call is admitted again.
    pub(crate) until: Tick,
    pub(crate) reason: Reason,
}

impl Opening {
    /// The opening that begins at `now`, because of `verdict`.
    pub(crate) fn begin(policy: &Policy, verdict: Verdict, reason: Reason, now: Tick) -> Self {
        let cooldown = policy.get_cooldown();
        let longest = policy.get_max_open_for();
        let length = match verdict {
            Verdict::OpenFor(exactly) => exactly.min(longest),
            Verdict::RetryAfter(at_least) => cooldown.max(at_least.min(longest)),
            Verdict::Success | Verdict::Failure | Verdict::Ignore => cooldown,
        };
        Self {
            until: now + length,
            reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn length(verdict: Verdict) -> Duration {
        let policy = Policy::new()
            .cooldown(5 * SECOND)
            .max_open_for(200 * SECOND);
        let now = Tick(7);
        Opening::begin(&policy, verdict, Reason::ProbeFailed, now)
            .until
            .since(now)
    }

    /// E11
    #[test]
    fn a_verdict_can_ask_for_a_longer_opening_up_to_the_cap() {
        assert_eq!(length(Verdict::Failure), 5 * SECOND);
        assert_eq!(length(Verdict::RetryAfter(SECOND)), 5 * SECOND);
        assert_eq!(length(Verdict::RetryAfter(120 * SECOND)), 120 * SECOND);
        assert_eq!(length(Verdict::RetryAfter(999 * SECOND)), 200 * SECOND);
        assert_eq!(length(Verdict::OpenFor(SECOND)), SECOND);
        assert_eq!(length(Verdict::OpenFor(999 * SECOND)), 200 * SECOND);
    }

    /// K11, B066
    #[test]
    fn the_longest_cooldown_does_not_overflow() {
        let policy = Policy::new().cooldown(Duration::MAX);
        let opening = Opening::begin(&policy, Verdict::Failure, Reason::ProbeFailed, Tick(7));
        assert_eq!(opening.until, Tick(u64::MAX));
    }
}
