//! What an outcome does to a closed circuit: it counts in a row, or in a window.

use crate::policy::Policy;
use crate::reason::Reason;
use crate::rules::ticket::Outcome;
use crate::rules::window::Sums;
use crate::verdict::Verdict;

/// What an outcome does to a closed circuit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Count {
    /// The count stays as it is.
    Keep,
    /// So many failures have now come in a row.
    Failures(u32),
    /// The circuit opens.
    Trip(Reason),
}

/// An outcome meets `failures` earlier ones in a row, or the `sums` of a window in which
/// it is counted itself.
pub(super) fn judge(policy: &Policy, failures: u32, outcome: Outcome, sums: &Sums) -> Count {
    match outcome.verdict {
        Verdict::Ignore => Count::Keep,
        Verdict::OpenFor(_) => Count::Trip(Reason::OpenFor),
        verdict if policy.get_window().is_none() => match policy.get_threshold() {
            Some(threshold) => count(threshold, failures, verdict),
            None => Count::Keep,
        },
        Verdict::Success | Verdict::Failure | Verdict::RetryAfter(_) => {
            sums.judge(policy).map_or(Count::Keep, Count::Trip)
        }
    }
}

/// An outcome meets `failures` earlier failures in a row.
///
/// No time limit: ten failures in ten days open a threshold of ten.
pub(crate) fn count(threshold: u32, failures: u32, verdict: Verdict) -> Count {
    match verdict {
        Verdict::Ignore => Count::Keep,
        Verdict::Success if failures == 0 => Count::Keep,
        Verdict::Success => Count::Failures(0),
        Verdict::OpenFor(_) => Count::Trip(Reason::OpenFor),
        Verdict::Failure | Verdict::RetryAfter(_) => {
            // `>=` and not `==`: a threshold lowered while failures stand counted
            // is judged at the next failure.
            let failures = failures.saturating_add(1);
            if failures >= threshold {
                Count::Trip(Reason::Threshold {
                    failures,
                    threshold,
                })
            } else {
                Count::Failures(failures)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B4, B046
    #[test]
    fn the_circuit_opens_at_the_threshold_and_not_after_it() {
        assert_eq!(count(5, 3, Verdict::Failure), Count::Failures(4));
        assert!(matches!(count(5, 4, Verdict::Failure), Count::Trip(_)));
    }

    /// B1, B6
    #[test]
    fn a_success_resets_and_an_ignored_outcome_does_not() {
        assert_eq!(count(3, 2, Verdict::Success), Count::Failures(0));
        assert_eq!(count(3, 2, Verdict::Ignore), Count::Keep);
    }

    #[test]
    fn a_success_with_nothing_to_reset_writes_nothing() {
        assert_eq!(count(3, 0, Verdict::Success), Count::Keep);
    }

    #[test]
    fn a_threshold_lowered_below_the_count_opens_at_the_next_failure() {
        assert!(matches!(count(2, 4, Verdict::Failure), Count::Trip(_)));
    }
}
