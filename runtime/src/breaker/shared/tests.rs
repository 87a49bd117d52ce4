use std::pin::pin;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Context;
use std::task::Waker;
use std::thread;
use std::time::Instant;

use crate::policy::Policy;
use crate::registry::Registry;
use crate::rejected::Rejected;
use crate::rejected::RejectedKind;
use crate::rules::fleet::Cover;
use crate::rules::fleet::Phase as Stands;
use crate::rules::fleet::Snapshot;

use super::*;

/// A circuit that all decide, where nobody gives leave to probe.
fn shared(name: &str) -> &'static Breaker {
    let registry = Registry::builder().declare_with(name, Policy::new());
    let registry = registry.build().expect("a right set-up");
    let breaker: &'static Breaker = registry.breaker(name).expect("declared");
    let link = Arc::new(Link::new(1, WhenStoreIsLost::Local));
    breaker.join(&link).expect("it joins once");
    link.set_up();
    hear(breaker, 9, Stands::Open, None);
    breaker
}

/// It stands so, and if it is open, that is over.
fn hear(breaker: &Breaker, epoch: u64, phase: Stands, cover: Option<Cover>) {
    let snapshot = Snapshot {
        epoch,
        phase,
        until: 9,
        length: 1,
        trips: 1,
        cover,
        ..Snapshot::default()
    };
    breaker.hear(&snapshot, 9, &News::default(), false);
}

/// Calls all the while, and says how many calls were let in.
fn admitted(breaker: &Breaker, does: impl FnOnce()) -> u32 {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let callers = [0; 3].map(|_| {
            scope.spawn(|| {
                let mut admitted = 0;
                while !is_over.load(Relaxed) {
                    admitted += u32::from(breaker.try_acquire().is_ok());
                }
                admitted
            })
        });
        does();
        is_over.store(true, Relaxed);
        let admitted = callers.map(|caller| caller.join().expect("no call panics"));
        admitted.iter().sum()
    })
}

/// The circuit had moved before it was noted that all had decided so, and who came between
/// probed without leave.
#[test]
fn nobody_probes_without_leave_while_the_circuit_moves_as_all_have_decided() {
    let breaker = shared("moving");
    let admitted = admitted(breaker, || {
        for epoch in (10..20_000).step_by(2) {
            hear(breaker, epoch, Stands::HalfOpen, None);
            hear(breaker, epoch + 1, Stands::Open, None);
        }
    });
    assert_eq!(admitted, 0);
}

#[test]
fn nobody_probes_without_leave_while_an_override_of_all_ends() {
    let breaker = shared("ending");
    let admitted = admitted(breaker, || {
        for epoch in 10..300 {
            let cover = Cover {
                kind: CoverKind::ForcedOpen,
                id: epoch,
                began: 9,
                until: 10,
                actor: "ana".to_owned(),
                why: "a test".to_owned(),
            };
            hear(breaker, epoch, Stands::Open, Some(cover));
            while breaker.gate.load().phase() == Phase::ForcedOpen {
                thread::yield_now();
            }
        }
    });
    assert_eq!(admitted, 0);
}

/// Each woke the thread that talks to the store, which had nothing to do for it.
#[test]
fn calls_whose_leave_nobody_asks_for_now_wake_nobody() {
    let breaker = shared("storm");
    let member = breaker.member().expect("it has joined");
    let is_rung = || {
        let rung = pin!(member.bell.notified());
        rung.poll(&mut Context::from_waker(Waker::noop()))
            .is_ready()
    };
    let is_rejected = |rejected: Result<_, Rejected>| {
        assert_eq!(
            rejected.err().map(|it| it.kind()),
            Some(RejectedKind::ProbesBusy)
        );
    };
    is_rejected(breaker.try_acquire().map(drop));
    assert!(is_rung());
    for _ in 0..9 {
        member.probes(|probes| probes.refused(Instant::now()));
    }
    for _ in 0..9 {
        is_rejected(breaker.try_acquire().map(drop));
        is_rejected(breaker.call_blocking(|| Ok::<_, ()>(())).map_err(rejection));
    }
    assert!(!is_rung());
}

fn rejection(error: crate::Error<()>) -> Rejected {
    match error {
        crate::Error::Rejected(rejected) => rejected,
        other => panic!("no call was made: {other:?}"),
    }
}
