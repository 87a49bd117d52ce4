//! The rule that moved a circuit, and the numbers it decided on.

use std::fmt;

use crate::state::State;

/// The rule that moved a circuit from one state to the next, with the numbers it
/// decided on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// So many failures came in a row.
    Threshold {
        /// The failures counted, the last one included.
        failures: u32,
        /// The number at which the circuit opens.
        threshold: u32,
    },
    /// A call answered with [`Verdict::OpenFor`](crate::Verdict::OpenFor).
    OpenFor,
    /// The cooldown had passed when a call came, which became the first probe.
    CooldownOver,
    /// Enough probes succeeded.
    ProbesSucceeded {
        /// The successes of the round.
        successes: u32,
    },
    /// A probe failed.
    ProbeFailed,
    /// Probes were older than `probe_timeout` and gave no answer.
    ProbesHung {
        /// How many.
        hung: u32,
    },
}

impl Reason {
    /// The reason as metrics label it.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Threshold { .. } => "threshold",
            Self::OpenFor => "open_for",
            Self::CooldownOver => "cooldown",
            Self::ProbesSucceeded { .. } => "probes_succeeded",
            Self::ProbeFailed => "probe_failed",
            Self::ProbesHung { .. } => "probes_hung",
        }
    }

    /// Every way in which a circuit can move.
    pub(crate) const MOVES: [(State, State, &'static str); 7] = [
        (State::Closed, State::Open, "threshold"),
        (State::Closed, State::Open, "open_for"),
        (State::Open, State::HalfOpen, "cooldown"),
        (State::HalfOpen, State::Closed, "probes_succeeded"),
        (State::HalfOpen, State::Open, "probe_failed"),
        (State::HalfOpen, State::Open, "probes_hung"),
        (State::HalfOpen, State::Open, "open_for"),
    ];

    /// The index in [`MOVES`](Self::MOVES) of a move out of `from`.
    pub(crate) const fn index(self, from: State) -> usize {
        match (self, from) {
            (Self::Threshold { .. }, _) => 0,
            (Self::OpenFor, State::Closed) => 1,
            (Self::CooldownOver, _) => 2,
            (Self::ProbesSucceeded { .. }, _) => 3,
            (Self::ProbeFailed, _) => 4,
            (Self::ProbesHung { .. }, _) => 5,
            (Self::OpenFor, _) => 6,
        }
    }

    /// The reason in one word, so that a rejection can read it without a lock:
    /// eight bits of kind and two numbers of 28 bits.
    pub(crate) const fn pack(self) -> u64 {
        let (kind, a, b) = match self {
            Self::Threshold {
                failures,
                threshold,
            } => (0, failures, threshold),
            Self::OpenFor => (1, 0, 0),
            Self::CooldownOver => (2, 0, 0),
            Self::ProbesSucceeded { successes } => (3, successes, 0),
            Self::ProbeFailed => (4, 0, 0),
            Self::ProbesHung { hung } => (5, hung, 0),
        };
        kind << 56 | (a as u64 & FIELD) << 28 | (b as u64 & FIELD)
    }

    pub(crate) const fn unpack(word: u64) -> Self {
        let a = (word >> 28 & FIELD) as u32;
        let b = (word & FIELD) as u32;
        match word >> 56 {
            0 => Self::Threshold {
                failures: a,
                threshold: b,
            },
            1 => Self::OpenFor,
            2 => Self::CooldownOver,
            3 => Self::ProbesSucceeded { successes: a },
            4 => Self::ProbeFailed,
            _ => Self::ProbesHung { hung: a },
        }
    }
}

const FIELD: u64 = (1 << 28) - 1;

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Threshold {
                failures,
                threshold,
            } => {
                let plural = if *failures == 1 { "" } else { "s" };
                write!(
                    f,
                    "{failures} failure{plural} in a row (threshold {threshold})"
                )
            }
            Self::OpenFor => f.write_str("an answer that asked for it"),
            Self::CooldownOver => f.write_str("the cooldown being over"),
            Self::ProbesSucceeded { successes: 1 } => f.write_str("a successful probe"),
            Self::ProbesSucceeded { successes } => write!(f, "{successes} successful probes"),
            Self::ProbeFailed => f.write_str("a failed probe"),
            Self::ProbesHung { hung } => write!(f, "{hung} probes without an answer"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_survives_its_word() {
        for reason in [
            Reason::Threshold {
                failures: 7,
                threshold: 524_287,
            },
            Reason::OpenFor,
            Reason::CooldownOver,
            Reason::ProbesSucceeded { successes: 3 },
            Reason::ProbeFailed,
            Reason::ProbesHung { hung: 2 },
        ] {
            assert_eq!(Reason::unpack(reason.pack()), reason);
            assert!(
                Reason::MOVES
                    .iter()
                    .any(|(_, _, label)| *label == reason.label())
            );
        }
    }
}
