//! A half-open round: which calls may probe, and what their outcomes decide.

use crate::clock::Tick;
use crate::policy::Policy;
use crate::reason::Reason;
use crate::rules::ticket::Outcome;
use crate::rules::ticket::Ticket;
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
    /// Probes that failed, of a round that is judged by their share.
    failures: u32,
    /// Probes that hung and gave no vote, ended or not.
    hung: u32,
    /// Probes so far, ended or not.
    begun: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Probe {
    started: Tick,
    hung: bool,
}

/// What a round answers to a call that wants to be a probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Place {
    Taken(u32),
    Busy,
    /// The ramp of a closed circuit has no token for it.
    Ramp,
    /// Too many probes hang: the circuit opens.
    Open(Reason),
    /// Enough have succeeded, by numbers that were changed meanwhile: it closes.
    Close(Reason),
}

/// What the end of a probe decides.
#[derive(Clone, Copy, Debug, PartialEq)]
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
            return Place::Open(reason);
        }
        match self.decide(policy) {
            Decision::Undecided => {}
            Decision::Close(reason) => return Place::Close(reason),
            Decision::Open(reason) => return Place::Open(reason),
        }
        if self.free(policy) == 0 {
            return Place::Busy;
        }
        self.begun = self.begun.saturating_add(1);
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

    /// How many more calls may probe at `now`, and how many did so far.
    pub(crate) fn places(&mut self, policy: &Policy, now: Tick) -> (u32, u32) {
        self.notice_hung(policy, now);
        (self.free(policy), self.begun)
    }

    fn free(&self, policy: &Policy) -> u32 {
        let in_flight = self.in_flight();
        let voted = self.successes.saturating_add(self.failures);
        let at_a_time = policy.get_probe_concurrency().saturating_sub(in_flight);
        let in_all = policy.get_probes().saturating_sub(voted);
        at_a_time.min(in_all.saturating_sub(in_flight))
    }

    /// The probe in `slot` has ended at `now`.
    pub(crate) fn end(
        &mut self,
        policy: &Policy,
        slot: u32,
        outcome: Outcome,
        now: Tick,
    ) -> Decision {
        self.notice_hung(policy, now);
        let ended = if slot == Ticket::RIDING {
            None
        } else {
            usize::try_from(slot)
                .ok()
                .and_then(|slot| self.slots.get_mut(slot))
                .and_then(Option::take)
        };
        let by_share = policy.get_probe_failure_rate().is_some();
        match (vote(policy, outcome), ended) {
            (Vote::Ban, _) => Decision::Open(Reason::OpenFor),
            // Also of a call that rides along: it is the service that failed.
            (Vote::Against(reason), _) if !by_share => Decision::Open(reason),
            (Vote::Against(_), Some(probe)) => {
                self.voted(probe);
                self.failures += 1;
                self.decide(policy)
            }
            (Vote::For, Some(probe)) => {
                self.voted(probe);
                self.successes += 1;
                self.decide(policy)
            }
            (Vote::None, Some(_)) => self
                .hung_out(policy)
                .map_or(Decision::Undecided, Decision::Open),
            (Vote::Against(_) | Vote::For | Vote::None, None) => Decision::Undecided,
        }
    }

    /// One that hung and voted after all.
    const fn voted(&mut self, probe: Probe) {
        if probe.hung {
            self.hung -= 1;
        }
    }

    fn decide(&self, policy: &Policy) -> Decision {
        decide(policy, self.successes, self.failures)
    }

    /// Takes their places from the probes that are too old. At exactly
    /// `probe_timeout` a place is free.
    fn notice_hung(&mut self, policy: &Policy, now: Tick) {
        for probe in self.slots.iter_mut().flatten() {
            if !probe.hung && now.since(probe.started) >= policy.get_probe_timeout() {
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
        (self.hung >= policy.get_probes().max(2)).then_some(Reason::ProbesHung { hung: self.hung })
    }
}

/// What the votes so far decide, as soon as no vote to come can change it.
pub(super) fn decide(policy: &Policy, successes: u32, failures: u32) -> Decision {
    let closes = Decision::Close(Reason::ProbesSucceeded { successes });
    if successes >= policy.get_close_after() {
        return closes;
    }
    let Some(limit) = policy.get_probe_failure_rate() else {
        return Decision::Undecided;
    };
    let probes = policy.get_probes();
    let share = |failures: u32| f64::from(failures) / f64::from(probes);
    if share(failures) >= limit {
        return Decision::Open(Reason::ProbeFailureRate {
            failed: failures,
            probes,
            limit,
        });
    }
    if share(probes.saturating_sub(successes)) < limit {
        return closes;
    }
    Decision::Undecided
}

/// What a probe says by its end.
pub(super) enum Vote {
    For,
    Against(Reason),
    /// Against, and for how long.
    Ban,
    None,
}

/// Where slow calls can open a circuit, a slow probe does not show that it is well.
pub(super) fn vote(policy: &Policy, outcome: Outcome) -> Vote {
    match outcome.verdict {
        Verdict::Failure | Verdict::RetryAfter(_) => Vote::Against(Reason::ProbeFailed),
        Verdict::OpenFor(_) => Vote::Ban,
        Verdict::Success if outcome.is_slow && policy.get_slow_call_rate().is_some() => {
            Vote::Against(Reason::ProbeSlow)
        }
        Verdict::Success => Vote::For,
        Verdict::Ignore => Vote::None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    const SUCCESS: Outcome = outcome(Verdict::Success);
    const FAILURE: Outcome = outcome(Verdict::Failure);
    const IGNORED: Outcome = outcome(Verdict::Ignore);

    const fn outcome(verdict: Verdict) -> Outcome {
        Outcome {
            verdict,
            is_slow: false,
        }
    }

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

    #[test]
    fn a_round_says_how_many_places_it_has_left_and_how_many_probes_began() {
        let policy = policy(3).probe_concurrency(2);
        let mut round = Round::default();
        assert_eq!(round.places(&policy, Tick(0)), (2, 0));
        assert_eq!(round.take(&policy, Tick(0)), Place::Taken(0));
        assert_eq!(round.take(&policy, Tick(0)), Place::Taken(1));
        assert_eq!(round.places(&policy, Tick(1)), (0, 2));
        round.end(&policy, 0, SUCCESS, Tick(1));
        assert_eq!(round.places(&policy, Tick(1)), (1, 2));
        // The other has hung.
        assert_eq!(round.places(&policy, Tick(SECOND)), (2, 2));
    }

    /// F15
    #[test]
    fn a_success_uses_up_its_place_in_the_round() {
        let policy = policy(2);
        let mut round = Round::default();
        assert_eq!(round.take(&policy, Tick(0)), Place::Taken(0));
        round.end(&policy, 0, SUCCESS, Tick(1));
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
        let late = round.end(&policy, 0, SUCCESS, Tick(SECOND + 1));
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
        assert_eq!(third, Place::Open(Reason::ProbesHung { hung: 2 }));
    }

    #[test]
    fn a_probe_that_hung_and_was_then_dropped_counts_as_hung() {
        let policy = policy(1);
        let mut round = Round::default();
        for hung in 0..2 {
            let start = Tick(hung * 10 * SECOND);
            assert_eq!(round.take(&policy, start), Place::Taken(0));
            let dropped = round.end(&policy, 0, IGNORED, start + Duration::from_secs(1));
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
        round.end(&policy, 0, IGNORED, Tick(1));
        let again = round.end(&policy, 0, SUCCESS, Tick(2));
        assert_eq!(again, Decision::Undecided);
        assert_eq!(round.successes, 0);
    }

    /// All probes but one hang, and as many as there may be are in flight.
    #[test]
    fn the_longest_list_of_probes_has_none_of_the_places_that_are_none() {
        let policy = policy(Policy::MAX_PROBES);
        let hung = Policy::MAX_PROBES - 1;
        let probes = |hung| {
            let started = Tick(0);
            vec![Some(Probe { started, hung }); Policy::MAX_PROBES as usize - 1]
        };
        let mut round = Round {
            slots: [probes(true), probes(false)].concat(),
            hung,
            ..Round::default()
        };
        let Place::Taken(last) = round.take(&policy, Tick(0)) else {
            panic!("a probe may run beside them");
        };
        assert_eq!(round.take(&policy, Tick(0)), Place::Busy);
        assert!((last + 1..Ticket::RIDING).contains(&Ticket::NO_VOTE));
    }

    /// The numbers may change in the middle of a round.
    #[test]
    fn a_round_that_has_enough_by_new_numbers_closes_instead_of_being_full() {
        let mut round = Round::default();
        for now in 0..2 {
            assert_eq!(round.take(&policy(3), Tick(now)), Place::Taken(0));
            round.end(&policy(3), 0, SUCCESS, Tick(now));
        }
        let reason = Reason::ProbesSucceeded { successes: 2 };
        assert_eq!(round.take(&policy(2), Tick(2)), Place::Close(reason));
    }

    #[test]
    fn a_call_that_rides_along_votes_only_against() {
        let policy = policy(1);
        let mut round = Round::default();
        round.take(&policy, Tick(0));
        let mut end = |outcome| round.end(&policy, Ticket::RIDING, outcome, Tick(1));
        assert_eq!(end(SUCCESS), Decision::Undecided);
        assert_eq!(end(IGNORED), Decision::Undecided);
        assert_eq!(end(FAILURE), Decision::Open(Reason::ProbeFailed));
    }

    /// Ends so many probes one after the other, `F` or `S` each.
    fn play(policy: &Policy, script: &str) -> Decision {
        let mut round = Round::default();
        let mut last = Decision::Undecided;
        for end in script.chars() {
            assert_eq!(last, Decision::Undecided, "{script}");
            assert_eq!(round.take(policy, Tick(0)), Place::Taken(0), "{script}");
            let outcome = if end == 'F' { FAILURE } else { SUCCESS };
            last = round.end(policy, 0, outcome, Tick(1));
        }
        last
    }

    /// F2, F4, F10
    #[test]
    fn a_round_is_decided_as_soon_as_no_vote_can_change_it() {
        let half = policy(4).probe_failure_rate(0.5);
        let opens = |failed, limit| {
            Decision::Open(Reason::ProbeFailureRate {
                failed,
                probes: 4,
                limit,
            })
        };
        let closes = |successes| Decision::Close(Reason::ProbesSucceeded { successes });
        assert_eq!(play(&half, "FF"), opens(2, 0.5));
        assert_eq!(play(&half, "SFF"), opens(2, 0.5));
        assert_eq!(play(&half, "SSF"), Decision::Undecided);
        assert_eq!(play(&half, "SSFS"), closes(3));
        assert_eq!(play(&half, "SSS"), closes(3));
        let early = policy(4).close_after(2).probe_failure_rate(0.75);
        assert_eq!(play(&early, "SFF"), Decision::Undecided);
        assert_eq!(play(&early, "SFFF"), opens(3, 0.75));
        assert_eq!(play(&early, "SS"), closes(2));
    }

    #[test]
    fn a_slow_probe_is_a_failed_one_where_slow_calls_are_judged() {
        let slow = Outcome {
            is_slow: true,
            ..SUCCESS
        };
        let end = |policy: &Policy| {
            let mut round = Round::default();
            round.take(policy, Tick(0));
            round.end(policy, 0, slow, Tick(1))
        };
        let labelled = policy(1).slow_call(Duration::from_nanos(1));
        assert!(matches!(end(&labelled), Decision::Close(_)));
        let judged = labelled.window(crate::policy::Window::Calls(20));
        assert_eq!(end(&judged), Decision::Open(Reason::ProbeSlow));
    }
}
