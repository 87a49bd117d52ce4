//! What became of the calls that were to be made again.
//!
//! | name | labels | what |
//! |---|---|---|
//! | `breakerbox_retries_total` | `service`, `result` | calls that were to be made again, by what became of them, see [`Ending`]: each has exactly one |
//! | `breakerbox_retry_attempts_total` | `service` | attempts after the first that began: their delay had passed. Those that the circuit then turned down are among them |
//! | `breakerbox_retry_budget_exhausted_total` | `service` | calls that were not made again since the budget was used up |

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// What became of a call that was to be made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// A later attempt did not ask for another: a success, or an error that is an answer.
    Succeeded,
    /// All attempts were made.
    Exhausted,
    /// The next delay would not have ended within `max_elapsed`, or before a timeout around.
    OutOfTime,
    /// The same, since the service had asked for a wait that is longer than the delay.
    ToldToWait,
    /// The budget of the service was used up.
    OverBudget,
    /// The circuit or another policy turned a later attempt down, or would have.
    Refused,
    /// It was dropped before its end, or panicked, or a timeout around it struck.
    Cancelled,
}

impl Ending {
    pub(crate) const ALL: [Self; 7] = [
        Self::Succeeded,
        Self::Exhausted,
        Self::OutOfTime,
        Self::ToldToWait,
        Self::OverBudget,
        Self::Refused,
        Self::Cancelled,
    ];

    /// The value of the label `result`.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Exhausted => "exhausted",
            Self::OutOfTime => "out_of_time",
            Self::ToldToWait => "told_to_wait",
            Self::OverBudget => "over_budget",
            Self::Refused => "refused",
            Self::Cancelled => "cancelled",
        }
    }
}

/// The counts of one service. Whoever counts is about to wait or has waited, so they need no
/// cells of their own for each thread.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    endings: [AtomicU64; Ending::ALL.len()],
    attempts: AtomicU64,
}

impl Counts {
    pub(super) fn end(&self, ending: Ending) {
        self.endings[ending as usize].fetch_add(1, Relaxed);
    }

    pub(super) fn begin_attempt(&self) {
        self.attempts.fetch_add(1, Relaxed);
    }

    /// The calls that were to be made again, by the label of what became of them.
    pub(crate) fn by_label(&self) -> [(&'static str, u64); Ending::ALL.len()] {
        Ending::ALL.map(|ending| (ending.label(), self.ended(ending)))
    }

    /// The attempts after the first that began.
    pub(crate) fn attempts(&self) -> u64 {
        self.attempts.load(Relaxed)
    }

    /// The calls that were not made again since the budget was used up.
    pub(crate) fn budget_exhausted(&self) -> u64 {
        self.ended(Ending::OverBudget)
    }

    fn ended(&self, ending: Ending) -> u64 {
        self.endings[ending as usize].load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_ending_is_counted_under_its_own_label() {
        let counts = Counts::default();
        for (times, ending) in Ending::ALL.into_iter().enumerate() {
            for _ in 0..times {
                counts.end(ending);
            }
        }
        assert_eq!(
            counts.by_label(),
            [
                ("succeeded", 0),
                ("exhausted", 1),
                ("out_of_time", 2),
                ("told_to_wait", 3),
                ("over_budget", 4),
                ("refused", 5),
                ("cancelled", 6),
            ]
        );
        assert_eq!(counts.budget_exhausted(), 4);
    }
}
