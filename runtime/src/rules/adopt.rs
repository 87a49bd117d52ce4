//! What a circuit takes over from the processes that share it.

use crate::clock::Tick;
use crate::reason;
use crate::reason::Reason;
use crate::rules::change::Change;
use crate::rules::change::Changes;
use crate::rules::change::Scope;
use crate::rules::circuit::Circuit;
use crate::rules::circuit::GENERATIONS;
use crate::rules::circuit::Law;
use crate::rules::circuit::Mode;
use crate::rules::fleet::CoverKind;
use crate::rules::fleet::Phase;
use crate::rules::half_open::Round;
use crate::rules::opening::Opening;
use crate::rules::overlay;
use crate::rules::window::Observed;
use crate::rules::window::Sums;
use crate::state::State;

/// What all processes know of the circuit, in the time of this one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ruling {
    pub(crate) epoch: u64,
    pub(crate) phase: Phase,
    /// The end of an opening.
    pub(crate) until: Tick,
    pub(crate) trips: u32,
    pub(crate) opened_by: Option<Reason>,
    /// What somebody has laid over it, and until when.
    pub(crate) cover: Option<(CoverKind, Tick)>,
    /// Why it is so now.
    pub(crate) reason: Reason,
}

impl Ruling {
    /// It is closed, and nobody has laid anything over it.
    pub(crate) const fn is_plainly_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed) && self.cover.is_none()
    }
}

/// A ruling comes at `now`. `is_ours` says whether the rules have moved the circuit here since
/// the last one: what this process has seen by itself keeps it open until that has passed,
/// whatever the others see.
pub(crate) fn adopt(
    law: &Law<'_>,
    circuit: &mut Circuit,
    ruling: &Ruling,
    is_ours: bool,
    observed: &Observed,
    now: Tick,
) -> Changes {
    let mut changes = Changes::default();
    overlay::expire(law, circuit, now, &mut changes);
    let from = circuit.state();
    let before = circuit.generation;
    // Whatever moves it takes the next generation, which is that of the ruling then.
    circuit.generation = before.max(ruling.epoch.saturating_sub(1) & GENERATIONS);
    let raised = circuit.generation;
    overlay::lift(law, circuit, now);
    take_over(law, circuit, ruling, is_ours, observed, now);
    if let Some((kind, until)) = ruling.cover {
        overlay::lay(circuit, kind, until, now);
    }
    if circuit.generation == raised {
        // Nothing has moved.
        circuit.generation = before;
        return changes;
    }
    let to = circuit.state();
    if from != to {
        changes.push(Change {
            from,
            to,
            reason: known_move(from, to, ruling.reason),
            generation: circuit.generation,
            at: now,
            until: match (&circuit.mode, ruling.cover) {
                (_, Some((_, until))) => Some(until),
                (Mode::Open(opening), None) => Some(opening.until),
                (Mode::Closed(_) | Mode::HalfOpen(_), None) => None,
            },
            scope: Scope::Seen,
            is_by_hand: matches!(ruling.reason, Reason::Override | Reason::OverrideEnded),
        });
    }
    changes
}

/// The reason, where it explains this move: others may have seen another one.
fn known_move(from: State, to: State, reason: Reason) -> Reason {
    match reason::index_of(from, to, reason) {
        Some(_) => reason,
        None => Reason::Shared,
    }
}

/// Beneath what somebody may have laid over it.
fn take_over(
    law: &Law<'_>,
    circuit: &mut Circuit,
    ruling: &Ruling,
    is_ours: bool,
    observed: &Observed,
    now: Tick,
) {
    match (ruling.phase, &circuit.mode) {
        (Phase::Closed, _) if ruling.reason == Reason::Reset => circuit.start_afresh(now),
        (Phase::Closed, Mode::Closed(_)) => {}
        (Phase::Closed, Mode::Open(_) | Mode::HalfOpen(_)) if is_ours => {}
        (Phase::Closed, Mode::Open(_) | Mode::HalfOpen(_)) => {
            circuit.close(law.policy, ruling.reason, now);
            circuit.trips = ruling.trips;
        }
        (Phase::Open, _) => {
            if let Mode::Closed(closed) = &circuit.mode
                && closed.ramp.is_none()
            {
                circuit.arrivals = observed.arrivals;
            }
            circuit.trips = ruling.trips;
            circuit.opened_by = ruling.opened_by;
            let opening = Opening {
                until: ruling.until,
                sums: match circuit.mode {
                    Mode::Closed(_) => observed.sums,
                    Mode::Open(opening) => opening.sums,
                    Mode::HalfOpen(_) => Sums::default(),
                },
            };
            circuit.move_to(Mode::Open(opening), ruling.reason, now);
            circuit.opening = circuit.generation;
        }
        (Phase::HalfOpen, _) => {
            circuit.trips = ruling.trips;
            circuit.opened_by = ruling.opened_by;
            circuit.move_to(Mode::HalfOpen(Round::default()), ruling.reason, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::policy::Policy;
    use crate::rules::Command;
    use crate::rules::Outcome;
    use crate::rules::Ticket;
    use crate::rules::command;
    use crate::rules::settle;
    use crate::verdict::Verdict;

    use super::*;

    const POLICY: Policy = Policy::new().threshold(1);
    const LAW: Law<'static> = Law {
        policy: &POLICY,
        seed: 7,
    };
    const SECOND: u64 = 1_000_000_000;

    /// Times of a store are far larger than the first generations.
    const EPOCH: u64 = 1_800_000_000_000;

    const OPEN: Ruling = Ruling {
        epoch: EPOCH,
        phase: Phase::Open,
        until: Tick(60 * SECOND),
        trips: 3,
        opened_by: Some(Reason::OpenFor),
        cover: None,
        reason: Reason::OpenFor,
    };
    const CLOSED: Ruling = Ruling {
        epoch: EPOCH + 1,
        phase: Phase::Closed,
        until: Tick(0),
        trips: 0,
        opened_by: Some(Reason::OpenFor),
        cover: None,
        reason: Reason::ProbesSucceeded { successes: 1 },
    };

    fn circuit() -> Circuit {
        Circuit::new(&POLICY, Tick(0))
    }

    fn take(circuit: &mut Circuit, ruling: &Ruling, is_ours: bool) -> Vec<Change> {
        let observed = Observed::default();
        let changes = adopt(&LAW, circuit, ruling, is_ours, &observed, Tick(SECOND));
        changes.iter().copied().collect()
    }

    fn fail(circuit: &mut Circuit) {
        let outcome = Outcome {
            verdict: Verdict::Failure,
            is_slow: false,
        };
        let ticket = Ticket {
            generation: circuit.generation,
            place: 0,
        };
        let observed = Observed::default();
        settle(&LAW, circuit, ticket, outcome, &observed, Tick(SECOND));
    }

    #[test]
    fn what_all_have_decided_opens_a_circuit_that_has_seen_nothing() {
        let mut circuit = circuit();
        let changes = take(&mut circuit, &OPEN, false);
        assert_eq!(changes.len(), 1);
        assert_eq!(changes[0].to, State::Open);
        assert_eq!(changes[0].until, Some(Tick(60 * SECOND)));
        assert_eq!((circuit.generation, circuit.trips), (EPOCH, 3));
        assert_eq!(circuit.opened_by, Some(Reason::OpenFor));
    }

    #[test]
    fn what_is_seen_here_alone_stays_until_it_has_passed_or_somebody_resets_it() {
        let mut circuit = circuit();
        fail(&mut circuit);
        assert_eq!(take(&mut circuit, &CLOSED, true), []);
        assert_eq!(circuit.state(), State::Open);
        let reset = Ruling {
            reason: Reason::Reset,
            ..CLOSED
        };
        assert_eq!(take(&mut circuit, &reset, true).len(), 1);
        assert_eq!(circuit.state(), State::Closed);
    }

    #[test]
    fn an_opening_of_all_takes_the_place_of_one_of_our_own_without_a_word() {
        let mut circuit = circuit();
        fail(&mut circuit);
        let before = circuit.generation;
        assert_eq!(take(&mut circuit, &OPEN, true), []);
        assert!(circuit.generation > before);
        assert!(matches!(circuit.mode, Mode::Open(it) if it.until == OPEN.until));
    }

    #[test]
    fn probes_of_all_close_what_all_had_opened() {
        let mut circuit = circuit();
        take(&mut circuit, &OPEN, false);
        let half_open = Ruling {
            epoch: EPOCH + 1,
            phase: Phase::HalfOpen,
            reason: Reason::CooldownOver,
            ..OPEN
        };
        assert_eq!(take(&mut circuit, &half_open, false).len(), 1);
        let closed = Ruling {
            epoch: EPOCH + 2,
            ..CLOSED
        };
        let changes = take(&mut circuit, &closed, false);
        assert_eq!(
            (changes[0].from, changes[0].to),
            (State::HalfOpen, State::Closed)
        );
        assert_eq!(
            (circuit.generation, circuit.emptied),
            (EPOCH + 2, EPOCH + 2)
        );
        assert_eq!(circuit.trips, 0);
    }

    #[test]
    fn a_closed_circuit_that_is_closed_for_all_keeps_its_generation_and_its_count() {
        let mut circuit = circuit();
        let before = circuit.clone();
        assert_eq!(take(&mut circuit, &CLOSED, false), []);
        assert_eq!(circuit, before);
    }

    #[test]
    fn generations_rise_where_the_store_is_behind() {
        let mut circuit = circuit();
        take(&mut circuit, &OPEN, false);
        let earlier = Ruling {
            epoch: EPOCH - 500,
            ..CLOSED
        };
        take(&mut circuit, &earlier, false);
        assert_eq!(circuit.generation, EPOCH + 1);
    }

    #[test]
    fn a_move_that_others_have_seen_in_steps_is_told_as_one_of_theirs() {
        let mut circuit = circuit();
        let half_open = Ruling {
            phase: Phase::HalfOpen,
            reason: Reason::CooldownOver,
            ..OPEN
        };
        let changes = take(&mut circuit, &half_open, false);
        assert_eq!(changes[0].reason, Reason::Shared);
        assert_eq!(changes[0].to, State::HalfOpen);
    }

    /// M8, B181
    #[test]
    fn what_somebody_has_forced_for_all_takes_the_place_of_what_was_forced_here() {
        let mut circuit = circuit();
        let hour = Duration::from_secs(3_600);
        command(&LAW, &mut circuit, Command::ForceClosed(hour), Tick(0));
        let forced = Ruling {
            cover: Some((CoverKind::ForcedOpen, Tick(9 * SECOND))),
            reason: Reason::Override,
            ..CLOSED
        };
        let changes = take(&mut circuit, &forced, true);
        assert_eq!(changes[0].to, State::ForcedOpen);
        assert!(changes[0].is_by_hand);
        // What only this process knew is over when all can be heard again.
        let over = Ruling {
            epoch: EPOCH + 5,
            reason: Reason::OverrideEnded,
            ..CLOSED
        };
        assert_eq!(take(&mut circuit, &over, false)[0].to, State::Closed);
    }
}
