use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use crate::policy::Policy;
use crate::registry::Registry;
use crate::rules::fleet::Phase as Stands;

use super::*;

/// The circuit had moved before it was noted that all had decided so, and who came between
/// probed without leave.
#[test]
fn nobody_probes_without_leave_while_the_circuit_moves_as_all_have_decided() {
    let registry = Registry::builder().declare_with("moving", Policy::new());
    let registry = registry.build().expect("a right set-up");
    let breaker: &'static Breaker = registry.breaker("moving").expect("declared");
    let link = Arc::new(Link::new(1, WhenStoreIsLost::Local));
    breaker.join(&link).expect("it joins once");
    link.set_up();
    let hear = |epoch, phase| {
        let snapshot = Snapshot {
            epoch,
            phase,
            until: 9,
            length: 1,
            trips: 1,
            ..Snapshot::default()
        };
        breaker.hear(&snapshot, 9, &News::default(), false);
    };
    hear(9, Stands::Open);
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
        for epoch in (10..20_000).step_by(2) {
            hear(epoch, Stands::HalfOpen);
            hear(epoch + 1, Stands::Open);
        }
        is_over.store(true, Relaxed);
        let admitted = callers.map(|caller| caller.join().expect("no call panics"));
        assert_eq!(admitted, [0; 3]);
    });
}
