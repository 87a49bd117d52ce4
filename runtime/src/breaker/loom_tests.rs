//! Permits under every interleaving that matters: the breaker as it is, asked by several
//! threads.
//!
//! `RUSTFLAGS="--cfg breakerbox_loom" cargo test -p breakerbox --features test-util --lib
//! --release loom`
//!
//! What is modelled is the word, what stands beside it, and the lock behind it. The locks of
//! std that a breaker takes are safe to take here, since nothing that is modelled happens
//! while one is held that anybody could wait for; and the threads of a model count in one
//! place, since all of them are run by one. Time stands still but where a test moves it.

use std::time::Duration;

use loom::thread;

use crate::clock::ManualClock;
use crate::event::Event;
use crate::reason::Reason;
use crate::rejected::RejectedKind;

use super::*;

const COOLDOWN: Duration = Duration::from_nanos(10);
const POLICY: Policy = Policy::new().cooldown(COOLDOWN);

/// A breaker of this model alone, and its time.
fn breaker(policy: Policy) -> (&'static Breaker, ManualClock) {
    let time = ManualClock::new();
    let host = Arc::new(Host::with_clock(time.clock()));
    let layers = Layers::new(None, Arc::default(), policy);
    // A service lives for ever anyway.
    (
        Box::leak(Box::new(Breaker::new("loom", layers, host))),
        time,
    )
}

/// One that has opened, and whose next call is a probe.
fn at_the_end_of_its_cooldown(policy: Policy) -> (&'static Breaker, ManualClock) {
    let (breaker, time) = breaker(policy);
    enter(breaker).failure();
    assert_eq!(breaker.state(), State::Open);
    time.advance(COOLDOWN);
    breaker.service.take_events();
    (breaker, time)
}

fn enter(breaker: &'static Breaker) -> Permit<'static> {
    breaker.try_acquire().expect("nothing is in its way")
}

/// The moves of the circuit since they were taken last, each with the generation it began.
fn moves(breaker: &Breaker) -> Vec<(State, State, u64)> {
    let events = breaker.service.take_events().into_iter();
    let moves = events.filter_map(|event| match event {
        Event::Transition(it) => Some((it.from, it.to, it.generation)),
        _ => None,
    });
    moves.collect()
}

/// J7, B015
#[test]
fn loom_of_two_that_ask_for_one_probe_one_gets_it_and_the_other_is_told_so() {
    loom::model(|| {
        let (breaker, _time) = at_the_end_of_its_cooldown(POLICY.threshold(1));
        let other = thread::spawn(|| breaker.try_acquire());
        let mine = breaker.try_acquire();
        let (probe, rejected) = match (mine, other.join().unwrap()) {
            (Ok(probe), Err(rejected)) | (Err(rejected), Ok(probe)) => (probe, rejected),
            both => panic!("{both:?}"),
        };
        assert!(probe.is_probe());
        assert_eq!(rejected.kind(), RejectedKind::ProbesBusy);
        probe.success();
        assert_eq!(
            moves(breaker),
            [
                (State::Open, State::HalfOpen, 2),
                (State::HalfOpen, State::Closed, 3)
            ]
        );
        assert_eq!(breaker.state(), State::Closed);
        assert_eq!(breaker.snapshot().calls.rejected, 1);
    });
}

/// J7: a place that is given back is found by whoever comes, and there is only the one.
#[test]
fn loom_the_place_of_a_probe_that_is_dropped_is_given_once_and_never_lost() {
    loom::model(|| {
        let (breaker, _time) = at_the_end_of_its_cooldown(POLICY.threshold(1));
        let dropped = enter(breaker);
        let dropping = thread::spawn(|| drop(dropped));
        let asking = thread::spawn(|| breaker.try_acquire());
        let mine = breaker.try_acquire();
        dropping.join().unwrap();
        let others = asking.join().unwrap();
        let probe = match (mine, others) {
            (Ok(_), Ok(_)) => panic!("one place for two"),
            (Ok(probe), Err(_)) | (Err(_), Ok(probe)) => probe,
            (Err(_), Err(_)) => enter(breaker),
        };
        assert!(breaker.try_acquire().is_err());
        probe.success();
        assert_eq!(breaker.state(), State::Closed);
        assert_eq!(breaker.snapshot().in_flight, 0);
    });
}

/// J2
#[test]
fn loom_a_success_beside_the_failure_that_opens_comes_before_it_or_too_late() {
    loom::model(|| {
        let (breaker, _time) = breaker(POLICY.threshold(2));
        let (old, first, last) = (enter(breaker), enter(breaker), enter(breaker));
        first.failure();
        let succeeding = thread::spawn(|| old.success());
        last.failure();
        succeeding.join().unwrap();
        let snapshot = breaker.snapshot();
        assert_eq!(snapshot.calls.failure, 2);
        match breaker.state() {
            State::Open => {
                assert_eq!(moves(breaker), [(State::Closed, State::Open, 1)]);
                assert_eq!((snapshot.calls.success, snapshot.calls.late), (0, 1));
            }
            state => {
                assert_eq!((state, moves(breaker)), (State::Closed, Vec::new()));
                assert_eq!((snapshot.calls.success, snapshot.calls.late), (1, 0));
                assert_eq!(snapshot.consecutive_failures, 1);
            }
        }
    });
}

/// B045, B048
#[test]
fn loom_failures_of_several_threads_open_the_circuit_once_and_with_one_move() {
    loom::model(|| {
        let (breaker, _time) = breaker(POLICY.threshold(2));
        let (mine, others) = (enter(breaker), [enter(breaker), enter(breaker)]);
        let failing = others.map(|permit| thread::spawn(|| permit.failure()));
        mine.failure();
        for failing in failing {
            failing.join().unwrap();
        }
        assert_eq!(breaker.state(), State::Open);
        assert_eq!(moves(breaker), [(State::Closed, State::Open, 1)]);
        let calls = breaker.snapshot().calls;
        assert_eq!((calls.failure, calls.late), (2, 1));
    });
}

/// The first opening ends as it is looked at, and another probe may have failed meanwhile.
#[test]
fn loom_whoever_is_rejected_is_told_of_one_opening_and_not_of_two() {
    let mut model = loom::model::Builder::new();
    // Of what may still be seen of the past all is tried, whatever the bound.
    model.preemption_bound = Some(2);
    model.check(|| {
        let (breaker, _time) = at_the_end_of_its_cooldown(POLICY.threshold(1));
        // The one who writes goes first: loom knows of each place who used it last, and would
        // not see that the other has read what this one reads again before it writes.
        let asking = thread::spawn(|| breaker.try_acquire());
        if let Ok(probe) = breaker.try_acquire() {
            probe.failure();
        }
        if let Err(rejected) = asking.join().unwrap() {
            let told = (rejected.kind(), rejected.retry_after(), rejected.reason());
            match told {
                (RejectedKind::ProbesBusy, None, _) => {}
                (RejectedKind::Open, Some(COOLDOWN), Some(Reason::ProbeFailed)) => {}
                told => panic!("{told:?}"),
            }
        }
    });
}
