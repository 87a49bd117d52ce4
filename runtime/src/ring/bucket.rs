//! The counts of one bucket of time, in as few bits as they need.

use std::sync::atomic::Ordering;
use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::Ordering::Release;

use crate::ring::Ended;
use crate::ring::Total;
use crate::sync::AtomicU16;
use crate::sync::AtomicU32;

#[derive(Debug)]
pub(super) struct Bucket<C> {
    calls: C,
    failures: C,
    slow: C,
    /// Calls that began in it.
    started: C,
    /// Those of them that have not ended, in two's complement: another thread may have begun
    /// what this one ended.
    open: C,
}

/// A count that one thread at a time writes.
pub(crate) trait Counter {
    /// The most that it holds, and the most with a sign.
    const MOST: u32;
    const MOST_SIGNED: i32;

    fn zero() -> Self;
    fn get(&self, order: Ordering) -> u32;
    /// Sets it to at most [`MOST`](Self::MOST).
    fn set(&self, count: u32, order: Ordering);
    fn get_signed(&self) -> i32;
    fn set_signed(&self, count: i32);
}

impl Counter for AtomicU32 {
    const MOST: u32 = u32::MAX;
    const MOST_SIGNED: i32 = i32::MAX;

    fn zero() -> Self {
        Self::new(0)
    }

    #[inline(always)]
    fn get(&self, order: Ordering) -> u32 {
        self.load(order)
    }

    #[inline(always)]
    fn set(&self, count: u32, order: Ordering) {
        self.store(count, order);
    }

    #[inline(always)]
    fn get_signed(&self) -> i32 {
        self.load(Relaxed).cast_signed()
    }

    #[inline(always)]
    fn set_signed(&self, count: i32) {
        self.store(count.cast_unsigned(), Relaxed);
    }
}

impl Counter for AtomicU16 {
    const MOST: u32 = u16::MAX as u32;
    const MOST_SIGNED: i32 = i16::MAX as i32;

    fn zero() -> Self {
        Self::new(0)
    }

    fn get(&self, order: Ordering) -> u32 {
        u32::from(self.load(order))
    }

    fn set(&self, count: u32, order: Ordering) {
        self.store(u16::try_from(count).unwrap_or(u16::MAX), order);
    }

    fn get_signed(&self) -> i32 {
        i32::from(self.load(Relaxed).cast_signed())
    }

    fn set_signed(&self, count: i32) {
        let least = if count < 0 { i16::MIN } else { i16::MAX };
        let count = i16::try_from(count).unwrap_or(least);
        self.store(count.cast_unsigned(), Relaxed);
    }
}

impl<C: Counter> Bucket<C> {
    pub(super) fn new() -> Self {
        Self {
            calls: C::zero(),
            failures: C::zero(),
            slow: C::zero(),
            started: C::zero(),
            open: C::zero(),
        }
    }

    /// A call begins in it.
    #[inline(always)]
    pub(super) fn begin(&self) {
        add(&self.started);
        self.open.set_signed(self.open.get_signed().wrapping_add(1));
    }

    /// A call that began in it has ended.
    #[inline]
    pub(super) fn close(&self) {
        self.open.set_signed(self.open.get_signed().wrapping_sub(1));
    }

    /// A call ends in it. One that is full counts no further, so that its shares stay right.
    #[inline(always)]
    pub(super) fn record(&self, ended: Ended) {
        if add(&self.calls) {
            if ended.is_failure {
                add_last(&self.failures);
            }
            if ended.is_slow {
                add_last(&self.slow);
            }
        }
    }

    /// Whether one more call may be one too many.
    pub(super) fn is_full(&self) -> bool {
        self.calls.get(Relaxed) == C::MOST
            || self.started.get(Relaxed) == C::MOST
            || self.open.get_signed() == C::MOST_SIGNED
    }

    pub(super) fn open(&self) -> i32 {
        self.open.get_signed()
    }

    pub(super) fn started(&self) -> u32 {
        self.started.get(Relaxed)
    }

    pub(super) fn add_ended_to(&self, sum: &mut Total) {
        sum.failures += u64::from(self.failures.get(Acquire));
        sum.slow += u64::from(self.slow.get(Acquire));
        sum.calls += u64::from(self.calls.get(Relaxed));
    }

    pub(super) fn empty(&self) {
        self.failures.set(0, Relaxed);
        self.slow.set(0, Relaxed);
        self.calls.set(0, Relaxed);
        self.forget_begun();
    }

    pub(super) fn forget_begun(&self) {
        self.started.set(0, Relaxed);
        self.open.set(0, Relaxed);
    }
}

impl Bucket<AtomicU16> {
    /// The same with room for more.
    pub(super) fn widened(&self) -> Bucket<AtomicU32> {
        let widened = |count: &AtomicU16| AtomicU32::new(count.get(Relaxed));
        Bucket {
            calls: widened(&self.calls),
            failures: widened(&self.failures),
            slow: widened(&self.slow),
            started: widened(&self.started),
            open: AtomicU32::new(self.open.get_signed().cast_unsigned()),
        }
    }
}

/// Says whether there was room.
#[inline(always)]
fn add<C: Counter>(count: &C) -> bool {
    let counted = count.get(Relaxed);
    count.set(counted.saturating_add(1), Relaxed);
    counted < C::MOST
}

/// The same after what it is a part of, and so has room.
#[inline(always)]
fn add_last<C: Counter>(count: &C) {
    count.set(count.get(Relaxed).saturating_add(1), Release);
}

#[cfg(all(test, not(breakerbox_loom)))]
mod tests {
    use super::*;

    const FAILED: Ended = Ended {
        is_recorded: true,
        is_failure: true,
        is_slow: true,
        began: None,
    };

    fn sums<C: Counter>(bucket: &Bucket<C>) -> (u64, u64, u64) {
        let mut sum = Total::default();
        bucket.add_ended_to(&mut sum);
        (sum.calls, sum.failures, sum.slow)
    }

    #[test]
    fn a_full_bucket_counts_neither_calls_nor_failures() {
        let bucket = Bucket::<AtomicU32>::new();
        bucket.calls.set(u32::MAX - 1, Relaxed);
        for _ in 0..3 {
            bucket.record(FAILED);
        }
        assert_eq!(sums(&bucket), (u64::from(u32::MAX), 1, 1));
    }

    #[test]
    fn a_bucket_is_full_when_one_of_its_counts_is() {
        let full = |fill: fn(&Bucket<AtomicU16>)| {
            let bucket = Bucket::new();
            fill(&bucket);
            bucket.is_full()
        };
        assert!(!full(|it| it.calls.set(65_534, Relaxed)));
        assert!(full(|it| it.calls.set(65_535, Relaxed)));
        assert!(!full(|it| it.started.set(65_534, Relaxed)));
        assert!(full(|it| it.started.set(65_535, Relaxed)));
        assert!(!full(|it| it.open.set_signed(32_766)));
        assert!(full(|it| it.open.set_signed(32_767)));
    }

    #[test]
    fn more_ends_than_begins_are_less_than_none_also_when_widened() {
        let bucket = Bucket::<AtomicU16>::new();
        bucket.begin();
        for _ in 0..3 {
            bucket.close();
        }
        bucket.record(FAILED);
        let wide = bucket.widened();
        assert_eq!((bucket.open(), wide.open()), (-2, -2));
        assert_eq!((bucket.started(), wide.started()), (1, 1));
        assert_eq!((sums(&bucket), sums(&wide)), ((1, 1, 1), (1, 1, 1)));
        bucket.open.set_signed(i32::from(i16::MIN));
        bucket.close();
        assert_eq!(bucket.open(), i32::from(i16::MIN));
    }
}
