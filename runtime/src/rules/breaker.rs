//! The circuit: who is admitted, and what an outcome changes.

use crate::clock::Tick;
use crate::policy::Policy;
use crate::reason::Reason;
use crate::rules::closed;
use crate::rules::closed::Count;
use crate::rules::half_open::Decision;
use crate::rules::half_open::Place;
use crate::rules::half_open::Round;
use crate::rules::opening::Opening;
use crate::rules::ticket::Ticket;
use crate::state::State;
use crate::verdict::Verdict;

/// The largest generation: it has 42 bits in the packed word. After it comes 0, and no
/// call is out that long.
pub(crate) const GENERATIONS: u64 = (1 << 42) - 1;

/// All that the law knows of one circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Circuit {
    /// Raised by every transition, so that an outcome can tell that it is about
    /// the past.
    pub(crate) generation: u64,
    pub(crate) mode: Mode,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Closed { failures: u32 },
    Open(Opening),
    HalfOpen(Round),
}

/// What a call is told that wants to pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    Admitted(Ticket),
    Open(Opening),
    ProbesBusy,
}

/// What became of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    /// It is about the past: the circuit has moved since the call was admitted.
    Late,
    Counted,
}

/// A move of the circuit from one state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) from: State,
    pub(crate) to: State,
    pub(crate) reason: Reason,
    /// The generation that begins with it.
    pub(crate) generation: u64,
    pub(crate) at: Tick,
    /// The end of the opening, where it opened.
    pub(crate) until: Option<Tick>,
}

impl Circuit {
    pub(crate) const fn new() -> Self {
        Self {
            generation: 0,
            mode: Mode::Closed { failures: 0 },
        }
    }

    pub(crate) const fn state(&self) -> State {
        match self.mode {
            Mode::Closed { .. } => State::Closed,
            Mode::Open(_) => State::Open,
            Mode::HalfOpen(_) => State::HalfOpen,
        }
    }

    fn move_to(&mut self, mode: Mode, reason: Reason, now: Tick) -> Change {
        let from = self.state();
        let until = match &mode {
            Mode::Open(opening) => Some(opening.until),
            Mode::Closed { .. } | Mode::HalfOpen(_) => None,
        };
        self.mode = mode;
        self.generation = (self.generation + 1) & GENERATIONS;
        Change {
            from,
            to: self.state(),
            reason,
            generation: self.generation,
            at: now,
            until,
        }
    }

    fn open(&mut self, policy: &Policy, verdict: Verdict, reason: Reason, now: Tick) -> Change {
        let opening = Opening::begin(policy, verdict, reason, now);
        self.move_to(Mode::Open(opening), reason, now)
    }
}

/// A call comes at `now`.
pub(crate) fn admit(
    policy: &Policy,
    circuit: &mut Circuit,
    now: Tick,
) -> (Admission, Option<Change>) {
    let mut change = None;
    if let Mode::Open(opening) = circuit.mode {
        // Inclusive, so that whoever comes at the instant it was told is admitted.
        if now < opening.until {
            return (Admission::Open(opening), None);
        }
        let round = Mode::HalfOpen(Round::default());
        change = Some(circuit.move_to(round, Reason::CooldownOver, now));
    }
    let place = match &mut circuit.mode {
        Mode::HalfOpen(round) => round.take(policy, now),
        Mode::Closed { .. } | Mode::Open(_) => Place::Taken(0),
    };
    match place {
        Place::Taken(place) => {
            let ticket = Ticket {
                generation: circuit.generation,
                place,
            };
            (Admission::Admitted(ticket), change)
        }
        Place::Busy => (Admission::ProbesBusy, change),
        Place::Close(reason) => {
            let closed = Mode::Closed { failures: 0 };
            change = Some(circuit.move_to(closed, reason, now));
            let ticket = Ticket {
                generation: circuit.generation,
                place: 0,
            };
            (Admission::Admitted(ticket), change)
        }
        Place::Open(reason) => {
            let change = circuit.open(policy, Verdict::Failure, reason, now);
            let opening = Opening {
                until: change.until.unwrap_or(now),
                reason,
            };
            (Admission::Open(opening), Some(change))
        }
    }
}

/// The call that `ticket` admitted has ended at `now`.
pub(crate) fn settle(
    policy: &Policy,
    circuit: &mut Circuit,
    ticket: Ticket,
    verdict: Verdict,
    now: Tick,
) -> (Settled, Option<Change>) {
    if ticket.generation != circuit.generation {
        return (Settled::Late, None);
    }
    let change = match &mut circuit.mode {
        Mode::Closed { failures } => {
            match closed::count(
                policy.get_threshold().unwrap_or(u32::MAX),
                *failures,
                verdict,
            ) {
                Count::Keep => None,
                Count::Failures(next) => {
                    *failures = next;
                    None
                }
                Count::Trip(reason) => Some(circuit.open(policy, verdict, reason, now)),
            }
        }
        // Nobody is admitted in the generation of an open circuit.
        Mode::Open(_) => None,
        Mode::HalfOpen(round) => match round.end(policy, ticket.place, verdict, now) {
            Decision::Undecided => None,
            Decision::Close(reason) => {
                Some(circuit.move_to(Mode::Closed { failures: 0 }, reason, now))
            }
            Decision::Open(reason) => Some(circuit.open(policy, verdict, reason, now)),
        },
    };
    (Settled::Counted, change)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const POLICY: Policy = Policy::new().threshold(1).cooldown(Duration::from_secs(60));

    fn start() -> Tick {
        Tick(1_000)
    }

    fn admitted(circuit: &mut Circuit, now: Tick) -> Ticket {
        match admit(&POLICY, circuit, now).0 {
            Admission::Admitted(ticket) => ticket,
            refused => panic!("refused: {refused:?}"),
        }
    }

    fn tripped() -> Circuit {
        let mut circuit = Circuit::new();
        let ticket = admitted(&mut circuit, start());
        settle(&POLICY, &mut circuit, ticket, Verdict::Failure, start());
        circuit
    }

    /// B031
    #[test]
    fn a_success_from_before_the_trip_does_not_close_the_circuit() {
        let mut circuit = Circuit::new();
        let old = admitted(&mut circuit, start());
        let failing = admitted(&mut circuit, start());
        settle(&POLICY, &mut circuit, failing, Verdict::Failure, start());
        admitted(&mut circuit, start() + 60 * SECOND);

        let late = settle(
            &POLICY,
            &mut circuit,
            old,
            Verdict::Success,
            start() + 61 * SECOND,
        );
        assert_eq!(late, (Settled::Late, None));
        assert_eq!(circuit.state(), State::HalfOpen);
    }

    /// E2, L5
    #[test]
    fn the_end_of_an_opening_is_inclusive() {
        let mut circuit = tripped();
        let end = start() + POLICY.get_cooldown();
        let early = admit(&POLICY, &mut circuit, Tick(end.0 - 1)).0;
        assert!(matches!(early, Admission::Open(_)));
        admitted(&mut circuit, end);
        assert_eq!(circuit.state(), State::HalfOpen);
    }

    /// B035
    #[test]
    fn a_second_failure_of_the_same_generation_does_not_move_the_opening() {
        let mut circuit = Circuit::new();
        let tickets = [0; 2].map(|_| admitted(&mut circuit, start()));
        settle(&POLICY, &mut circuit, tickets[0], Verdict::Failure, start());
        let before = circuit.clone();
        settle(
            &POLICY,
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
        settle(
            &POLICY,
            &mut circuit,
            probe,
            Verdict::Success,
            start() + 60 * SECOND,
        );
        assert_eq!((circuit.generation, circuit.state()), (3, State::Closed));
    }
}
