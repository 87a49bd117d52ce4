//! What has been seen here and the others have not been told.

use std::time::Duration;

use crate::rules::Outcome;
use crate::verdict::Verdict;

/// Since the last time that they were told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pending {
    /// Whether a success ended a row of failures. Others are not counted one by one.
    pub(crate) success: bool,
    /// The failures since.
    pub(crate) failures: u32,
    /// Whether calls were slow.
    pub(crate) slow: bool,
    /// What failures ask for.
    pub(crate) at_least: Duration,
    pub(crate) exactly: Option<Duration>,
}

impl Pending {
    pub(crate) fn add(&mut self, outcome: Outcome) {
        self.slow |= outcome.is_slow;
        match outcome.verdict {
            Verdict::Ignore => {}
            Verdict::Success => {
                self.success = true;
                self.failures = 0;
            }
            Verdict::Failure => self.fail(),
            Verdict::RetryAfter(at_least) => {
                self.fail();
                self.at_least = self.at_least.max(at_least);
            }
            Verdict::OpenFor(exactly) => {
                self.fail();
                self.exactly = Some(exactly);
            }
        }
    }

    /// What was to be told before this comes before it.
    pub(crate) fn put_back(&mut self, before: Self) {
        let failures = if self.success {
            self.failures
        } else {
            before.failures.saturating_add(self.failures)
        };
        *self = Self {
            success: self.success || before.success,
            failures,
            slow: self.slow || before.slow,
            at_least: self.at_least.max(before.at_least),
            exactly: self.exactly.or(before.exactly),
        };
    }

    const fn fail(&mut self) {
        self.failures = self.failures.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn outcome(verdict: Verdict) -> Outcome {
        Outcome {
            verdict,
            is_slow: false,
        }
    }

    const FAILURE: Outcome = outcome(Verdict::Failure);
    const SUCCESS: Outcome = outcome(Verdict::Success);

    fn after(outcomes: &[Outcome]) -> Pending {
        let mut pending = Pending::default();
        for outcome in outcomes {
            pending.add(*outcome);
        }
        pending
    }

    #[test]
    fn what_is_told_is_the_failures_since_the_last_success() {
        let pending = after(&[FAILURE, FAILURE, SUCCESS, FAILURE, outcome(Verdict::Ignore)]);
        assert_eq!((pending.success, pending.failures), (true, 1));
        let pending = after(&[FAILURE, FAILURE]);
        assert_eq!((pending.success, pending.failures), (false, 2));
    }

    #[test]
    fn what_could_not_be_told_comes_before_what_came_since() {
        let earlier = after(&[SUCCESS, FAILURE, FAILURE]);
        let mut later = after(&[FAILURE]);
        later.put_back(earlier);
        assert_eq!((later.success, later.failures), (true, 3));
        let mut later = after(&[SUCCESS, FAILURE]);
        later.put_back(earlier);
        assert_eq!((later.success, later.failures), (true, 1));
    }

    #[test]
    fn of_several_failures_that_ask_for_time_the_longest_is_told() {
        let ask = |seconds| outcome(Verdict::RetryAfter(Duration::from_secs(seconds)));
        let pending = after(&[ask(3), ask(9), ask(1)]);
        assert_eq!(pending.at_least, Duration::from_secs(9));
        assert_eq!(pending.failures, 3);
    }
}
