//! The circuit: who is admitted, and what an outcome changes.

use crate::clock::Tick;
use crate::policy::Policy;
use crate::reason::Reason;
use crate::rules::change::Change;
use crate::rules::change::Changes;
use crate::rules::change::Scope;
use crate::rules::closed;
use crate::rules::closed::Count;
use crate::rules::half_open::Decision;
use crate::rules::half_open::Place;
use crate::rules::half_open::Round;
use crate::rules::opening::Opening;
use crate::rules::opening::Trip;
use crate::rules::overlay;
use crate::rules::overlay::Overlay;
use crate::rules::ramp::Ramp;
use crate::rules::ticket::Outcome;
use crate::rules::ticket::Ticket;
use crate::rules::window::Observed;
use crate::rules::window::Sums;
use crate::state::State;
use crate::verdict::Verdict;

/// The largest generation: it has 42 bits in the packed word. After it comes 0, and no
/// call is out that long.
pub(crate) const GENERATIONS: u64 = (1 << 42) - 1;

/// What the law is asked with: the numbers of a service, and what its draws begin with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law<'p> {
    pub(crate) policy: &'p Policy,
    pub(crate) seed: u64,
}

/// All that the law knows of one circuit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Circuit {
    /// Raised by every transition, so that an outcome can tell that it is about
    /// the past.
    pub(crate) generation: u64,
    /// The generation in which the window was emptied last.
    pub(crate) emptied: u64,
    pub(crate) mode: Mode,
    /// Openings since the circuit closed last.
    pub(crate) trips: u32,
    /// What opened it last.
    pub(crate) opened_by: Option<Reason>,
    /// The generation in which it opened last: which opening it is.
    pub(crate) opening: u64,
    /// Calls a second before it opened.
    pub(crate) arrivals: f64,
    /// What somebody has laid over it. Boxed, since there are many circuits where each key
    /// has one, and hardly any is covered.
    pub(crate) overlay: Option<Box<Overlay>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Mode {
    Closed(Closed),
    Open(Opening),
    HalfOpen(Round),
}

/// A circuit that admits calls.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Closed {
    /// In a row; nothing is counted here where there is a window.
    pub(crate) failures: u32,
    pub(crate) began: Tick,
    /// Boxed for the same reason as an overlay.
    pub(crate) ramp: Option<Box<Ramp>>,
}

/// What a call is told that wants to pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Admission {
    Admitted(Ticket),
    /// Let through by an override alone, with its ticket: it would have been rejected.
    Spared(Ticket),
    Open(Opening),
    ForcedOpen,
    ProbesBusy,
    Ramp,
}

/// What became of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    /// It is about the past: the circuit has moved since the call was admitted.
    Late,
    Counted,
}

impl Law<'_> {
    /// A number from 0 up to 1, always the same for one generation.
    pub(super) fn draw(&self, generation: u64) -> f64 {
        fastrand::Rng::with_seed(self.seed.wrapping_add(generation)).f64()
    }
}

impl Closed {
    pub(crate) const fn since(began: Tick) -> Self {
        Self {
            failures: 0,
            began,
            ramp: None,
        }
    }
}

impl Circuit {
    pub(crate) fn new(policy: &Policy, now: Tick) -> Self {
        Self {
            generation: 0,
            emptied: 0,
            mode: Mode::Closed(Closed::since(now)),
            trips: 0,
            opened_by: None,
            opening: 0,
            arrivals: 0.0,
            overlay: Overlay::at_rest(policy, now),
        }
    }

    /// What everybody sees.
    pub(crate) fn state(&self) -> State {
        match &self.overlay {
            Some(overlay) => overlay.state(),
            None => self.beneath(),
        }
    }

    /// What the rules have made of it, also beneath an override.
    pub(crate) const fn beneath(&self) -> State {
        match self.mode {
            Mode::Closed(_) => State::Closed,
            Mode::Open(_) => State::Open,
            Mode::HalfOpen(_) => State::HalfOpen,
        }
    }

    pub(super) const fn next_generation(&mut self) {
        self.generation = (self.generation + 1) & GENERATIONS;
    }

    /// The window is empty from here on, and nothing is left of the openings.
    pub(super) fn start_afresh(&mut self, now: Tick) {
        self.next_generation();
        self.emptied = self.generation;
        self.mode = Mode::Closed(Closed::since(now));
        self.trips = 0;
    }

    /// The rules move the circuit.
    pub(super) fn move_to(&mut self, mode: Mode, reason: Reason, now: Tick) -> Change {
        let from = self.beneath();
        let until = match &mode {
            Mode::Open(opening) => Some(opening.until),
            Mode::Closed(_) | Mode::HalfOpen(_) => None,
        };
        self.mode = mode;
        self.next_generation();
        Change {
            from,
            to: self.beneath(),
            reason,
            generation: self.generation,
            at: now,
            until,
            scope: match self.overlay {
                None => Scope::Seen,
                Some(_) => Scope::Beneath,
            },
            is_by_hand: false,
        }
    }

    fn open(
        &mut self,
        law: &Law<'_>,
        verdict: Verdict,
        reason: Reason,
        observed: &Observed,
        now: Tick,
    ) -> Change {
        let mut sums = Sums::default();
        if let Mode::Closed(closed) = &self.mode {
            sums = observed.sums;
            // What comes in a ramp says nothing about what would come without one.
            if closed.ramp.is_none() {
                self.arrivals = observed.arrivals;
            }
        }
        self.trips = self.trips.saturating_add(1);
        self.opened_by = Some(reason);
        let trip = Trip {
            verdict,
            sums,
            number: self.trips,
            generation: self.generation,
        };
        let opening = Opening::begin(law, &trip, now);
        let change = self.move_to(Mode::Open(opening), reason, now);
        self.opening = self.generation;
        change
    }

    /// Enough probes have succeeded.
    pub(super) fn close(&mut self, policy: &Policy, reason: Reason, now: Tick) -> Change {
        let ramp = policy.get_ramp();
        let ramp = ramp.map(|_| Box::new(Ramp::begin(self.arrivals, now)));
        // The end of a ramp resets them, where there is one.
        if ramp.is_none() {
            self.trips = 0;
        }
        let closed = Closed {
            ramp,
            ..Closed::since(now)
        };
        let change = self.move_to(Mode::Closed(closed), reason, now);
        self.emptied = self.generation;
        change
    }

    /// Whether it is closed and admits all calls for good: a shadow that the policy itself
    /// asks for never ends.
    pub(crate) fn rests(mut self, policy: &Policy, now: Tick) -> bool {
        self.end_ramp(policy, now);
        let is_forced = self.overlay.as_ref().is_some_and(|it| it.until().is_some());
        !is_forced && matches!(self.mode, Mode::Closed(Closed { ramp: None, .. }))
    }

    /// A ramp ends by itself, and with it what is known of earlier openings.
    fn end_ramp(&mut self, policy: &Policy, now: Tick) {
        if let Mode::Closed(closed) = &mut self.mode
            && let Some(ramp) = &closed.ramp
            && policy
                .get_ramp()
                .is_none_or(|length| ramp.is_over(length, now))
        {
            closed.ramp = None;
            self.trips = 0;
        }
    }
}

/// A call comes at `now`.
pub(crate) fn admit(
    law: &Law<'_>,
    circuit: &mut Circuit,
    observed: &Observed,
    now: Tick,
) -> (Admission, Changes) {
    let mut changes = Changes::default();
    overlay::expire(law, circuit, now, &mut changes);
    let no_vote = Ticket {
        generation: circuit.generation,
        place: Ticket::NO_VOTE,
    };
    let admission = match circuit.state() {
        State::ForcedOpen => Admission::ForcedOpen,
        State::ForcedClosed => Admission::Admitted(no_vote),
        State::Shadow => match admit_beneath(law, circuit, observed, now, &mut changes) {
            Admission::Admitted(ticket) => Admission::Admitted(ticket),
            _ => Admission::Spared(Ticket {
                generation: circuit.generation,
                ..no_vote
            }),
        },
        State::Closed | State::Open | State::HalfOpen => {
            admit_beneath(law, circuit, observed, now, &mut changes)
        }
    };
    (admission, changes)
}

fn admit_beneath(
    law: &Law<'_>,
    circuit: &mut Circuit,
    observed: &Observed,
    now: Tick,
    changes: &mut Changes,
) -> Admission {
    if let Mode::Open(opening) = circuit.mode {
        // Inclusive, so that whoever comes at the instant it was told is admitted.
        if now < opening.until {
            return Admission::Open(opening);
        }
        let round = Mode::HalfOpen(Round::default());
        changes.push(circuit.move_to(round, Reason::CooldownOver, now));
    }
    circuit.end_ramp(law.policy, now);
    let place = match &mut circuit.mode {
        Mode::HalfOpen(round) => round.take(law.policy, now),
        Mode::Closed(closed) => admit_closed(law.policy, closed, observed, now),
        Mode::Open(_) => Place::Taken(0),
    };
    let place = match place {
        Place::Taken(place) => place,
        Place::Busy => return Admission::ProbesBusy,
        Place::Ramp => return Admission::Ramp,
        Place::Close(reason) => {
            changes.push(circuit.close(law.policy, reason, now));
            if let Mode::Closed(closed) = &mut circuit.mode {
                // The first call of a ramp has a token.
                admit_closed(law.policy, closed, &Observed::default(), now);
            }
            0
        }
        Place::Open(reason) => {
            changes.push(circuit.open(law, Verdict::Failure, reason, observed, now));
            return match circuit.mode {
                Mode::Open(opening) => Admission::Open(opening),
                Mode::Closed(_) | Mode::HalfOpen(_) => Admission::ProbesBusy,
            };
        }
    };
    Admission::Admitted(Ticket {
        generation: circuit.generation,
        place,
    })
}

/// Calls that hang are seen by whoever comes next, since none of them ends.
fn admit_closed(policy: &Policy, closed: &mut Closed, observed: &Observed, now: Tick) -> Place {
    if let Some(reason) = observed.sums.hangs(policy) {
        return Place::Open(reason);
    }
    match (&mut closed.ramp, policy.get_ramp()) {
        (Some(ramp), Some(length)) => match ramp.admits(length, now) {
            true => Place::Taken(0),
            false => Place::Ramp,
        },
        (None, _) | (_, None) => Place::Taken(0),
    }
}

/// The call that `ticket` admitted has ended at `now`, and `observed` counts it.
pub(crate) fn settle(
    law: &Law<'_>,
    circuit: &mut Circuit,
    ticket: Ticket,
    outcome: Outcome,
    observed: &Observed,
    now: Tick,
) -> (Settled, Changes) {
    let mut changes = Changes::default();
    overlay::expire(law, circuit, now, &mut changes);
    if ticket.generation != circuit.generation {
        return (Settled::Late, changes);
    }
    if ticket.place == Ticket::NO_VOTE {
        return (Settled::Counted, changes);
    }
    circuit.end_ramp(law.policy, now);
    let verdict = outcome.verdict;
    match &mut circuit.mode {
        Mode::Closed(closed) => {
            if let Some(ramp) = &mut closed.ramp {
                ramp.ended();
            }
            let judged = closed::judge(law.policy, closed.failures, outcome, &observed.sums);
            match judged {
                Count::Keep => {}
                Count::Failures(next) => closed.failures = next,
                Count::Trip(reason) => {
                    changes.push(circuit.open(law, verdict, reason, observed, now));
                }
            }
        }
        // Nobody is admitted in the generation of an open circuit.
        Mode::Open(_) => {}
        Mode::HalfOpen(round) => match round.end(law.policy, ticket.place, outcome, now) {
            Decision::Undecided => {}
            Decision::Close(reason) => changes.push(circuit.close(law.policy, reason, now)),
            Decision::Open(reason) => {
                changes.push(circuit.open(law, verdict, reason, observed, now));
            }
        },
    }
    (Settled::Counted, changes)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::rules::Command;
    use crate::rules::command;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const POLICY: Policy = Policy::new().threshold(1).cooldown(Duration::from_secs(60));

    fn start() -> Tick {
        Tick(1_000)
    }

    const LAW: Law<'static> = Law {
        policy: &POLICY,
        seed: 0,
    };

    fn end(circuit: &mut Circuit, ticket: Ticket, verdict: Verdict, now: Tick) -> Settled {
        let outcome = Outcome {
            verdict,
            is_slow: false,
        };
        settle(&LAW, circuit, ticket, outcome, &Observed::default(), now).0
    }

    fn admitted(circuit: &mut Circuit, now: Tick) -> Ticket {
        match admit(&LAW, circuit, &Observed::default(), now).0 {
            Admission::Admitted(ticket) => ticket,
            refused => panic!("refused: {refused:?}"),
        }
    }

    fn tripped() -> Circuit {
        let mut circuit = Circuit::new(&POLICY, start());
        let ticket = admitted(&mut circuit, start());
        end(&mut circuit, ticket, Verdict::Failure, start());
        circuit
    }

    #[test]
    fn a_circuit_rests_while_it_is_plainly_closed_and_nobody_forces_it() {
        let mut circuit = Circuit::new(&POLICY, start());
        assert!(circuit.clone().rests(&POLICY, start()));
        assert!(!tripped().rests(&POLICY, start()));
        let shadow = POLICY.shadow(true);
        assert!(Circuit::new(&shadow, start()).rests(&shadow, start()));
        command(&LAW, &mut circuit, Command::ForceClosed(SECOND), start());
        assert!(!circuit.rests(&POLICY, start()));
    }

    /// B031
    #[test]
    fn a_success_from_before_the_trip_does_not_close_the_circuit() {
        let mut circuit = Circuit::new(&POLICY, start());
        let old = admitted(&mut circuit, start());
        let failing = admitted(&mut circuit, start());
        end(&mut circuit, failing, Verdict::Failure, start());
        admitted(&mut circuit, start() + 60 * SECOND);

        let late = end(&mut circuit, old, Verdict::Success, start() + 61 * SECOND);
        assert_eq!(late, Settled::Late);
        assert_eq!(circuit.state(), State::HalfOpen);
    }

    /// E2, L5
    #[test]
    fn the_end_of_an_opening_is_inclusive() {
        let mut circuit = tripped();
        let over = start() + POLICY.get_cooldown();
        let early = admit(&LAW, &mut circuit, &Observed::default(), Tick(over.0 - 1)).0;
        assert!(matches!(early, Admission::Open(_)));
        admitted(&mut circuit, over);
        assert_eq!(circuit.state(), State::HalfOpen);
    }

    /// B035
    #[test]
    fn a_second_failure_of_the_same_generation_does_not_move_the_opening() {
        let mut circuit = Circuit::new(&POLICY, start());
        let tickets = [0; 2].map(|_| admitted(&mut circuit, start()));
        end(&mut circuit, tickets[0], Verdict::Failure, start());
        let before = circuit.clone();
        end(
            &mut circuit,
            tickets[1],
            Verdict::Failure,
            start() + 30 * SECOND,
        );
        assert_eq!(circuit, before);
    }

    #[test]
    fn every_transition_begins_a_generation() {
        let mut circuit = tripped();
        assert_eq!(circuit.generation, 1);
        let probe = admitted(&mut circuit, start() + 60 * SECOND);
        assert_eq!((circuit.generation, probe.generation), (2, 2));
        end(&mut circuit, probe, Verdict::Success, start() + 60 * SECOND);
        assert_eq!((circuit.generation, circuit.state()), (3, State::Closed));
    }
}
