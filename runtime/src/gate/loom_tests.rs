//! The gate under every interleaving that matters.
//!
//! `RUSTFLAGS="--cfg breakerbox_loom" cargo test -p breakerbox --lib --release loom`

use std::time::Duration;

use loom::sync::Arc;
use loom::thread;

use crate::verdict::Verdict;

use super::*;

const POLICY: Policy = Policy::new().cooldown(Duration::from_nanos(10));

/// It shares the circuit with nobody.
struct Nobody;

impl Others for Nobody {
    fn govern(&self, _: u64) -> bool {
        false
    }

    fn follow(&self, _: u64) {}
}

/// A gate with its numbers, and no window.
struct Rig {
    gate: Gate,
    numbers: Numbers,
}

impl Rig {
    fn new(policy: Policy) -> Arc<Self> {
        Arc::new(Self {
            gate: Gate::new(&policy, Tick(0)),
            numbers: Numbers::new(policy, 0),
        })
    }

    fn admit(&self, now: Tick) -> Option<Word> {
        match self
            .gate
            .admit(&self.numbers, |_| Total::default(), &Nobody, now)
            .0
        {
            Answer::Admitted(seen) => Some(seen),
            _ => None,
        }
    }

    /// A call ends, as a breaker has it end; says whether that moved the circuit.
    fn end(&self, seen: Word, verdict: Verdict, now: Tick) -> (Settled, bool) {
        let outcome = Outcome {
            verdict,
            is_slow: false,
        };
        let threshold = self.numbers.policy.get_threshold().unwrap();
        if seen.is_closed()
            && let Some(settled) = self.gate.count(threshold, seen, outcome)
        {
            return (settled, false);
        }
        let totals = |_| Total::default();
        let (settled, changes) = self.gate.settle(&self.numbers, seen, outcome, totals, now);
        (settled, changes.iter().next().is_some())
    }

    fn fail(&self, now: Tick) {
        self.end(self.gate.load(), Verdict::Failure, now);
    }
}

/// B045, B048
#[test]
fn loom_failures_that_race_open_the_circuit_exactly_once() {
    loom::model(|| {
        let rig = Rig::new(POLICY.threshold(2));
        let seen = rig.gate.load();
        let others: Vec<_> = (0..2)
            .map(|_| {
                let rig = Arc::clone(&rig);
                thread::spawn(move || rig.end(seen, Verdict::Failure, Tick(0)).1)
            })
            .collect();
        let mine = rig.end(seen, Verdict::Failure, Tick(0)).1;
        let moved = others
            .into_iter()
            .map(|other| other.join().unwrap())
            .chain([mine])
            .filter(|moved| *moved)
            .count();
        assert_eq!(moved, 1);
        assert_eq!(rig.gate.load(), Word::new(1, 0, Phase::Open));
    });
}

#[test]
fn loom_a_success_beside_a_failure_never_loses_the_trip() {
    loom::model(|| {
        let rig = Rig::new(POLICY.threshold(1));
        let seen = rig.gate.load();
        let other = {
            let rig = Arc::clone(&rig);
            thread::spawn(move || {
                if !rig.gate.is_calm_since(seen) {
                    rig.end(seen, Verdict::Success, Tick(0));
                }
            })
        };
        rig.fail(Tick(0));
        other.join().unwrap();
        assert_eq!(rig.gate.load().phase(), Phase::Open);
    });
}

/// The success may reset the count while the failure that would trip holds the lock: then
/// the step runs again, and what it had made of the circuit is taken back.
#[test]
fn loom_a_reset_beside_a_trip_leaves_a_circuit_that_knows_its_count() {
    loom::model(|| {
        let rig = Rig::new(POLICY.threshold(2));
        rig.fail(Tick(0));
        let seen = rig.gate.load();
        let other = {
            let rig = Arc::clone(&rig);
            thread::spawn(move || rig.end(seen, Verdict::Success, Tick(0)))
        };
        rig.end(seen, Verdict::Failure, Tick(0));
        other.join().unwrap();
        let word = rig.gate.load();
        let (circuit, _) = rig.gate.peek(&rig.numbers, |_| Total::default(), Tick(0));
        match word.phase() {
            Phase::Open => assert_eq!((circuit.trips, word.generation()), (1, 1)),
            _ => assert_eq!((circuit.trips, word.generation()), (0, 0)),
        }
        assert_eq!(circuit.generation, word.generation());
    });
}

/// J7, B015
#[test]
fn loom_callers_that_race_for_one_probe_get_it_once() {
    loom::model(|| {
        let rig = Rig::new(POLICY.threshold(1));
        rig.fail(Tick(0));
        let other = {
            let rig = Arc::clone(&rig);
            thread::spawn(move || rig.admit(Tick(10)).is_some())
        };
        let mine = rig.admit(Tick(10)).is_some();
        assert!(mine != other.join().unwrap());
    });
}

/// J2, B033
#[test]
fn loom_an_old_outcome_beside_a_probe_changes_nothing() {
    loom::model(|| {
        let rig = Rig::new(POLICY.threshold(1));
        let old = rig.gate.load();
        rig.fail(Tick(0));
        let probe = rig.admit(Tick(10)).unwrap();
        let other = {
            let rig = Arc::clone(&rig);
            thread::spawn(move || rig.end(old, Verdict::Success, Tick(11)).0)
        };
        rig.end(probe, Verdict::Failure, Tick(11));
        assert_eq!(other.join().unwrap(), Settled::Late);
        assert_eq!(rig.gate.load().phase(), Phase::Open);
    });
}

/// The thread that reads is the one that is started: loom looks for other orders only
/// against the last access to each value, and whoever publishes reads before it writes.
#[test]
fn loom_a_reader_never_mixes_two_openings() {
    loom::model(|| {
        let rig = Rig::new(POLICY.threshold(1));
        rig.fail(Tick(0));
        let reader = {
            let rig = Arc::clone(&rig);
            thread::spawn(move || {
                let view = rig.gate.view();
                if view.word.phase() == Phase::Open {
                    match view.reason.unpack() {
                        Some(Reason::Threshold { .. }) => assert_eq!(view.until, Tick(10)),
                        _ => assert_eq!(view.until, Tick(30)),
                    }
                }
            })
        };
        let probe = rig.admit(Tick(10)).unwrap();
        rig.end(probe, Verdict::Failure, Tick(20));
        reader.join().unwrap();
    });
}

/// A permit that is dropped gives its place back, whoever comes meanwhile.
#[test]
fn loom_a_dropped_probe_leaves_its_place_to_one_other() {
    loom::model(|| {
        let rig = Rig::new(POLICY.threshold(1));
        rig.fail(Tick(0));
        let probe = rig.admit(Tick(10)).unwrap();
        let others: Vec<_> = (0..2)
            .map(|_| {
                let rig = Arc::clone(&rig);
                thread::spawn(move || rig.admit(Tick(10)).is_some())
            })
            .collect();
        rig.end(probe, Verdict::Ignore, Tick(10));
        let admitted = others
            .into_iter()
            .map(|other| other.join().unwrap())
            .filter(|admitted| *admitted)
            .count();
        assert!(admitted <= 1);
        let is_free = rig.admit(Tick(10)).is_some();
        assert_eq!(is_free, admitted == 0);
    });
}

/// Whoever forces a circuit and whoever opens it have both moved it.
#[test]
fn loom_a_command_beside_a_trip_ends_in_one_order_of_the_two() {
    loom::model(|| {
        let rig = Rig::new(POLICY.threshold(1));
        let other = {
            let rig = Arc::clone(&rig);
            thread::spawn(move || {
                let command = Command::ForceOpen(Duration::from_secs(1));
                rig.gate.command(&rig.numbers, command, Tick(0));
            })
        };
        rig.fail(Tick(0));
        other.join().unwrap();
        let word = rig.gate.load();
        assert_eq!(word.phase(), Phase::ForcedOpen);
        let (circuit, _) = rig.gate.peek(&rig.numbers, |_| Total::default(), Tick(0));
        let trips = u64::from(circuit.trips);
        assert_eq!(word.generation(), 1 + trips);
    });
}
