//! Leave to make one call, for those who ask by hand.

use std::fmt;

use crate::breaker::guard::Guard;
use crate::verdict::Verdict;

/// Leave to make one call.
///
/// Settle it with what the call said about the service. Dropped unsettled it
/// reports a cancelled call, which by default says nothing; a probe that is dropped
/// always gives its place back. It is bound to the moment at which it was given: if
/// the circuit has moved since, its outcome is counted as late and decides nothing.
///
/// A permit does not know what is done under it: guarded functions that are called while
/// it is held are no part of it. One of the same service asks for leave of its own, and
/// may not get it in half-open. What [`Breaker::call`](crate::Breaker::call) and
/// [`call_blocking`](crate::Breaker::call_blocking) run is part of their call.
///
/// ```
/// # let registry = breakerbox::Registry::builder().declare("mail").build().unwrap();
/// # let mail = registry.breaker("mail").unwrap();
/// # fn send() -> Result<(), std::io::Error> { Ok(()) }
/// let permit = mail.try_acquire()?;
/// match send() {
///     Ok(()) => permit.success(),
///     Err(_) => permit.failure(),
/// }
/// # Ok::<(), breakerbox::Rejected>(())
/// ```
#[must_use = "a permit that is dropped counts as a cancelled call"]
pub struct Permit<'b> {
    pub(super) guard: Guard<'b>,
}

impl Permit<'_> {
    /// The service answered.
    #[inline]
    pub fn success(self) {
        self.record(Verdict::Success);
    }

    /// The service failed.
    #[inline]
    pub fn failure(self) {
        self.record(Verdict::Failure);
    }

    /// The service failed, with this error. If that opens the circuit, the snapshot has
    /// the beginning of its text.
    pub fn failure_because(self, error: impl fmt::Display) {
        let breaker = self.guard.breaker();
        if self.guard.settle_and_leave(Verdict::Failure) {
            breaker.opened_by(&error);
        }
    }

    /// The call ended with this verdict.
    #[inline]
    pub fn record(self, verdict: Verdict) {
        self.guard.settle_and_leave(verdict);
    }

    /// Whether this call is a probe of a half-open circuit.
    #[must_use]
    pub const fn is_probe(&self) -> bool {
        self.guard.seen().is_probe()
    }
}

impl fmt::Debug for Permit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit")
            .field("service", &self.guard.breaker().name())
            .field("generation", &self.guard.seen().generation())
            .field("is_probe", &self.is_probe())
            .finish()
    }
}
