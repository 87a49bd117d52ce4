use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use crate::policy::Policy;
use crate::registry::Registry;
use crate::rules::fleet::Cover;
use crate::rules::fleet::Phase as Stands;

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
