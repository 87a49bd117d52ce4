//! So many calls at a time, and a queue for a few more.

mod acquire;
mod slot;

use std::fmt;
use std::panic::RefUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::Ordering::Relaxed;

use tokio::sync::Semaphore;

use crate::clock::Tick;
use crate::deadline::Deadline;
use crate::host::Host;
use crate::policy::BulkheadPolicy;
use crate::rejected::Rejected;

pub use acquire::AcquireSlot;
pub use slot::Slot;

use slot::Place;

/// The bulkhead of one service: so many calls run at a time, and a few more wait for their
/// turn, first come, first served.
///
/// A slow service then holds at most so many of the caller's tasks, connections and bytes.
/// Whoever asks gets a [`Slot`] for one call and holds it while the call runs. A call that is
/// refused was not made.
///
/// A slot is given back when it is dropped, also where the caller is gone and its work goes on
/// elsewhere: a thread of [`spawn_blocking`](tokio::task::spawn_blocking) is not stopped by the
/// timeout that gives its caller up. Where that work is what there may be so much of, it takes
/// the slot with it:
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let render = || "a report";
/// let reports = breakerbox::policies("reports").bulkhead(breakerbox::BulkheadPolicy::new(6))?;
/// let slot = reports.acquire().await?;
/// let work = tokio::task::spawn_blocking(move || {
///     let _slot = slot;
///     render()
/// });
/// assert_eq!(work.await?, "a report");
/// assert_eq!(reports.available(), 6);
/// # Ok(())
/// # }
/// ```
///
/// A call that asks for a second slot of the same bulkhead while it holds one may wait for
/// itself. It is refused after [`max_wait`](BulkheadPolicy::max_wait), which is finite where it
/// is not written, but a recursive function does better to ask once, on the outside.
pub struct Bulkhead {
    label: &'static &'static str,
    policy: BulkheadPolicy,
    host: Arc<Host>,
    /// How many may run and wait together.
    places: u32,
    /// Those who run or wait. A place is taken before a permit and given back after it, so
    /// this says at any time how long the queue is, also while somebody who has been handed a
    /// permit has not come for it yet.
    inside: AtomicU32,
    /// Who may run; the queue of those who may not yet.
    slots: Semaphore,
    rejected_full: AtomicU64,
    rejected_late: AtomicU64,
}

impl Bulkhead {
    /// A bulkhead by numbers that have been checked.
    pub(crate) fn new(
        label: &'static &'static str,
        policy: BulkheadPolicy,
        host: Arc<Host>,
    ) -> Self {
        let running = policy.get_max_concurrent();
        Self {
            label,
            policy,
            host,
            places: running.saturating_add(policy.get_queue()),
            inside: AtomicU32::new(0),
            slots: Semaphore::new(running as usize),
            rejected_full: AtomicU64::new(0),
            rejected_late: AtomicU64::new(0),
        }
    }

    /// Takes a slot if there is one at once. It waits for nobody, and overtakes nobody who
    /// waits.
    ///
    /// # Errors
    ///
    /// Of kind [`BulkheadFull`](crate::RejectedKind::BulkheadFull): as many calls run as may.
    #[inline]
    pub fn try_acquire(&self) -> Result<Slot<'_>, Rejected> {
        match self.try_slot() {
            Some(slot) => Ok(slot),
            None => Err(self.full()),
        }
    }

    /// Takes a slot as soon as there is one, in turn with the others who wait.
    ///
    /// It waits from when it is first polled, by the clock of the registry, and no longer than
    /// to the [`deadline`](crate::deadline()) of the timeout around its making.
    ///
    /// # Errors
    ///
    /// Of kind [`BulkheadFull`](crate::RejectedKind::BulkheadFull): at once where the queue is
    /// full, or when [`max_wait`](BulkheadPolicy::max_wait) is over. Of kind
    /// [`Deadline`](crate::RejectedKind::Deadline) where a timeout around strikes first.
    ///
    /// # Cancel safety
    ///
    /// See [`AcquireSlot`].
    pub fn acquire(&self) -> AcquireSlot<'_> {
        self.acquire_until(Deadline::nearest(&self.host, None))
    }

    /// [`acquire`](Self::acquire) on a plain thread, which sleeps meanwhile. In async code it
    /// would block the executor.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Self::acquire).
    pub fn acquire_blocking(&self) -> Result<Slot<'_>, Rejected> {
        self.acquire_blocking_until(Deadline::nearest(&self.host, None))
    }

    /// How many more calls could run now: 0 while somebody waits.
    #[must_use]
    pub fn available(&self) -> u32 {
        let inside = self.inside.load(Acquire);
        self.policy.get_max_concurrent().saturating_sub(inside)
    }

    /// How many calls wait for a slot.
    #[must_use]
    pub fn waiting(&self) -> u32 {
        let inside = self.inside.load(Acquire);
        inside.saturating_sub(self.policy.get_max_concurrent())
    }

    /// Its numbers.
    pub const fn policy(&self) -> &BulkheadPolicy {
        &self.policy
    }

    /// The service whose calls it holds.
    #[must_use]
    pub const fn service(&self) -> &'static str {
        self.label
    }

    /// How many calls it has refused so far.
    #[must_use]
    pub fn rejected(&self) -> u64 {
        self.rejected_full().saturating_add(self.rejected_late())
    }

    /// How many of them found as many running and waiting as may.
    #[must_use]
    pub fn rejected_full(&self) -> u64 {
        self.rejected_full.load(Relaxed)
    }

    /// How many of them had no slot when their time to wait was over, by `max_wait` or by a
    /// timeout around the call.
    #[must_use]
    pub fn rejected_late(&self) -> u64 {
        self.rejected_late.load(Relaxed)
    }

    /// A slot if there is one at once. Without one nothing is counted: the caller may wait.
    #[inline]
    pub(crate) fn try_slot(&self) -> Option<Slot<'_>> {
        let place = self.place(self.policy.get_max_concurrent())?;
        self.permit(place).ok()
    }

    /// As [`acquire`](Self::acquire), and at most until a timeout strikes: then the rejection is
    /// of kind `Deadline`.
    pub(crate) const fn acquire_until(&self, until: Option<Tick>) -> AcquireSlot<'_> {
        AcquireSlot::new(self, until)
    }

    /// The same on a plain thread.
    pub(crate) fn acquire_blocking_until(&self, until: Option<Tick>) -> Result<Slot<'_>, Rejected> {
        self.acquire_until(until).wait()
    }

    /// A place where fewer than `limit` are taken.
    #[inline]
    fn place(&self, limit: u32) -> Option<Place<'_>> {
        let one_more = |inside: u32| (inside < limit).then(|| inside + 1);
        let entered = self.inside.fetch_update(Acquire, Relaxed, one_more);
        entered.ok().map(|_| Place(self))
    }

    /// A permit for who has a place, if one is free. Those in the queue have been handed theirs
    /// before one is.
    #[inline]
    fn permit<'b>(&'b self, place: Place<'b>) -> Result<Slot<'b>, Place<'b>> {
        match self.slots.try_acquire() {
            Ok(permit) => {
                permit.forget();
                Ok(Slot::new(place))
            }
            Err(_) => Err(place),
        }
    }

    #[cold]
    fn full(&self) -> Rejected {
        self.rejected_full.fetch_add(1, Relaxed);
        Rejected::bulkhead_full(self.label)
    }

    fn count_late(&self) {
        self.rejected_late.fetch_add(1, Relaxed);
    }
}

/// Whatever panics while it holds a slot gives it back; the queue of the semaphore, which may
/// not be marked as such, is whole after every step.
impl RefUnwindSafe for Bulkhead {}

impl fmt::Debug for Bulkhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bulkhead")
            .field("service", &self.service())
            .field("policy", &self.policy)
            .field("available", &self.available())
            .field("waiting", &self.waiting())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, feature = "test-util"))]
mod tests {
    use std::panic;
    use std::panic::AssertUnwindSafe;
    use std::pin::Pin;
    use std::sync::atomic::Ordering::Release;
    use std::task::Context;
    use std::task::Poll;
    use std::task::Waker;
    use std::thread;

    use super::*;
    use crate::clock::ManualClock;
    use crate::rejected::RejectedKind;

    fn bulkhead(policy: BulkheadPolicy) -> Bulkhead {
        let host = Host::with_clock(ManualClock::new().clock());
        Bulkhead::new(&"s3", policy, Arc::new(host))
    }

    fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
        Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn as_many_run_as_may_and_the_next_is_refused() {
        let bulkhead = bulkhead(BulkheadPolicy::new(2));
        let slots = [(); 2].map(|()| bulkhead.try_acquire().unwrap());
        assert_eq!(bulkhead.available(), 0);
        let rejected = bulkhead.try_acquire().unwrap_err();
        assert_eq!(rejected.kind(), RejectedKind::BulkheadFull);
        assert_eq!(rejected.service(), "s3");
        assert_eq!(rejected.retry_after(), None);
        drop(slots);
        assert_eq!(bulkhead.available(), 2);
        assert!(bulkhead.try_acquire().is_ok());
        assert_eq!((bulkhead.rejected_full(), bulkhead.rejected()), (1, 1));
    }

    #[test]
    fn a_call_that_may_yet_wait_is_not_counted_as_refused() {
        let bulkhead = bulkhead(BulkheadPolicy::new(1));
        let slot = bulkhead.try_slot().unwrap();
        assert!(bulkhead.try_slot().is_none());
        drop(slot);
        assert!(bulkhead.try_slot().is_some());
        assert_eq!(bulkhead.rejected(), 0);
    }

    #[test]
    fn a_panic_gives_the_slot_back() {
        let bulkhead = bulkhead(BulkheadPolicy::new(1));
        let panicked = panic::catch_unwind(AssertUnwindSafe(|| {
            let _slot = bulkhead.try_acquire().unwrap();
            panic!("in the call");
        }));
        assert!(panicked.is_err());
        assert_eq!(bulkhead.available(), 1);
        assert!(bulkhead.try_acquire().is_ok());
    }

    #[test]
    fn a_slot_may_end_on_another_thread() {
        let bulkhead = bulkhead(BulkheadPolicy::new(1));
        let slot = bulkhead.try_acquire().unwrap();
        thread::scope(|scope| scope.spawn(|| drop(slot)).join().unwrap());
        assert!(bulkhead.try_acquire().is_ok());
    }

    #[test]
    fn a_slot_is_small_enough_to_keep_across_an_await() {
        assert_eq!(size_of::<Slot<'_>>(), size_of::<usize>());
    }

    /// I9, L15
    #[test]
    fn one_runs_one_waits_and_the_others_are_refused() {
        let bulkhead = bulkhead(BulkheadPolicy::new(1).queue(1));
        let mut calls = [(); 5].map(|()| bulkhead.acquire());
        let answers = calls.each_mut().map(poll);
        assert!(matches!(answers[0], Poll::Ready(Ok(_))));
        assert!(answers[1].is_pending());
        for refused in &answers[2..] {
            let Poll::Ready(Err(rejected)) = refused else {
                panic!("{refused:?}");
            };
            assert_eq!(rejected.kind(), RejectedKind::BulkheadFull);
        }
        assert_eq!(bulkhead.waiting(), 1);
        assert_eq!(bulkhead.rejected_full(), 3);
    }

    #[test]
    fn sixteen_threads_never_run_more_calls_than_may_and_leave_nothing_behind() {
        const MOST: u32 = 3;
        let bulkhead = bulkhead(BulkheadPolicy::new(MOST).queue(8));
        let running = AtomicU32::new(0);
        let (made, refused) = (AtomicU64::new(0), AtomicU64::new(0));
        let run = |slot: Slot<'_>, random: &mut fastrand::Rng| {
            assert!(running.fetch_add(1, Acquire) < MOST);
            for _ in 0..random.u32(..20) {
                thread::yield_now();
            }
            running.fetch_sub(1, Release);
            drop(slot);
            made.fetch_add(1, Relaxed);
        };
        let end = |answer: Result<Slot<'_>, Rejected>, random: &mut fastrand::Rng| match answer {
            Ok(slot) => run(slot, random),
            Err(_) => {
                refused.fetch_add(1, Relaxed);
            }
        };
        thread::scope(|scope| {
            for seed in 0..16 {
                let (bulkhead, end) = (&bulkhead, &end);
                scope.spawn(move || {
                    let random = &mut fastrand::Rng::with_seed(seed);
                    for _ in 0..300 {
                        match random.u32(..3) {
                            0 => end(bulkhead.try_acquire(), random),
                            1 => end(bulkhead.acquire_blocking(), random),
                            _ => {
                                // Dropped in the queue, or with a slot it has not taken.
                                let mut call = bulkhead.acquire();
                                for _ in 0..random.u32(..4) {
                                    if let Poll::Ready(answer) = poll(&mut call) {
                                        end(answer, random);
                                        break;
                                    }
                                    thread::yield_now();
                                }
                            }
                        }
                        assert!(bulkhead.waiting() <= 8);
                    }
                });
            }
        });
        assert!(made.load(Relaxed) > 0);
        assert_eq!(bulkhead.rejected(), refused.load(Relaxed));
        assert_eq!((bulkhead.available(), bulkhead.waiting()), (MOST, 0));
        let slots = [(); MOST as usize].map(|()| bulkhead.try_acquire().unwrap());
        assert!(bulkhead.try_acquire().is_err());
        drop(slots);
    }
}
