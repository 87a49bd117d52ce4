//! How long calls took: counted by one thread in ranges, and handed on by the sum of all.
//!
//! A range is a quarter of a doubling, from 1 µs to over an hour, and is kept with the sum
//! of what fell into it. So the calls of a range are handed on at their mean: a call that
//! is alone in its range exactly as it was, others off by no more than the range is wide,
//! and all of them together with the sum that they have.
//!
//! # Memory ordering
//!
//! Everything is `Relaxed`: nobody waits for the last call. A reader may meet a call half
//! counted, with its time and not its number or the other way round. It hands on no time
//! outside of the range, and what is then too much or too little the next time.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// The first range ends at so many doublings of a nanosecond, just over a microsecond.
const FIRST: u32 = 10;

/// The last one begins at so many, at 73 minutes, and has no end.
const LAST: u32 = 42;

/// Ranges to a doubling, and how many doublings that are.
const STEPS: usize = 1 << STEP_BITS;
const STEP_BITS: u32 = 2;

const RANGES: usize = (LAST - FIRST) as usize * STEPS + 2;

/// The calls of one thread that ended alike. Aligned, so that two threads never write to one
/// pair of cache lines.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Durations([Cell; RANGES]);

/// One range: how many calls, and their nanoseconds, which may come round to nothing.
#[derive(Debug, Default)]
struct Cell {
    calls: AtomicU64,
    nanos: AtomicU64,
}

/// What several threads have counted, range by range.
#[derive(Clone, Debug)]
pub(crate) struct Spans([Span; RANGES]);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Span {
    calls: u64,
    nanos: u64,
}

impl Durations {
    pub(crate) fn new() -> Self {
        Self(std::array::from_fn(|_| Cell::default()))
    }

    /// Counts a call, as the only thread that does so here.
    #[inline]
    pub(crate) fn count(&self, nanos: u64) {
        let cell = &self.0[range_of(nanos)];
        let sum = cell.nanos.load(Relaxed).wrapping_add(nanos);
        cell.nanos.store(sum, Relaxed);
        cell.calls.store(cell.calls.load(Relaxed) + 1, Relaxed);
    }

    /// The same beside other threads.
    #[cold]
    pub(crate) fn count_shared(&self, nanos: u64) {
        let cell = &self.0[range_of(nanos)];
        cell.nanos.fetch_add(nanos, Relaxed);
        cell.calls.fetch_add(1, Relaxed);
    }

    pub(crate) fn add_to(&self, spans: &mut Spans) {
        for (span, cell) in spans.0.iter_mut().zip(&self.0) {
            span.calls += cell.calls.load(Relaxed);
            span.nanos = span.nanos.wrapping_add(cell.nanos.load(Relaxed));
        }
    }
}

impl Default for Spans {
    fn default() -> Self {
        Self([Span::default(); RANGES])
    }
}

impl Spans {
    /// Gives `record` what is new in `all`, as seconds and how many calls took so long. What
    /// it was given, it is not given again.
    pub(crate) fn hand_on(&mut self, all: &Self, mut record: impl FnMut(f64, u64)) {
        for (range, (told, all)) in self.0.iter_mut().zip(&all.0).enumerate() {
            let calls = all.calls.saturating_sub(told.calls);
            if calls == 0 {
                continue;
            }
            // Negative where more was handed on than these calls took.
            let nanos = all.nanos.wrapping_sub(told.nanos).cast_signed();
            let mean = u64::try_from(nanos).unwrap_or(0) / calls;
            let mean = mean.clamp(begin_of(range), end_of(range));
            record(seconds(mean), calls);
            told.calls = all.calls;
            told.nanos = told.nanos.wrapping_add(mean.wrapping_mul(calls));
        }
    }
}

#[allow(clippy::cast_precision_loss)]
fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

#[inline]
const fn range_of(nanos: u64) -> usize {
    if nanos < 1 << FIRST {
        return 0;
    }
    let doublings = nanos.ilog2();
    if doublings >= LAST {
        return RANGES - 1;
    }
    let step = (nanos >> (doublings - STEP_BITS)) as usize % STEPS;
    1 + (doublings - FIRST) as usize * STEPS + step
}

/// The shortest time in a range, in nanoseconds.
const fn begin_of(range: usize) -> u64 {
    let Some(range) = range.checked_sub(1) else {
        return 0;
    };
    let doublings = FIRST + (range / STEPS) as u32;
    ((STEPS + range % STEPS) as u64) << (doublings - STEP_BITS)
}

/// The longest time in a range.
const fn end_of(range: usize) -> u64 {
    if range == RANGES - 1 {
        u64::MAX
    } else {
        begin_of(range + 1) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MICROSECOND: u64 = 1_000;
    const HOUR: u64 = 3_600_000_000_000;

    /// What the cells of one thread make of these calls, in whole nanoseconds.
    fn handed_on(told: &mut Spans, durations: &Durations) -> Vec<(u64, u64)> {
        let mut all = Spans::default();
        durations.add_to(&mut all);
        let mut given = Vec::new();
        told.hand_on(&all, |seconds, calls| {
            given.push(((seconds * 1e9).round() as u64, calls));
        });
        given
    }

    #[test]
    fn the_ranges_follow_each_other_and_each_holds_what_lies_between_its_ends() {
        assert_eq!((begin_of(0), end_of(RANGES - 1)), (0, u64::MAX));
        for range in 0..RANGES {
            let (begin, end) = (begin_of(range), end_of(range));
            assert!(begin <= end);
            assert_eq!((range_of(begin), range_of(end)), (range, range));
            if range > 0 {
                assert_eq!(end_of(range - 1) + 1, begin);
            }
        }
    }

    /// So says the documentation of the metric.
    #[test]
    fn from_a_microsecond_to_an_hour_a_range_is_at_most_a_quarter_wide() {
        assert!(end_of(0) < 2 * MICROSECOND && begin_of(RANGES - 1) > HOUR);
        for range in 1..RANGES - 1 {
            let (begin, end) = (begin_of(range), end_of(range));
            assert!(end - begin < begin.div_ceil(4), "{begin}..={end}");
        }
    }

    #[test]
    fn a_call_that_is_alone_in_its_range_is_handed_on_as_it_was_and_once() {
        let (durations, mut told) = (Durations::new(), Spans::default());
        for nanos in [0, 777, 1_024, 123_456_789, HOUR] {
            durations.count(nanos);
            assert_eq!(handed_on(&mut told, &durations), [(nanos, 1)]);
        }
        assert_eq!(handed_on(&mut told, &durations), []);
    }

    #[test]
    fn calls_of_one_range_are_handed_on_at_their_mean_and_the_rest_of_a_division_is_kept() {
        let (durations, mut told) = (Durations::new(), Spans::default());
        for nanos in [1_024, 1_024, 1_026] {
            durations.count(nanos);
        }
        assert_eq!(handed_on(&mut told, &durations), [(1_024, 3)]);
        // The two nanoseconds that three calls could not share.
        durations.count(1_024);
        assert_eq!(handed_on(&mut told, &durations), [(1_026, 1)]);
    }

    /// A reader has met the number of a call before its time: it takes the shortest time of
    /// the range, and makes up for it.
    #[test]
    fn a_call_that_was_half_counted_is_handed_on_inside_of_its_range_and_corrected() {
        let (durations, mut told) = (Durations::new(), Spans::default());
        let cell = &durations.0[range_of(1_100)];
        cell.calls.store(1, Relaxed);
        assert_eq!(handed_on(&mut told, &durations), [(1_024, 1)]);
        cell.nanos.store(1_100, Relaxed);
        durations.count(1_100);
        assert_eq!(handed_on(&mut told, &durations), [(1_176, 1)]);

        // And the time of one before its number.
        cell.nanos.store(3_300, Relaxed);
        assert_eq!(handed_on(&mut told, &durations), []);
        cell.calls.store(3, Relaxed);
        assert_eq!(handed_on(&mut told, &durations), [(1_100, 1)]);
    }

    #[test]
    fn more_nanoseconds_than_a_number_holds_come_round() {
        let (durations, mut told) = (Durations::new(), Spans::default());
        let half = u64::MAX / 2;
        for _ in 0..5 {
            durations.count_shared(half);
            let given = handed_on(&mut told, &durations);
            assert!(matches!(*given, [(nanos, 1)] if nanos.abs_diff(half) < 1 << 12));
        }
    }
}
