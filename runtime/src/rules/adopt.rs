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
