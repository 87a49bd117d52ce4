//! The place where one call stands in a breaker: not yet in, in, or out again.
//!
//! A guard stays where it was made and is changed there. Moved by value through the
//! state of a future it would be written in words and read back in wider pieces,
//! which costs a processor more than all the rest of a guarded call.

use std::fmt;
use std::mem;

use crate::breaker::Breaker;
use crate::cells::Tally;
use crate::clock::Tick;
use crate::verdict::Verdict;
use crate::word::Word;

/// One call's place in a breaker. Dropped while the call is in, it reports a
/// cancelled call, or a panicked one.
pub struct Guard<'b> {
    breaker: &'b Breaker,
    /// The word at admission, where a probe has its place in the round; or
    /// [`Word::NONE`] while the call is not in; or [`Word::ASKING`] while it waits for leave.
    seen: Word,
    /// While it waits, which of those that do it is.
    stamp: Stamp,
}

/// When the call began, whether that was counted, and whether the caller's code is running:
/// one word, so that a guarded future stays small.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp(u64);

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Recorded(Verdict),
    Cancelled,
    /// By a timeout of the same function, outside of the breaker.
    Struck,
    Panicked,
}

impl Stamp {
    /// For calls whose age nobody asks for.
    pub(super) const UNTIMED: Self = Self(!Self::RUNNING);

    /// For a call that has to ask the lock.
    pub(super) const OUTSIDE: Self = Self(!(Self::RUNNING | Self::COUNTED));

    /// Of a call that is not in: it was given up at its deadline.
    pub(super) const TOO_LATE: Self = Self(!(Self::RUNNING | Self::COUNTED | 4));

    const RUNNING: u64 = 1;
    const COUNTED: u64 = 2;

    #[inline]
    pub(super) const fn at(now: Tick) -> Self {
        Self(now.0 << 2)
    }

    /// The beginning of the call was counted.
    #[inline]
    pub(super) const fn counted_at(now: Tick) -> Self {
        Self(now.0 << 2 | Self::COUNTED)
    }

    const fn is_timed(self) -> bool {
        self.0 | Self::RUNNING != u64::MAX
    }

    /// Nanoseconds since the call began, if it is known when.
    #[inline]
    pub(super) const fn age(self, now: Tick) -> Option<u64> {
        if self.is_timed() {
            Some(now.0.saturating_sub(self.0 >> 2))
        } else {
            None
        }
    }

    /// When it began, where that was counted.
    #[inline]
    pub(super) const fn counted(self) -> Option<Tick> {
        if self.is_timed() && self.0 & Self::COUNTED != 0 {
            Some(Tick(self.0 >> 2))
        } else {
            None
        }
    }
}

impl<'b> Guard<'b> {
    #[inline]
    pub(super) const fn admitted(breaker: &'b Breaker, seen: Word, stamp: Stamp) -> Self {
        Self {
            breaker,
            seen,
            stamp,
        }
    }

    /// The place of a call that is not in.
    #[inline]
    pub(super) const fn outside(breaker: &'b Breaker) -> Self {
        Self::admitted(breaker, Word::NONE, Stamp::UNTIMED)
    }

    #[inline]
    pub(crate) const fn is_in(&self) -> bool {
        self.seen.0 < Word::ASKING.0
    }

    /// Not in, and not waiting.
    #[inline]
    pub(super) const fn is_outside(&self) -> bool {
        self.seen.0 == Word::NONE.0
    }

    pub(crate) const fn breaker(&self) -> &'b Breaker {
        self.breaker
    }

    pub(super) const fn seen(&self) -> Word {
        self.seen
    }

    /// Where it stands now.
    pub(super) const fn set(&mut self, seen: Word, stamp: Stamp) {
        self.seen = seen;
        self.stamp = stamp;
    }

    /// Whether it was given up at its deadline.
    pub(super) fn is_too_late(&self) -> bool {
        self.is_outside() && self.stamp == Stamp::TOO_LATE
    }

    /// Which of those it is that wait for leave.
    #[cfg(feature = "redis")]
    pub(super) const fn waiter(&self) -> u64 {
        self.stamp.0
    }

    /// It has asked for leave, and waits.
    pub(super) const fn asks(&mut self, waiter: u64) {
        self.set(Word::ASKING, Stamp(waiter));
    }

    /// The call ended with this verdict. Says whether that opened the circuit.
    #[inline]
    pub(crate) fn settle(&mut self, verdict: Verdict) -> bool {
        if self.breaker.is_usual(self.seen, verdict) {
            self.breaker.service.cells.add(Tally::Success);
            self.seen = Word::NONE;
            return false;
        }
        self.settle_rest(verdict)
    }

    #[inline(never)]
    fn settle_rest(&mut self, verdict: Verdict) -> bool {
        let opened = self.breaker.record_rest(self.seen, self.stamp, verdict);
        self.seen = Word::NONE;
        opened
    }

    /// The same for a guard that was moved here: its drop has nothing left to look at, and it
    /// is taken apart, so that it never stands in memory.
    #[inline]
    pub(super) fn settle_and_leave(self, verdict: Verdict) -> bool {
        let Self {
            breaker,
            seen,
            stamp,
        } = self;
        mem::forget(self);
        if breaker.is_usual(seen, verdict) {
            breaker.service.cells.add(Tally::Success);
            return false;
        }
        breaker.record_rest(seen, stamp, verdict)
    }

    /// Marks that the caller's code runs, so that an unwinding drop is known to be
    /// its panic. `std::thread::panicking()` would also blame a call that waits
    /// beside the one that panics.
    #[inline]
    pub(super) const fn mark_running(&mut self) {
        self.stamp.0 |= Stamp::RUNNING;
    }

    #[inline]
    pub(crate) const fn mark_waiting(&mut self) {
        self.stamp.0 &= !Stamp::RUNNING;
    }

    /// A policy inside the breaker refused the call, which was not made then: it says nothing
    /// about the service, or is a failure by `verdict`.
    #[cold]
    pub(crate) fn not_made(&mut self, verdict: Verdict) {
        self.end(Ending::Recorded(verdict));
    }

    /// A timeout of the same function, outside of the breaker, struck.
    #[cold]
    pub(crate) fn struck(&mut self) {
        self.end(Ending::Struck);
    }

    /// Dropped before its call has ended, or before it got in.
    #[cold]
    fn leave(&mut self) {
        if self.seen.0 == Word::ASKING.0 {
            return self.ask_no_more();
        }
        self.end(if self.stamp.0 & Stamp::RUNNING == 0 {
            Ending::Cancelled
        } else {
            Ending::Panicked
        });
    }

    #[cold]
    fn end(&mut self, ending: Ending) -> bool {
        let opened = self.is_in() && self.breaker.settle(self.seen, self.stamp, ending);
        self.seen = Word::NONE;
        opened
    }
}

impl Drop for Guard<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.seen.0 != Word::NONE.0 {
            self.leave();
        }
    }
}

impl fmt::Debug for Guard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard")
            .field("service", &self.breaker.service.name)
            .field("is_in", &self.is_in())
            .finish()
    }
}
