//! The rule that moved a circuit, and the numbers it decided on.

use std::fmt;

use crate::state::State;

/// The rule that moved a circuit from one state to the next, with the numbers it
/// decided on.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// So many failures came in a row.
    Threshold {
        /// The failures counted, the last one included.
        failures: u32,
        /// The number at which the circuit opens.
        threshold: u32,
    },
    /// The window held so many failures.
    FailuresInWindow {
        /// The failures in it, the last one included.
        failures: u32,
        /// The number at which the circuit opens.
        threshold: u32,
    },
    /// Too large a share of the calls in the window failed.
    FailureRate {
        /// The failures in the window.
        failures: u32,
        /// The calls in the window.
        calls: u32,
        /// The share at which the circuit opens.
        limit: f64,
    },
    /// Too large a share of the calls in the window was slow.
    SlowCallRate {
        /// The slow calls in the window, and those that hang.
        slow: u32,
        /// The calls in the window, and those that hang.
        calls: u32,
        /// The share at which the circuit opens.
        limit: f64,
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
    /// A probe succeeded, but took longer than `slow_call`.
    ProbeSlow,
    /// Too large a share of the probes failed.
    ProbeFailureRate {
        /// The probes that failed.
        failed: u32,
        /// The probes of the round.
        probes: u32,
        /// The share at which the circuit opens again.
        limit: f64,
    },
    /// Probes were older than `probe_timeout` and gave no answer.
    ProbesHung {
        /// How many.
        hung: u32,
    },
    /// Somebody forced the circuit.
    Override,
    /// What somebody had forced is over.
    OverrideEnded,
    /// Somebody reset the circuit.
    Reset,
    /// The processes that share the circuit had moved it while this one did not hear of it.
    Shared,
}

/// One way in which a circuit can move, and why.
pub(crate) type Move = (State, State, &'static str);

/// Every way in which a circuit can move.
pub(crate) const MOVES: [Move; WAYS] = all_moves();

/// How many those are. It stands in a type, and so is worked out without a function: the
/// compiler would need that type to look at the function.
pub(crate) const WAYS: usize =
    BY_RULE.len() + BY_HAND.len() + BY_OTHERS.len() + FORCED.len() * State::ALL.len();

const FORCED: [State; 3] = [State::ForcedOpen, State::ForcedClosed, State::Shadow];

const BY_RULE: [Move; 12] = [
    (State::Closed, State::Open, "threshold"),
    (State::Closed, State::Open, "threshold_in_window"),
    (State::Closed, State::Open, "failure_rate"),
    (State::Closed, State::Open, "slow_call_rate"),
    (State::Closed, State::Open, "open_for"),
    (State::Open, State::HalfOpen, "cooldown"),
    (State::HalfOpen, State::Closed, "probes_succeeded"),
    (State::HalfOpen, State::Open, "probe_failed"),
    (State::HalfOpen, State::Open, "probe_slow"),
    (State::HalfOpen, State::Open, "probe_failure_rate"),
    (State::HalfOpen, State::Open, "probes_hung"),
    (State::HalfOpen, State::Open, "open_for"),
];

/// Besides those into a forced state, which can be entered from every state.
const BY_HAND: [Move; 10] = [
    (State::Open, State::Closed, "reset"),
    (State::HalfOpen, State::Closed, "reset"),
    (State::ForcedOpen, State::Closed, "override_ended"),
    (State::ForcedOpen, State::Open, "override_ended"),
    (State::ForcedOpen, State::HalfOpen, "override_ended"),
    (State::ForcedOpen, State::Shadow, "override_ended"),
    (State::ForcedClosed, State::Closed, "override_ended"),
    (State::ForcedClosed, State::Shadow, "override_ended"),
    (State::Shadow, State::Closed, "override_ended"),
    // The shadow that somebody has laid over a policy's own.
    (State::Shadow, State::Shadow, "override_ended"),
];

/// Those of a circuit that several processes share, which one of them has not seen happen.
#[cfg(feature = "redis")]
const BY_OTHERS: [Move; 6] = [
    (State::Closed, State::Open, "shared"),
    (State::Closed, State::HalfOpen, "shared"),
    (State::Open, State::HalfOpen, "shared"),
    (State::Open, State::Closed, "shared"),
    (State::HalfOpen, State::Open, "shared"),
    (State::HalfOpen, State::Closed, "shared"),
];
#[cfg(not(feature = "redis"))]
const BY_OTHERS: [Move; 0] = [];

const fn all_moves() -> [Move; WAYS] {
    let mut all = [BY_RULE[0]; WAYS];
    let mut at = 0;
    while at < all.len() {
        all[at] = if at < BY_RULE.len() {
            BY_RULE[at]
        } else if at < BY_RULE.len() + BY_HAND.len() {
            BY_HAND[at - BY_RULE.len()]
        } else if at < BY_RULE.len() + BY_HAND.len() + BY_OTHERS.len() {
            BY_OTHERS[at - BY_RULE.len() - BY_HAND.len()]
        } else {
            let at = at - BY_RULE.len() - BY_HAND.len() - BY_OTHERS.len();
            let from = State::ALL[at / FORCED.len()];
            (from, FORCED[at % FORCED.len()], "override")
        };
        at += 1;
    }
    all
}

/// The index of a move in [`MOVES`].
pub(crate) fn index_of(from: State, to: State, reason: Reason) -> Option<usize> {
    let sought = (from, to, reason.label());
    MOVES.iter().position(|known| *known == sought)
}

impl Reason {
    /// How many kinds there are.
    #[cfg(all(test, feature = "redis"))]
    pub(crate) const KINDS: usize = 14;

    /// The reason as metrics label it.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Threshold { .. } => "threshold",
            Self::FailuresInWindow { .. } => "threshold_in_window",
            Self::FailureRate { .. } => "failure_rate",
            Self::SlowCallRate { .. } => "slow_call_rate",
            Self::OpenFor => "open_for",
            Self::CooldownOver => "cooldown",
            Self::ProbesSucceeded { .. } => "probes_succeeded",
            Self::ProbeFailed => "probe_failed",
            Self::ProbeSlow => "probe_slow",
            Self::ProbeFailureRate { .. } => "probe_failure_rate",
            Self::ProbesHung { .. } => "probes_hung",
            Self::Override => "override",
            Self::OverrideEnded => "override_ended",
            Self::Reset => "reset",
            Self::Shared => "shared",
        }
    }
}
/// A reason in two words, so that it can be kept in atomics and read without a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packed {
    /// Eight bits of kind, and two numbers of 28 bits.
    pub(crate) numbers: u64,
    /// The bits of a rate.
    pub(crate) limit: u64,
}

const FIELD: u32 = (1 << 28) - 1;

impl Packed {
    pub(crate) const NONE: Self = Self {
        numbers: u64::MAX,
        limit: 0,
    };

    const fn new(kind: u64, a: u32, b: u32, limit: f64) -> Self {
        // Counts beyond are rounded down to what 28 bits hold.
        let a = if a > FIELD { FIELD } else { a };
        let b = if b > FIELD { FIELD } else { b };
        Self {
            numbers: kind << 56 | (a as u64) << 28 | b as u64,
            limit: limit.to_bits(),
        }
    }

    pub(crate) const fn unpack(self) -> Option<Reason> {
        let a = (self.numbers >> 28) as u32 & FIELD;
        let b = self.numbers as u32 & FIELD;
        let limit = f64::from_bits(self.limit);
        Some(match self.numbers >> 56 {
            0 => Reason::Threshold {
                failures: a,
                threshold: b,
            },
            1 => Reason::FailuresInWindow {
                failures: a,
                threshold: b,
            },
            2 => Reason::FailureRate {
                failures: a,
                calls: b,
                limit,
            },
            3 => Reason::SlowCallRate {
                slow: a,
                calls: b,
                limit,
            },
            4 => Reason::OpenFor,
            5 => Reason::CooldownOver,
            6 => Reason::ProbesSucceeded { successes: a },
            7 => Reason::ProbeFailed,
            8 => Reason::ProbeSlow,
            9 => Reason::ProbeFailureRate {
                failed: a,
                probes: b,
                limit,
            },
            10 => Reason::ProbesHung { hung: a },
            11 => Reason::Override,
            12 => Reason::OverrideEnded,
            13 => Reason::Reset,
            14 => Reason::Shared,
            _ => return None,
        })
    }
}

impl Reason {
    pub(crate) const fn pack(self) -> Packed {
        match self {
            Self::Threshold {
                failures,
                threshold,
            } => Packed::new(0, failures, threshold, 0.0),
            Self::FailuresInWindow {
                failures,
                threshold,
            } => Packed::new(1, failures, threshold, 0.0),
            Self::FailureRate {
                failures,
                calls,
                limit,
            } => Packed::new(2, failures, calls, limit),
            Self::SlowCallRate { slow, calls, limit } => Packed::new(3, slow, calls, limit),
            Self::OpenFor => Packed::new(4, 0, 0, 0.0),
            Self::CooldownOver => Packed::new(5, 0, 0, 0.0),
            Self::ProbesSucceeded { successes } => Packed::new(6, successes, 0, 0.0),
            Self::ProbeFailed => Packed::new(7, 0, 0, 0.0),
            Self::ProbeSlow => Packed::new(8, 0, 0, 0.0),
            Self::ProbeFailureRate {
                failed,
                probes,
                limit,
            } => Packed::new(9, failed, probes, limit),
            Self::ProbesHung { hung } => Packed::new(10, hung, 0, 0.0),
            Self::Override => Packed::new(11, 0, 0, 0.0),
            Self::OverrideEnded => Packed::new(12, 0, 0, 0.0),
            Self::Reset => Packed::new(13, 0, 0, 0.0),
            Self::Shared => Packed::new(14, 0, 0, 0.0),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Threshold {
                failures,
                threshold,
            } => {
                let plural = if failures == 1 { "" } else { "s" };
                write!(
                    f,
                    "{failures} failure{plural} in a row (threshold {threshold})"
                )
            }
            Self::FailuresInWindow {
                failures,
                threshold,
            } => {
                let plural = if failures == 1 { "" } else { "s" };
                write!(
                    f,
                    "{failures} failure{plural} in the window (threshold {threshold})"
                )
            }
            Self::FailureRate {
                failures,
                calls,
                limit,
            } => write!(
                f,
                "{failures} failures in {calls} calls (failure rate {limit})"
            ),
            Self::SlowCallRate { slow, calls, limit } => write!(
                f,
                "{slow} slow calls in {calls} calls (slow call rate {limit})"
            ),
            Self::OpenFor => f.write_str("an answer that asked for it"),
            Self::CooldownOver => f.write_str("the cooldown being over"),
            Self::ProbesSucceeded { successes: 1 } => f.write_str("a successful probe"),
            Self::ProbesSucceeded { successes } => write!(f, "{successes} successful probes"),
            Self::ProbeFailed => f.write_str("a failed probe"),
            Self::ProbeSlow => f.write_str("a slow probe"),
            Self::ProbeFailureRate {
                failed,
                probes,
                limit,
            } => write!(
                f,
                "{failed} failed probes of {probes} (probe failure rate {limit})"
            ),
            Self::ProbesHung { hung } => write!(f, "{hung} probes without an answer"),
            Self::Override => f.write_str("somebody forcing it"),
            Self::OverrideEnded => f.write_str("the end of what somebody had forced"),
            Self::Reset => f.write_str("somebody resetting it"),
            Self::Shared => f.write_str("what other processes had seen"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_survives_its_words() {
        let limit = 0.1;
        for reason in [
            Reason::Threshold {
                failures: 7,
                threshold: 524_287,
            },
            Reason::FailuresInWindow {
                failures: 7,
                threshold: 5,
            },
            Reason::FailureRate {
                failures: 7,
                calls: 70,
                limit,
            },
            Reason::SlowCallRate {
                slow: 7,
                calls: 70,
                limit,
            },
            Reason::OpenFor,
            Reason::CooldownOver,
            Reason::ProbesSucceeded { successes: 3 },
            Reason::ProbeFailed,
            Reason::ProbeSlow,
            Reason::ProbeFailureRate {
                failed: 2,
                probes: 4,
                limit,
            },
            Reason::ProbesHung { hung: 2 },
            Reason::Override,
            Reason::OverrideEnded,
            Reason::Reset,
            #[cfg(feature = "redis")]
            Reason::Shared,
        ] {
            assert_eq!(reason.pack().unpack(), Some(reason));
            assert!(MOVES.iter().any(|(_, _, label)| *label == reason.label()));
        }
        assert_eq!(Packed::NONE.unpack(), None);
    }

    #[test]
    fn no_move_is_listed_twice() {
        for (at, one) in MOVES.iter().enumerate() {
            assert!(!MOVES[..at].contains(one), "{one:?}");
        }
    }
}
