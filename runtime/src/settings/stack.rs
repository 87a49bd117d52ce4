//! What the places write about one service, one above the other.

use crate::policy::Key;
use crate::policy::Policy;
use crate::policy::PolicyError;

/// The kinds of places, from the one that comes last to the one with the last word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Attribute,
    FileDefaults,
    File,
    EnvironmentDefaults,
    Environment,
    Code,
    Live,
}

impl Rank {
    pub(super) const ALL: [Self; 7] = [
        Self::Attribute,
        Self::FileDefaults,
        Self::File,
        Self::EnvironmentDefaults,
        Self::Environment,
        Self::Code,
        Self::Live,
    ];

    const fn is_shared(self) -> bool {
        matches!(self, Self::FileDefaults | Self::EnvironmentDefaults)
    }
}

/// The keys that do nothing without another one, each after those that it may need.
const GATES: [Key; 4] = [
    Key::FailureRate,
    Key::SlowCallRate,
    Key::MinCalls,
    Key::MinFailures,
];

#[derive(Clone, Debug)]
pub(super) struct Stack([Policy; Rank::ALL.len()]);

impl Stack {
    /// What each kind of place writes, and only what does something: of what is written for
    /// all services, keys that have nothing to gate in this one are left out.
    pub(super) fn new(written: impl Fn(Rank) -> Policy) -> Self {
        let mut stack = Self(Rank::ALL.map(written));
        stack.drop_idle();
        stack
    }

    pub(super) fn merged(&self) -> Policy {
        let from_below = self.0.iter();
        from_below.fold(Policy::new(), |below, above| above.over(below))
    }

    pub(super) fn check(&self) -> Result<(), PolicyError> {
        self.merged().check()
    }

    /// The kind of place whose word on `key` counts.
    pub(super) fn winner(&self, key: Key) -> Option<Rank> {
        let from_above = Rank::ALL.into_iter().rev();
        from_above
            .into_iter()
            .find(|rank| self.0[*rank as usize].writes(key))
    }

    pub(super) fn take_out(&mut self, rank: Rank, key: Key) {
        self.0[rank as usize].copy(key, &Policy::new());
        self.drop_idle();
    }

    /// The same without what any of the `ranks` says of `key`.
    pub(super) fn without(&self, key: Key, ranks: &[Rank]) -> Self {
        let mut stack = self.clone();
        for rank in ranks {
            stack.take_out(*rank, key);
        }
        stack
    }

    fn drop_idle(&mut self) {
        for key in GATES {
            while let Some(rank) = self.winner(key)
                && rank.is_shared()
                && is_idle(&self.merged(), key)
            {
                self.0[rank as usize].copy(key, &Policy::new());
            }
        }
    }
}

/// Whether there is nothing that a key could gate.
const fn is_idle(policy: &Policy, key: Key) -> bool {
    let has_window = policy.get_window().is_some();
    let has_failure_rate = policy.get_failure_rate().is_some();
    match key {
        Key::FailureRate => !has_window,
        Key::SlowCallRate => !has_window || policy.get_slow_call().is_none(),
        Key::MinCalls => !has_failure_rate && policy.get_slow_call_rate().is_none(),
        Key::MinFailures => !has_failure_rate,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::policy::Window;

    use super::*;

    fn stack(written: &[(Rank, Policy)]) -> Stack {
        Stack::new(|rank| {
            let found = written.iter().find(|(known, _)| *known == rank);
            found.map_or(Policy::new(), |(_, policy)| *policy)
        })
    }

    #[test]
    fn each_key_comes_from_the_highest_place_that_writes_it() {
        for (index, highest) in Rank::ALL.into_iter().enumerate() {
            let stack = Stack::new(|rank| {
                if rank <= highest {
                    Policy::new().threshold(rank as u32 + 1)
                } else {
                    Policy::new()
                }
            });
            assert_eq!(stack.winner(Key::Threshold), Some(highest));
            assert_eq!(stack.merged().get_threshold(), Some(index as u32 + 1));
        }
        let two = stack(&[
            (Rank::Attribute, Policy::new().threshold(7).probes(3)),
            (Rank::Code, Policy::new().threshold(2)),
        ]);
        assert_eq!(two.merged(), Policy::new().threshold(2).probes(3));
    }

    #[test]
    fn gates_for_all_services_are_left_out_where_they_gate_nothing() {
        let gates = Policy::new()
            .failure_rate(0.5)
            .slow_call_rate(0.5)
            .min_calls(50)
            .min_failures(5);
        for rank in [Rank::FileDefaults, Rank::EnvironmentDefaults] {
            let merged = stack(&[(rank, gates)]).merged();
            assert!(Key::ALL.iter().all(|key| !merged.writes(*key)));

            let windowed = Policy::new().window(Window::Time(Duration::from_secs(60)));
            let merged = stack(&[(rank, gates), (Rank::Attribute, windowed)]).merged();
            assert!(merged.writes(Key::MinFailures));
            assert!(!merged.writes(Key::SlowCallRate));

            let slow = windowed.slow_call(Duration::from_secs(1));
            let only_slow = Policy::new().min_calls(50).min_failures(5);
            let merged = stack(&[(rank, only_slow), (Rank::Attribute, slow)]).merged();
            assert_eq!(merged.get_min_calls(), 50);
            assert!(!merged.writes(Key::MinFailures));
        }
        let own = stack(&[(Rank::File, gates)]).merged();
        assert!(own.check().is_err());
    }
}
