//! The calls of the last moments, by the bucket of time in which they ended or began.
//!
//! One thread writes a ring, so that a count is a load and a store; whoever judges reads
//! those of all threads.
//!
//! # Memory ordering
//!
//! A reader must not take what a bucket of long ago held for what it holds now. So the
//! writer hides a ring while it turns it: it takes `newest` away, empties buckets, and puts
//! it back with `Release`. The reader looks at `newest` before and after, and leaves out a
//! ring that was turned meanwhile: its writer judges, too, after it has counted. In a bucket
//! the calls are written before the failures and read after them, so that nobody sees more
//! failures than calls.

mod alone;
mod bucket;
#[cfg(all(test, breakerbox_loom))]
mod loom_tests;

use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::Ordering::Release;

use crate::clock::Tick;
use crate::rules::Sums;
use crate::rules::Time;
use crate::sync::AtomicU16;
use crate::sync::AtomicU32;
use crate::sync::AtomicU64;
use crate::sync::fence;

pub(crate) use alone::Alone;

use bucket::Bucket;
use bucket::Counter;

/// A window needs ten, and calls that are about to hang one more; the last is for a call
/// that begins as the others turn.
const BUCKETS: u64 = 12;

/// No bucket: the ring is being turned.
const TURNING: u64 = u64::MAX;

#[derive(Debug)]
pub(crate) struct Ring<C = AtomicU32> {
    /// What `open`, `older` and `started` are about.
    generation: AtomicU64,
    /// The generation in which the window was emptied last: what the rest is about.
    emptied: AtomicU64,
    newest: AtomicU64,
    /// Which of the buckets that is.
    at: AtomicU32,
    /// The first instant of the newest bucket, and the first one after it.
    begin: AtomicU64,
    end: AtomicU64,
    /// The calls that began before the oldest bucket and have not ended, in two's complement:
    /// another thread may have begun what this one ended.
    older: AtomicU32,
    buckets: [Bucket<C>; BUCKETS as usize],
}

/// What a ring is about: a generation, and the one in which its window was emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Era {
    pub(crate) generation: u64,
    pub(crate) emptied: u64,
}

/// How a call that is counted ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    /// Whether it says anything about the service.
    pub(crate) is_recorded: bool,
    pub(crate) is_failure: bool,
    pub(crate) is_slow: bool,
    /// When it began, where that was counted.
    pub(crate) began: Option<Tick>,
}

/// What the rings of all threads add up to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Total {
    pub(crate) calls: u64,
    pub(crate) failures: u64,
    pub(crate) slow: u64,
    pub(crate) started: u64,
    hung: i64,
}

impl Total {
    pub(crate) fn sums(&self) -> Sums {
        Sums {
            calls: self.calls,
            failures: self.failures,
            slow: self.slow,
            hung: u64::try_from(self.hung).unwrap_or(0),
        }
    }

    /// Calls a second that came in so many seconds.
    #[allow(clippy::cast_precision_loss)]
    pub(crate) const fn arrivals(&self, seconds: f64) -> f64 {
        self.started as f64 / seconds
    }
}

impl<C: Counter> Ring<C> {
    pub(crate) fn new() -> Self {
        Self {
            generation: AtomicU64::new(TURNING),
            emptied: AtomicU64::new(TURNING),
            newest: AtomicU64::new(TURNING),
            at: AtomicU32::new(0),
            begin: AtomicU64::new(0),
            end: AtomicU64::new(0),
            older: AtomicU32::new(0),
            buckets: std::array::from_fn(|_| Bucket::new()),
        }
    }

    /// A call begins at `now`.
    #[inline(always)]
    pub(crate) fn started(&self, generation: u64, now: Tick, era: impl Fn() -> (Era, Time)) {
        self.turn_to(generation, now, era);
        self.newest().begin();
    }

    /// A call ends at `now`.
    #[inline(always)]
    pub(crate) fn ended(
        &self,
        generation: u64,
        ended: Ended,
        now: Tick,
        era: impl Fn() -> (Era, Time),
    ) {
        self.turn_to(generation, now, &era);
        let newest = self.newest();
        if ended.is_recorded {
            newest.record(ended);
        }
        match ended.began {
            None => {}
            Some(began) if began.0 >= self.begin.load(Relaxed) => newest.close(),
            Some(began) => self.close_earlier(era().1.bucket(began)),
        }
    }

    /// The call began in an earlier bucket than the newest.
    #[cold]
    fn close_earlier(&self, bucket: u64) {
        if bucket + BUCKETS > self.newest.load(Relaxed) {
            self.buckets[(bucket % BUCKETS) as usize].close();
        } else {
            self.older
                .store(self.older.load(Relaxed).wrapping_sub(1), Relaxed);
        }
    }

    #[inline(always)]
    fn newest(&self) -> &Bucket<C> {
        &self.buckets[self.at.load(Relaxed) as usize % BUCKETS as usize]
    }

    #[inline(always)]
    fn turn_to(&self, generation: u64, now: Tick, era: impl Fn() -> (Era, Time)) {
        let is_here = self.generation.load(Relaxed) == generation && now.0 < self.end.load(Relaxed);
        if !is_here {
            let (era, time) = era();
            self.turn(era, time, now);
        }
    }

    #[cold]
    #[inline(never)]
    fn turn(&self, era: Era, time: Time, now: Tick) {
        let was = self.newest.load(Relaxed);
        let is_emptied = self.emptied.load(Relaxed) != era.emptied;
        let is_left = self.generation.load(Relaxed) != era.generation;
        let bucket = time.bucket(now);
        self.newest.store(TURNING, Relaxed);
        // What is stored below is seen only by those who see this, too.
        fence(Release);
        let newest = if was == TURNING || is_emptied {
            self.buckets.iter().for_each(Bucket::empty);
            bucket
        } else {
            // One clock is a little behind the other.
            let newest = bucket.max(was);
            for gone in was + 1..=newest.min(was + BUCKETS) {
                let gone = &self.buckets[(gone % BUCKETS) as usize];
                let older = self.older.load(Relaxed).wrapping_add_signed(gone.open());
                self.older.store(older, Relaxed);
                gone.empty();
            }
            newest
        };
        if is_left || is_emptied {
            self.buckets.iter().for_each(Bucket::forget_begun);
            self.older.store(0, Relaxed);
        }
        self.emptied.store(era.emptied, Relaxed);
        self.generation.store(era.generation, Relaxed);
        self.begin.store(time.begin(newest).0, Relaxed);
        self.end.store(time.begin(newest + 1).0, Relaxed);
        self.at.store((newest % BUCKETS) as u32, Relaxed);
        self.newest.store(newest, Release);
    }

    /// Adds what the window of `era` holds at `now`.
    pub(crate) fn add_to(&self, total: &mut Total, era: Era, time: Time, now: Tick) {
        let newest = self.newest.load(Acquire);
        if newest == TURNING {
            return;
        }
        let is_of_window = self.emptied.load(Relaxed) == era.emptied;
        let is_of_generation = self.generation.load(Relaxed) == era.generation;
        let now = time.bucket(now);
        let oldest = Time::oldest(now);
        let hung_before = time.hung_before(now);
        let mut sum = *total;
        if is_of_generation {
            sum.hung += i64::from(self.older.load(Relaxed).cast_signed());
        }
        for bucket in (newest + 1).saturating_sub(BUCKETS)..=newest {
            let counts = &self.buckets[(bucket % BUCKETS) as usize];
            if is_of_window && bucket >= oldest {
                counts.add_ended_to(&mut sum);
            }
            if is_of_generation && bucket >= oldest {
                sum.started += u64::from(counts.started());
            }
            if is_of_generation && bucket < hung_before {
                sum.hung += i64::from(counts.open());
            }
        }
        // The loads above come before this one.
        fence(Acquire);
        if self.newest.load(Relaxed) == newest {
            *total = sum;
        }
    }
}

#[cfg(feature = "redis")]
impl<C: Counter> Ring<C> {
    /// Adds what has ended in each bucket of the window of `era`; `buckets` are in order.
    pub(crate) fn add_by_bucket_to(
        &self,
        buckets: &mut Vec<(u64, Sums)>,
        era: Era,
        time: Time,
        now: Tick,
    ) {
        let newest = self.newest.load(Acquire);
        if newest == TURNING || self.emptied.load(Relaxed) != era.emptied {
            return;
        }
        let oldest = Time::oldest(time.bucket(now)).max((newest + 1).saturating_sub(BUCKETS));
        let mut found = Vec::new();
        for bucket in oldest..=newest {
            let mut total = Total::default();
            self.buckets[(bucket % BUCKETS) as usize].add_ended_to(&mut total);
            found.push((bucket, total.sums()));
        }
        // The loads above come before this one.
        fence(Acquire);
        if self.newest.load(Relaxed) != newest {
            return;
        }
        for (bucket, sums) in found.into_iter().filter(|(_, sums)| sums.calls > 0) {
            let at = buckets.partition_point(|(known, _)| *known < bucket);
            if buckets.get(at).is_none_or(|(known, _)| *known != bucket) {
                buckets.insert(at, (bucket, Sums::default()));
            }
            let known = &mut buckets[at].1;
            known.calls += sums.calls;
            known.failures += sums.failures;
            known.slow += sums.slow;
        }
    }
}

impl Ring<AtomicU16> {
    /// Whether one more call may be too many for the newest bucket.
    fn is_full(&self) -> bool {
        self.newest().is_full()
    }

    /// The same with room for more. Nobody writes it meanwhile.
    fn widened(&self) -> Ring {
        let copy = |count: &AtomicU64| AtomicU64::new(count.load(Relaxed));
        Ring {
            generation: copy(&self.generation),
            emptied: copy(&self.emptied),
            newest: copy(&self.newest),
            at: AtomicU32::new(self.at.load(Relaxed)),
            begin: copy(&self.begin),
            end: copy(&self.end),
            older: AtomicU32::new(self.older.load(Relaxed)),
            buckets: std::array::from_fn(|at| self.buckets[at].widened()),
        }
    }
}

#[cfg(all(test, not(breakerbox_loom)))]
mod tests {
    use std::time::Duration;

    use crate::policy::Policy;
    use crate::policy::Window;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    const FAILED: Ended = Ended {
        is_recorded: true,
        is_failure: true,
        is_slow: false,
        began: None,
    };

    fn time() -> Time {
        let policy = Policy::new()
            .window(Window::Time(Duration::from_secs(10)))
            .slow_call(Duration::from_secs(2));
        Time::of(&policy)
    }

    fn era(generation: u64) -> Era {
        Era {
            generation,
            emptied: 0,
        }
    }

    struct Rig {
        ring: Ring,
        era: Era,
    }

    impl Rig {
        fn new() -> Self {
            Self {
                ring: Ring::new(),
                era: era(0),
            }
        }

        fn begin(&self, now: u64) -> Ended {
            let now = Tick(now);
            let Era { generation, .. } = self.era;
            self.ring.started(generation, now, || (self.era, time()));
            Ended {
                is_failure: false,
                began: Some(now),
                ..FAILED
            }
        }

        fn end(&self, ended: Ended, now: u64) {
            let Era { generation, .. } = self.era;
            self.ring
                .ended(generation, ended, Tick(now), || (self.era, time()));
        }

        fn total(&self, now: u64) -> Total {
            let mut total = Total::default();
            self.ring.add_to(&mut total, self.era, time(), Tick(now));
            total
        }
    }

    /// C3, C5
    #[test]
    fn an_outcome_leaves_with_its_bucket() {
        let rig = Rig::new();
        rig.end(FAILED, 0);
        rig.end(FAILED, SECOND - 1);
        assert_eq!(rig.total(10 * SECOND - 1).failures, 2);
        assert_eq!(rig.total(10 * SECOND).failures, 0);
    }

    /// C14, B054: nothing of long ago is left, however the ring is turned.
    #[test]
    fn after_an_idle_time_of_any_length_nothing_is_left() {
        for idle in [10, 11, 12, 13, 24, 100, 1_000_000] {
            let rig = Rig::new();
            rig.end(FAILED, 0);
            rig.end(FAILED, idle * SECOND);
            assert_eq!(rig.total(idle * SECOND).calls, 1, "{idle}");
        }
    }

    #[test]
    fn a_call_that_hangs_is_seen_however_long_it_does() {
        let rig = Rig::new();
        let hangs = rig.begin(0);
        for now in [0, 1, 2] {
            assert_eq!(rig.total(now * SECOND).sums().hung, 0, "{now}");
        }
        for (earlier, now) in [3, 9, 50, 5_000].into_iter().enumerate() {
            let expected = earlier as u64 + 1;
            assert_eq!(rig.total(now * SECOND).sums().hung, expected, "{now}");
            rig.begin(now * SECOND);
            assert_eq!(rig.total(now * SECOND).sums().hung, expected, "{now}");
        }
        assert_eq!(rig.total(9_000 * SECOND).sums().hung, 5);
        rig.end(hangs, 9_000 * SECOND);
        assert_eq!(rig.total(9_000 * SECOND).sums().hung, 4);
    }

    #[test]
    fn a_call_that_another_thread_began_stops_hanging() {
        let (one, other) = (Rig::new(), Rig::new());
        let hangs = one.begin(0);
        other.end(FAILED, 7 * SECOND);
        other.end(hangs, 7 * SECOND);
        let mut total = one.total(7 * SECOND);
        other
            .ring
            .add_to(&mut total, era(0), time(), Tick(7 * SECOND));
        assert_eq!(total.sums().hung, 0);
        assert_eq!(total.calls, 2);
    }

    #[test]
    fn a_new_generation_keeps_the_window_and_forgets_who_is_out() {
        let mut rig = Rig::new();
        rig.begin(0);
        rig.end(FAILED, 0);
        rig.era = era(1);
        rig.end(FAILED, 5 * SECOND);
        let total = rig.total(5 * SECOND);
        assert_eq!((total.calls, total.sums().hung, total.started), (2, 0, 0));
    }

    #[test]
    fn a_window_that_was_emptied_holds_nothing_of_before() {
        let mut rig = Rig::new();
        rig.end(FAILED, 0);
        rig.era = Era {
            generation: 3,
            emptied: 3,
        };
        assert_eq!(rig.total(0).calls, 0);
        rig.end(FAILED, 0);
        assert_eq!(rig.total(0).calls, 1);
    }

    #[test]
    fn a_clock_that_is_a_little_behind_counts_in_the_newest_bucket() {
        let rig = Rig::new();
        rig.end(FAILED, 5 * SECOND);
        rig.end(FAILED, 5 * SECOND - 1);
        assert_eq!(rig.total(5 * SECOND).failures, 2);
    }
}
