//! The ring of one key, which all threads write, one at a time.
//!
//! A service has a ring for each thread, which would be too much for each of its keys. And
//! few keys are so busy that sixteen bits do not hold what a bucket of theirs does: one that
//! is gets a ring with wider counts, and loses nothing.

use crate::clock::Tick;
use crate::ring::Ended;
use crate::ring::Era;
use crate::ring::Ring;
use crate::ring::Total;
use crate::rules::Time;
use crate::sync;
use crate::sync::AtomicU16;
use crate::sync::Mutex;
use crate::sync::MutexGuard;

#[derive(Debug)]
pub(crate) struct Alone(Mutex<Width>);

#[derive(Debug)]
enum Width {
    Narrow(Ring<AtomicU16>),
    Wide(Box<Ring>),
}

impl Default for Alone {
    fn default() -> Self {
        Self(Mutex::new(Width::Narrow(Ring::new())))
    }
}

impl Alone {
    /// A call begins at `now`.
    pub(crate) fn started(&self, generation: u64, now: Tick, era: impl Fn() -> (Era, Time)) {
        match &*self.with_room() {
            Width::Narrow(ring) => ring.started(generation, now, era),
            Width::Wide(ring) => ring.started(generation, now, era),
        }
    }

    /// A call ends at `now`.
    pub(crate) fn ended(
        &self,
        generation: u64,
        ended: Ended,
        now: Tick,
        era: impl Fn() -> (Era, Time),
    ) {
        match &*self.with_room() {
            Width::Narrow(ring) => ring.ended(generation, ended, now, era),
            Width::Wide(ring) => ring.ended(generation, ended, now, era),
        }
    }

    /// What the window of `era` holds at `now`.
    pub(crate) fn total(&self, era: Era, time: Time, now: Tick) -> Total {
        let mut total = Total::default();
        match &*sync::lock(&self.0) {
            Width::Narrow(ring) => ring.add_to(&mut total, era, time, now),
            Width::Wide(ring) => ring.add_to(&mut total, era, time, now),
        }
        total
    }

    /// The ring, with room for one more call in its newest bucket.
    fn with_room(&self) -> MutexGuard<'_, Width> {
        let mut width = sync::lock(&self.0);
        if let Width::Narrow(ring) = &*width
            && ring.is_full()
        {
            *width = Width::Wide(Box::new(ring.widened()));
        }
        width
    }
}

#[cfg(all(test, not(breakerbox_loom)))]
mod tests {
    use std::time::Duration;

    use crate::policy::Policy;
    use crate::policy::Window;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    const ERA: Era = Era {
        generation: 7,
        emptied: 4,
    };

    /// More than sixteen bits hold.
    const MANY: u64 = 70_000;

    fn time() -> Time {
        let policy = Policy::new()
            .window(Window::Time(Duration::from_secs(10)))
            .slow_call(Duration::from_secs(2));
        Time::of(&policy)
    }

    fn begin(ring: &Alone, now: u64) -> Ended {
        ring.started(ERA.generation, Tick(now), || (ERA, time()));
        Ended {
            is_recorded: true,
            is_failure: false,
            is_slow: false,
            began: Some(Tick(now)),
        }
    }

    fn end(ring: &Alone, ended: Ended, now: u64) {
        ring.ended(ERA.generation, ended, Tick(now), || (ERA, time()));
    }

    fn is_wide(ring: &Alone) -> bool {
        matches!(&*sync::lock(&ring.0), Width::Wide(_))
    }

    #[test]
    fn a_busy_key_counts_each_call_and_keeps_what_its_window_held() {
        let ring = Alone::default();
        let failure = Ended {
            is_failure: true,
            ..begin(&ring, 0)
        };
        end(&ring, failure, 0);
        let hangs = begin(&ring, 1);
        for call in 0..MANY {
            let ended = begin(&ring, 5 * SECOND);
            let is_failure = call % 2 == 0;
            let is_slow = call % 4 == 0;
            let ended = Ended {
                is_failure,
                is_slow,
                ..ended
            };
            end(&ring, ended, 5 * SECOND);
        }
        assert!(is_wide(&ring));
        let total = ring.total(ERA, time(), Tick(5 * SECOND));
        assert_eq!(total.calls, MANY + 1);
        assert_eq!(total.failures, MANY / 2 + 1);
        assert_eq!(total.slow, MANY / 4);
        assert_eq!(total.started, MANY + 2);
        assert_eq!(total.sums().hung, 1);
        end(&ring, hangs, 5 * SECOND);
        let later = ring.total(ERA, time(), Tick(14 * SECOND));
        assert_eq!((later.calls, later.sums().hung), (MANY + 1, 0));
        assert_eq!(ring.total(ERA, time(), Tick(15 * SECOND)).calls, 0);
    }

    #[test]
    fn calls_that_hang_are_counted_however_many_they_are() {
        let ring = Alone::default();
        for _ in 0..MANY {
            begin(&ring, 0);
        }
        let hung = |now: u64| ring.total(ERA, time(), Tick(now * SECOND)).sums().hung;
        assert_eq!(hung(5), MANY);
        begin(&ring, 100 * SECOND);
        assert_eq!(hung(100), MANY);
    }

    #[test]
    fn a_key_that_is_not_busy_stays_small() {
        let ring = Alone::default();
        for second in 0..100 {
            for _ in 0..1_000 {
                let ended = begin(&ring, second * SECOND);
                end(&ring, ended, second * SECOND);
            }
        }
        assert!(!is_wide(&ring));
        assert_eq!(ring.total(ERA, time(), Tick(99 * SECOND)).calls, 10_000);
    }
}
