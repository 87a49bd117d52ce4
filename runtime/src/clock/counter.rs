//! Ages by the counter of the processor, which is read at less than half the price of the
//! exact time.
//!
//! How fast it counts is found out by looking at it for a millisecond, and up to 200 where
//! the machine is busy. No call waits for that: a thread does it, once a process, and until
//! it is done, and wherever the counter is no good, stamps are exact times.

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use crate::clock::kernel;
use crate::clock::kernel::Kernel;

static COUNTER: OnceLock<Counter> = OnceLock::new();

/// Whether somebody wanted it.
static IS_WANTED: AtomicBool = AtomicBool::new(false);

/// The bit that is set in a stamp by the counter, and not in one by the exact time. Neither
/// misses its last bit.
const COUNTED: u64 = 1;

/// For how long the counter is compared with the exact time before it is believed.
const TRIAL: Duration = Duration::from_millis(10);

const TRIALS: usize = 3;

#[derive(Debug)]
struct Counter {
    clock: quanta::Clock,
    /// One instant by the counter and by the exact time.
    raw: u64,
    exact: u64,
}

impl Counter {
    /// Nothing where the counter is not to be believed.
    fn find(kernel: Kernel) -> Option<Self> {
        if !kernel::trusts_counter() {
            return None;
        }
        let clock = quanta::Clock::new();
        // A trial fails, too, where this thread was kept waiting between two readings.
        (0..TRIALS).find_map(|_| Self::try_out(&clock, kernel))
    }

    /// Compares the counter with the exact time, to the hundredth.
    fn try_out(clock: &quanta::Clock, kernel: Kernel) -> Option<Self> {
        let (raw, exact) = (clock.raw(), kernel.exact());
        thread::sleep(TRIAL);
        let counted = clock.delta_as_nanos(raw, clock.raw());
        let passed = kernel.exact().saturating_sub(exact);
        let is_right = counted.abs_diff(passed) <= passed / 100;
        is_right.then(|| Self {
            clock: clock.clone(),
            raw,
            exact,
        })
    }

    fn nanos_between(&self, from: u64, to: u64) -> u64 {
        match (from & COUNTED, to & COUNTED) {
            (0, 0) => to.saturating_sub(from),
            // It began before the counter was there.
            (0, _) => self
                .clock
                .delta_as_nanos(self.raw, to)
                .saturating_add(self.exact)
                .saturating_sub(from),
            // The counter does not go away again: these are the wrong way round.
            (_, 0) => 0,
            (_, _) => self.clock.delta_as_nanos(from, to),
        }
    }
}

/// Lets a thread find the counter, if nobody has.
pub(super) fn prepare(kernel: Kernel) {
    if !IS_WANTED.swap(true, Relaxed) {
        let finding = thread::Builder::new().name("breakerbox-counter".to_owned());
        // Without the thread all stamps are exact times, which is right, too.
        let _ = finding.spawn(move || find(kernel));
    }
}

fn find(kernel: Kernel) {
    if let Some(counter) = Counter::find(kernel) {
        // Whoever was first has found the same.
        let _ = COUNTER.set(counter);
    }
}

#[inline]
pub(super) fn stamp(kernel: Kernel) -> u64 {
    let stamp = match COUNTER.get() {
        Some(counter) => counter.clock.raw() | COUNTED,
        None => kernel.exact() & !COUNTED,
    };
    // There is room for centuries.
    stamp & (u64::MAX >> 1)
}

#[inline]
pub(super) fn nanos_between(from: u64, to: u64) -> u64 {
    match COUNTER.get() {
        Some(counter) => counter.nanos_between(from, to),
        None => to.saturating_sub(from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets some time pass and says how much at least, and at most, by the exact time.
    fn measured(kernel: Kernel, begin: impl Fn() -> u64, end: impl Fn() -> u64) -> [u64; 4] {
        let before = kernel.exact();
        let from = begin();
        let begun = kernel.exact();
        let mut ending = kernel.exact();
        while ending - begun < 2_000_000 {
            ending = kernel.exact();
        }
        let to = end();
        let after = kernel.exact();
        [from, to, ending - begun, after - before]
    }

    /// As far as the trial lets the counter be wrong, and as much again.
    const SLACK: u64 = 200_000;

    #[track_caller]
    fn agrees(age: u64, least: u64, most: u64) {
        assert!(age + SLACK >= least, "{age} is less than {least}");
        assert!(age <= most + SLACK, "{age} is more than {most}");
    }

    #[test]
    fn ages_are_right_before_and_after_the_counter_is_found_and_across() {
        let kernel = Kernel::new();
        let exact = || kernel.exact() & !COUNTED;
        let [from, to, least, most] = measured(kernel, exact, exact);
        agrees(nanos_between(from, to), least, most);

        find(kernel);
        let Some(counter) = COUNTER.get() else {
            // This machine has none that is right.
            return;
        };
        let counted = || counter.clock.raw() | COUNTED;
        for begin in [&exact as &dyn Fn() -> u64, &counted] {
            let [from, to, least, most] = measured(kernel, begin, counted);
            agrees(nanos_between(from, to), least, most);
        }
        let [from, to, least, most] = measured(kernel, exact, exact);
        agrees(nanos_between(from, to), least, most);
        let [from, to, least, most] = measured(kernel, || stamp(kernel), || stamp(kernel));
        agrees(nanos_between(from, to), least, most);
    }

    #[test]
    fn stamps_the_wrong_way_round_are_of_no_age() {
        let kernel = Kernel::new();
        find(kernel);
        let (from, to) = (stamp(kernel), stamp(kernel));
        assert_eq!(nanos_between(to, from), 0);
        assert_eq!(nanos_between(from, from), 0);
        assert_eq!(nanos_between(from, 0), 0);
        assert_eq!(nanos_between(COUNTED | 8, 4), 0);
    }
}
