//! Which probes' bodies this thread is inside of.
//!
//! A guarded function may call another one of the same service. In a half-open
//! circuit the outer call is the probe, and the inner one must not be turned away
//! for want of a place, or a healthy service could never show that it is. So it
//! rides along and needs no place. Its success is no vote, which the outer call has;
//! its failure is one, since it is the service that failed.

use std::cell::RefCell;
use std::ptr;

use crate::breaker::Breaker;

/// A probe whose body runs: its breaker's address and generation.
type Probe = (usize, u64);

thread_local! {
    static INSIDE: RefCell<Vec<Probe>> = const { RefCell::new(Vec::new()) };
}

/// This thread is inside a probe until this is dropped.
pub(super) struct Inside(());

impl Inside {
    #[cold]
    pub(super) fn enter(breaker: &Breaker, generation: u64) -> Option<Self> {
        INSIDE
            .try_with(|inside| inside.borrow_mut().push(probe(breaker, generation)))
            .ok()
            .map(|()| Self(()))
    }
}

impl Drop for Inside {
    #[cold]
    fn drop(&mut self) {
        let _ = INSIDE.try_with(|inside| inside.borrow_mut().pop());
    }
}

/// Whether a call that comes now is made by a probe of `breaker` itself.
pub(super) fn is_inside(breaker: &Breaker, generation: u64) -> bool {
    INSIDE
        .try_with(|inside| inside.borrow().contains(&probe(breaker, generation)))
        .unwrap_or(false)
}

fn probe(breaker: &Breaker, generation: u64) -> Probe {
    (ptr::from_ref(breaker).addr(), generation)
}
