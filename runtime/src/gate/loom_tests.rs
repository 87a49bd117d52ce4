//! The gate under every interleaving that matters.
//!
//! `RUSTFLAGS="--cfg breakerbox_loom" cargo test -p breakerbox --lib --release loom`

use std::time::Duration;

use loom::sync::Arc;
use loom::thread;

use super::*;

const POLICY: Policy = Policy::new().cooldown(Duration::from_nanos(10));

/// B045, B048
#[test]
fn loom_failures_that_race_open_the_circuit_exactly_once() {
    loom::model(|| {
        let gate = Arc::new(Gate::new(POLICY.threshold(2)));
        let seen = gate.load();
        let others: Vec<_> = (0..2)
            .map(|_| {
                let gate = Arc::clone(&gate);
                thread::spawn(move || gate.settle(seen, Verdict::Failure, Tick(0)).1)
            })
            .collect();
        let mine = gate.settle(seen, Verdict::Failure, Tick(0)).1;
        let changes = others
            .into_iter()
            .filter_map(|other| other.join().unwrap())
            .chain(mine)
            .count();
        assert_eq!(changes, 1);
        assert_eq!(gate.load(), Word::new(1, 0, State::Open));
    });
}

#[test]
fn loom_a_success_beside_a_failure_never_loses_the_trip() {
    loom::model(|| {
        let gate = Arc::new(Gate::new(POLICY.threshold(1)));
        let seen = gate.load();
        let other = {
            let gate = Arc::clone(&gate);
            thread::spawn(move || {
                if !gate.is_calm_since(seen) {
                    gate.settle(seen, Verdict::Success, Tick(0));
                }
            })
        };
        gate.settle(seen, Verdict::Failure, Tick(0));
        other.join().unwrap();
        assert_eq!(gate.load().state(), State::Open);
    });
}

/// J7, B015
#[test]
fn loom_callers_that_race_for_one_probe_get_it_once() {
    loom::model(|| {
        let gate = Arc::new(Gate::new(POLICY.threshold(1)));
        gate.settle(gate.load(), Verdict::Failure, Tick(0));
        let other = {
            let gate = Arc::clone(&gate);
            thread::spawn(move || gate.admit(Tick(10)).0.is_ok())
        };
        let mine = gate.admit(Tick(10)).0.is_ok();
        assert!(mine != other.join().unwrap());
    });
}

/// J2, B033
#[test]
fn loom_an_old_outcome_beside_a_probe_changes_nothing() {
    loom::model(|| {
        let gate = Arc::new(Gate::new(POLICY.threshold(1)));
        let old = gate.load();
        gate.settle(old, Verdict::Failure, Tick(0));
        let probe = gate.admit(Tick(10)).0.unwrap();
        let other = {
            let gate = Arc::clone(&gate);
            thread::spawn(move || gate.settle(old, Verdict::Success, Tick(11)).0)
        };
        gate.settle(probe, Verdict::Failure, Tick(11));
        assert_eq!(other.join().unwrap(), Settled::Late);
        assert_eq!(gate.load().state(), State::Open);
    });
}

#[test]
fn loom_a_reader_never_mixes_two_openings() {
    loom::model(|| {
        let gate = Arc::new(Gate::new(POLICY.threshold(1)));
        gate.settle(gate.load(), Verdict::Failure, Tick(0));
        let other = {
            let gate = Arc::clone(&gate);
            thread::spawn(move || {
                let probe = gate.admit(Tick(10)).0.unwrap();
                gate.settle(probe, Verdict::Failure, Tick(20));
            })
        };
        if let Some(opening) = gate.opening(Tick(5)) {
            match opening.reason {
                Reason::Threshold { .. } => assert_eq!(opening.until, Tick(10)),
                _ => assert_eq!(opening.until, Tick(30)),
            }
        }
        other.join().unwrap();
    });
}
