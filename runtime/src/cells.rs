//! Counts of calls, in cells that each belong to one thread.
//!
//! A thread claims a slot once for its whole life, the same in every breaker. It
//! alone writes there, so that a count is a load and a store without a locked
//! instruction. Whoever wants to know adds the slots up. When a thread ends, its
//! slot goes to the next one; when all are taken, the threads beyond share the
//! last slot and add atomically, and one at a time where that is not enough.
//!
//! # Memory ordering
//!
//! Everything is `Relaxed`: a count orders nothing. A slot changes hands through
//! the lock of the free list, so that its next owner sees what is in it.

use std::cell::Cell;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::Ordering::Release;

use once_cell::race::OnceBox;

use crate::clock::Tick;
#[cfg(feature = "metrics")]
use crate::durations::Durations;
#[cfg(feature = "metrics")]
use crate::durations::Spans;
use crate::ring::Era;
use crate::ring::Ring;
use crate::ring::Total;
#[cfg(feature = "redis")]
use crate::rules::Sums;
use crate::rules::Time;

const SLOTS: usize = 64;
const SHARED: usize = SLOTS - 1;
const UNCLAIMED: usize = usize::MAX;

/// What is counted of a call. All but the first are its outcome: one a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tally {
    Admitted,
    Success,
    Failure,
    SlowSuccess,
    SlowFailure,
    Ignored,
    Rejected,
    Cancelled,
    Panicked,
    Late,
}

const TALLIES: usize = 10;

impl Tally {
    /// The outcomes of calls that were made.
    #[cfg(feature = "metrics")]
    pub(crate) const ENDINGS: [Self; 8] = [
        Self::Success,
        Self::Failure,
        Self::SlowSuccess,
        Self::SlowFailure,
        Self::Ignored,
        Self::Cancelled,
        Self::Panicked,
        Self::Late,
    ];

    /// An outcome as metrics name it.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Admitted => "admitted",
            Self::Success => "success",
            Self::Failure => "failure",
            Self::SlowSuccess => "slow_success",
            Self::SlowFailure => "slow_failure",
            Self::Ignored => "ignored",
            Self::Rejected => "rejected",
            Self::Cancelled => "cancelled",
            Self::Panicked => "panicked",
            Self::Late => "late",
        }
    }
}

#[derive(Debug)]
pub(crate) struct Cells {
    slots: [OnceBox<Block>; SLOTS],
}

/// Aligned, so that two threads never write to one pair of cache lines.
#[derive(Debug)]
#[repr(align(128))]
struct Block {
    counts: [AtomicU64; TALLIES],
    /// Made where they are measured, one for each outcome that there was.
    #[cfg(feature = "metrics")]
    durations: OnceBox<[OnceBox<Durations>; TALLIES]>,
    ring: Ring,
    /// Held by whoever writes the ring of the shared slot.
    alone: Mutex<()>,
}

/// Where this thread counts.
#[derive(Clone, Copy)]
pub(crate) struct Mine<'c> {
    block: &'c Block,
    is_shared: bool,
}

impl Cells {
    pub(crate) const fn new() -> Self {
        Self {
            slots: [const { OnceBox::new() }; SLOTS],
        }
    }

    #[inline]
    pub(crate) fn mine(&self) -> Mine<'_> {
        let mut slot = SLOT.get();
        if slot == UNCLAIMED {
            slot = claim();
        }
        let block = match self.slots[slot].get() {
            Some(block) => block,
            None => self.allocate(slot),
        };
        Mine {
            block,
            is_shared: slot == SHARED,
        }
    }

    #[inline]
    pub(crate) fn add(&self, tally: Tally) {
        self.mine().add(tally);
    }

    #[cold]
    fn allocate(&self, slot: usize) -> &Block {
        self.slots[slot].get_or_init(|| Box::new(Block::new()))
    }

    /// The sum over all threads, by tally.
    pub(crate) fn sum(&self) -> Sum {
        let mut sum = Sum::default();
        for block in self.slots.iter().filter_map(OnceBox::get) {
            for (total, count) in sum.0.iter_mut().zip(&block.counts) {
                *total += count.load(Relaxed);
            }
        }
        sum
    }

    /// How long the calls took that ended so, over all threads; nothing where none was
    /// measured.
    #[cfg(feature = "metrics")]
    pub(crate) fn spans(&self, tally: Tally) -> Option<Spans> {
        let mut spans = None;
        for block in self.slots.iter().filter_map(OnceBox::get) {
            let durations = block.durations.get().map(|all| &all[tally as usize]);
            if let Some(durations) = durations.and_then(OnceBox::get) {
                durations.add_to(spans.get_or_insert_with(Spans::default));
            }
        }
        spans
    }

    /// What has ended in the window, by bucket, oldest first.
    #[cfg(feature = "redis")]
    pub(crate) fn by_bucket(&self, era: Era, time: Time, now: Tick) -> Vec<(u64, Sums)> {
        let mut buckets = Vec::new();
        let claimed = CLAIMED.load(Acquire);
        let slots = self.slots[..claimed].iter().chain([&self.slots[SHARED]]);
        for block in slots.filter_map(OnceBox::get) {
            block.ring.add_by_bucket_to(&mut buckets, era, time, now);
        }
        buckets
    }

    /// What the window of `era` holds at `now`, over all threads.
    pub(crate) fn total(&self, era: Era, time: Time, now: Tick) -> Total {
        let mut total = Total::default();
        let claimed = CLAIMED.load(Acquire);
        let slots = self.slots[..claimed].iter().chain([&self.slots[SHARED]]);
        for block in slots.filter_map(OnceBox::get) {
            block.ring.add_to(&mut total, era, time, now);
        }
        total
    }
}

impl Block {
    fn new() -> Self {
        Self {
            counts: Default::default(),
            #[cfg(feature = "metrics")]
            durations: OnceBox::new(),
            ring: Ring::new(),
            alone: Mutex::new(()),
        }
    }
}

impl Mine<'_> {
    #[inline]
    pub(crate) fn add(&self, tally: Tally) {
        let count = &self.block.counts[tally as usize];
        if self.is_shared {
            count.fetch_add(1, Relaxed);
        } else {
            count.store(count.load(Relaxed) + 1, Relaxed);
        }
    }

    /// Counts how long a call took that ended so.
    #[cfg(feature = "metrics")]
    pub(crate) fn took(&self, tally: Tally, nanos: u64) {
        let all = self
            .block
            .durations
            .get_or_init(|| Box::new([const { OnceBox::new() }; TALLIES]));
        let durations = all[tally as usize].get_or_init(|| Box::new(Durations::new()));
        if self.is_shared {
            durations.count_shared(nanos);
        } else {
            durations.count(nanos);
        }
    }

    /// Writes the ring of this thread.
    #[inline(always)]
    pub(crate) fn write(&self, write: impl Fn(&Ring)) {
        if self.is_shared {
            self.write_alone(write);
        } else {
            write(&self.block.ring);
        }
    }

    #[cold]
    fn write_alone(&self, write: impl Fn(&Ring)) {
        let _alone = self
            .block
            .alone
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        write(&self.block.ring);
    }
}

/// Counts added up at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum([u64; TALLIES]);

impl Sum {
    pub(crate) const fn get(&self, tally: Tally) -> u64 {
        self.0[tally as usize]
    }

    /// The calls that were made and have ended.
    pub(crate) fn ended(&self) -> u64 {
        let all: u64 = self.0.iter().sum();
        all - self.get(Tally::Admitted) - self.get(Tally::Rejected)
    }
}

thread_local! {
    static SLOT: Cell<usize> = const { Cell::new(UNCLAIMED) };
    static OWNER: Owner = Owner::claim();
}

/// So many slots have ever been claimed, from the first one on; the shared one is not counted.
static CLAIMED: AtomicUsize = AtomicUsize::new(0);

static FREE: Mutex<Free> = Mutex::new(Free {
    returned: Vec::new(),
    fresh: 0,
});

struct Free {
    returned: Vec<usize>,
    fresh: usize,
}

/// Gives the slot of a thread back when the thread ends.
struct Owner(usize);

impl Owner {
    fn claim() -> Self {
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = free.returned.pop().unwrap_or_else(|| {
            let fresh = free.fresh.min(SHARED);
            free.fresh = fresh + 1;
            CLAIMED.store(free.fresh.min(SHARED), Release);
            fresh
        });
        Self(slot)
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // Whatever this thread still counts in later destructors is shared.
        SLOT.set(SHARED);
        if self.0 < SHARED {
            let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
            free.returned.push(self.0);
        }
    }
}

/// Gives a thread its slot when it counts for the first time.
#[cold]
fn claim() -> usize {
    let slot = OWNER.try_with(|owner| owner.0).unwrap_or(SHARED);
    SLOT.set(slot);
    slot
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    /// J6
    #[test]
    fn counts_are_exact_with_more_threads_than_slots() {
        const THREADS: usize = SLOTS + 20;
        const CALLS: u64 = 2_000;
        let cells = Arc::new(Cells::new());
        // All alive at once, so that the last slot has to be shared.
        let barrier = Arc::new(Barrier::new(THREADS));
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                let cells = Arc::clone(&cells);
                let barrier = Arc::clone(&barrier);
                thread::spawn(move || {
                    barrier.wait();
                    for _ in 0..CALLS {
                        cells.add(Tally::Success);
                    }
                    barrier.wait();
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(cells.sum().get(Tally::Success), THREADS as u64 * CALLS);
    }

    #[test]
    fn a_slot_outlives_its_thread_and_keeps_its_counts() {
        let cells = Arc::new(Cells::new());
        for _ in 0..3 * SLOTS {
            let cells = Arc::clone(&cells);
            thread::spawn(move || cells.add(Tally::Late))
                .join()
                .unwrap();
        }
        assert_eq!(cells.sum().get(Tally::Late), 3 * SLOTS as u64);
    }
}
