//! A half-open round: which calls may probe, and what their outcomes decide.

use crate::clock::Tick;
use crate::policy::Policy;
use crate::reason::Reason;
use crate::verdict::Verdict;

/// The probes of one half-open period.
///
/// A place belongs to a probe until its permit ends, so that a place is never
/// given back twice. A probe that hangs keeps its slot in the list but no longer
/// counts as in flight; the list is bounded, because a round with
/// `max(2, probes)` hung probes is over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Round {
    slots: Vec<Option<Probe>>,
    successes: u32,
    /// Probes that hung and gave no vote, ended or not.
    hung: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Probe {
    started: Tick,
    hung: bool,
}

/// What a round answers to a call that wants to be a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Taken(u32),
    Busy,
    /// Too many probes hang: the round is over.
    Over(Reason),
}

/// What the end of a probe decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Undecided,
    Close(Reason),
    Open(Reason),
}

impl Round {
    /// A call comes at `now` and wants to be a probe.
    pub(crate) fn take(&mut self, policy: &Policy, now: Tick) -> Place {
        self.notice_hung(policy, now);
        if let Some(reason) = self.hung_out(policy) {
            return Place::Over(reason);
        }
        let in_flight = self.in_flight();
        if in_flight >= policy.probe_concurrency_or_default()
            || self.successes.saturating_add(in_flight) >= policy.probes_or_default()
        {
            return Place::Busy;
        }
        let probe = Some(Probe {
            started: now,
            hung: false,
        });
        let slot = match self.slots.iter().position(Option::is_none) {
            Some(free) => {
                self.slots[free] = probe;
                free
            }
            None => {
                self.slots.push(probe);
                self.slots.len() - 1
            }
        };
        // The list is far shorter than four thousand million places.
        Place::Taken(u32::try_from(slot).unwrap_or(u32::MAX))
    }

    /// The probe in `slot` has ended at `now`.
    pub(crate) fn end(
        &mut self,
        policy: &Policy,
        slot: u32,
        verdict: Verdict,
        now: Tick,
    ) -> Decision {
        self.notice_hung(policy, now);
        let place = usize::try_from(slot)
            .ok()
            .and_then(|slot| self.slots.get_mut(slot));
        let Some(probe) = place.and_then(Option::take) else {
            return Decision::Undecided;
        };
        match verdict {
            Verdict::Success => {
                if probe.hung {
                    self.hung -= 1;
                }
                self.successes += 1;
                if self.successes >= policy.close_after_or_default() {
                    Decision::Close(Reason::ProbesSucceeded {
                        successes: self.successes,
                    })
                } else {
                    Decision::Undecided
                }
            }
            Verdict::Failure | Verdict::RetryAfter(_) => Decision::Open(Reason::ProbeFailed),
            Verdict::OpenFor(_) => Decision::Open(Reason::OpenFor),
            Verdict::Ignore => self
                .hung_out(policy)
                .map_or(Decision::Undecided, Decision::Open),
        }
    }

    /// Takes their places from the probes that are too old. At exactly
    /// `probe_timeout` a place is free.
    fn notice_hung(&mut self, policy: &Policy, now: Tick) {
        for probe in self.slots.iter_mut().flatten() {
            if !probe.hung && now.since(probe.started) >= policy.probe_timeout_value() {
                probe.hung = true;
                self.hung += 1;
            }
        }
    }

    /// The probes that still hold a place.
    fn in_flight(&self) -> u32 {
        let live = self.slots.iter().flatten().filter(|probe| !probe.hung);
        u32::try_from(live.count()).unwrap_or(u32::MAX)
    }

    fn hung_out(&self, policy: &Policy) -> Option<Reason> {
        (self.hung >= policy.probes_or_default().max(2))
            .then_some(Reason::ProbesHung { hung: self.hung })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn policy(probes: u32) -> Policy {
        Policy::new()
            .probes(probes)
            .probe_timeout(Duration::from_secs(1))
    }

    /// F1
    #[test]
    fn a_round_admits_as_many_calls_as_it_has_probes() {
        let policy = policy(2);
        let mut round = Round::default();
        assert_eq!(round.take(&policy, Tick(0)), Place::Taken(0));
        assert_eq!(round.take(&policy, Tick(0)), Place::Taken(1));
        assert_eq!(round.take(&policy, Tick(0)), Place::Busy);
    }

    /// F15
    #[test]
    fn a_success_uses_up_its_place_in_the_round() {
        let policy = policy(2);
        let mut round = Round::default();
        assert_eq!(round.take(&policy, Tick(0)), Place::Taken(0));
        round.end(&policy, 0, Verdict::Success, Tick(1));
        assert_eq!(round.take(&policy, Tick(2)), Place::Taken(0));
        assert_eq!(round.take(&policy, Tick(2)), Place::Busy);
    }

    /// F21
    #[test]
    fn a_place_is_free_at_exactly_the_probe_timeout() {
        let policy = policy(1);
        let mut round = Round::default();
        assert_eq!(round.take(&policy, Tick(0)), Place::Taken(0));
        assert_eq!(round.take(&policy, Tick(SECOND - 1)), Place::Busy);
        assert_eq!(round.take(&policy, Tick(SECOND)), Place::Taken(1));
    }

    /// F22
    #[test]
    fn a_probe_that_answers_after_its_timeout_still_votes() {
        let policy = policy(1);
        let mut round = Round::default();
        round.take(&policy, Tick(0));
        round.take(&policy, Tick(SECOND));
        let late = round.end(&policy, 0, Verdict::Success, Tick(SECOND + 1));
        assert_eq!(
            late,
            Decision::Close(Reason::ProbesSucceeded { successes: 1 })
        );
    }

    /// F22
    #[test]
    fn two_probes_that_hang_without_a_vote_end_the_round() {
        let policy = policy(1);
        let mut round = Round::default();
        round.take(&policy, Tick(0));
        round.take(&policy, Tick(SECOND));
        let third = round.take(&policy, Tick(2 * SECOND));
        assert_eq!(third, Place::Over(Reason::ProbesHung { hung: 2 }));
    }

    #[test]
    fn a_probe_that_hung_and_was_then_dropped_counts_as_hung() {
        let policy = policy(1);
        let mut round = Round::default();
        for hung in 0..2 {
            let start = Tick(hung * 10 * SECOND);
            assert_eq!(round.take(&policy, start), Place::Taken(0));
            let dropped = round.end(&policy, 0, Verdict::Ignore, start + Duration::from_secs(1));
            match hung {
                0 => assert_eq!(dropped, Decision::Undecided),
                _ => assert_eq!(dropped, Decision::Open(Reason::ProbesHung { hung: 2 })),
            }
        }
    }

    #[test]
    fn a_place_that_was_given_back_cannot_be_given_back_again() {
        let policy = policy(1);
        let mut round = Round::default();
        round.take(&policy, Tick(0));
        round.end(&policy, 0, Verdict::Ignore, Tick(1));
        let again = round.end(&policy, 0, Verdict::Success, Tick(2));
        assert_eq!(again, Decision::Undecided);
        assert_eq!(round.successes, 0);
    }
}
