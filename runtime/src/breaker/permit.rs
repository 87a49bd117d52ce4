//! Leave to make one call, settled exactly once.

use std::fmt;
use std::mem;

use crate::breaker::Breaker;
use crate::cells::Tally;
use crate::clock::Tick;
use crate::verdict::Verdict;
use crate::word::Word;

/// Leave to make one call.
///
/// Settle it with what the call said about the service. Dropped unsettled it
/// reports a cancelled call, which by default says nothing; a probe that is dropped
/// always gives its place back. It is bound to the moment at which it was given: if
/// the circuit has moved since, its outcome is counted as late and decides nothing.
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
    breaker: &'b Breaker,
    /// The word at admission; a probe has its place in the round there.
    seen: Word,
    stamp: Stamp,
}

/// When the call began, and whether the caller's code is running: one word, so that
/// a guarded future stays small.
#[derive(Clone, Copy)]
pub(crate) struct Stamp(u64);

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Recorded(Verdict),
    Cancelled,
    Panicked,
}

impl Stamp {
    /// For calls whose age nobody asks for.
    pub(super) const UNTIMED: Self = Self(u64::MAX & !Self::RUNNING);

    const RUNNING: u64 = 1;

    pub(super) const fn at(now: Tick) -> Self {
        Self(now.0 << 1)
    }

    /// Nanoseconds since the call began.
    pub(super) const fn age(self, now: Tick) -> u64 {
        now.0.saturating_sub(self.0 >> 1)
    }
}

impl<'b> Permit<'b> {
    #[inline]
    pub(super) const fn new(breaker: &'b Breaker, seen: Word, stamp: Stamp) -> Self {
        Self {
            breaker,
            seen,
            stamp,
        }
    }

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

    /// The call ended with this verdict.
    #[inline]
    pub fn record(self, verdict: Verdict) {
        let breaker = self.breaker;
        if matches!(verdict, Verdict::Success) && breaker.gate.is_calm_since(self.seen) {
            breaker.cells.add(Tally::Success);
        } else {
            breaker.settle(self.seen, self.stamp, Ending::Recorded(verdict));
        }
        mem::forget(self);
    }

    /// Whether this call is a probe of a half-open circuit.
    #[must_use]
    pub fn is_probe(&self) -> bool {
        !self.seen.is_closed()
    }

    /// Marks that the caller's code runs, so that an unwinding drop is known to be
    /// its panic. `std::thread::panicking()` would also blame a call that waits
    /// beside the one that panics.
    #[inline]
    pub(super) const fn mark_running(&mut self) {
        self.stamp.0 |= Stamp::RUNNING;
    }

    #[inline]
    pub(super) const fn mark_waiting(&mut self) {
        self.stamp.0 &= !Stamp::RUNNING;
    }

    const fn is_running(&self) -> bool {
        self.stamp.0 & Stamp::RUNNING != 0
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let ending = if self.is_running() {
            Ending::Panicked
        } else {
            Ending::Cancelled
        };
        self.breaker.settle(self.seen, self.stamp, ending);
    }
}

impl fmt::Debug for Permit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit")
            .field("service", &self.breaker.name)
            .field("generation", &self.seen.generation())
            .field("is_probe", &self.is_probe())
            .finish()
    }
}
