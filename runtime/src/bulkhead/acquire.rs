//! Waiting for a place in a bulkhead.

use std::fmt;
use std::panic::RefUnwindSafe;
use std::panic::UnwindSafe;
use std::pin::Pin;
use std::task::Context;
use std::task::Poll;
use std::time::Duration;

use tokio::sync::AcquireError;
use tokio::sync::SemaphorePermit;

use crate::blocking;
use crate::bulkhead::Bulkhead;
use crate::bulkhead::Place;
use crate::bulkhead::Slot;
use crate::clock::Sleep;
use crate::clock::Tick;
use crate::rejected::Rejected;

/// Waits for a slot of a [`Bulkhead`], made by [`Bulkhead::acquire`].
///
/// It allocates only where it has to wait. It needs no runtime; in one of tokio it waits by
/// its timer, which has to be enabled there.
///
/// # Cancel safety
///
/// Dropped, it gives its place back at once; a slot that it was handed and has not taken goes
/// to the next in the queue. Kept without being polled it keeps what it was handed, as a slot
/// that is kept does.
#[must_use = "a future does nothing unless it is awaited"]
pub struct AcquireSlot<'b> {
    bulkhead: &'b Bulkhead,
    until: Option<Tick>,
    queued: Option<Queued<'b>>,
}

/// One who waits. The permit that it may have been handed is given back before its place.
struct Queued<'b> {
    turn: Turn<'b>,
    sleep: Sleep,
    place: Place<'b>,
    /// What is said when the time is over.
    too_late: Rejected,
}

/// Ready when it is one's turn.
type Turn<'b> =
    Pin<Box<dyn Future<Output = Result<SemaphorePermit<'b>, AcquireError>> + Send + Sync + 'b>>;

/// What may be seen after a panic is a place in the queue, which is none the worse for it.
impl UnwindSafe for AcquireSlot<'_> {}
impl RefUnwindSafe for AcquireSlot<'_> {}

impl<'b> AcquireSlot<'b> {
    pub(super) const fn new(bulkhead: &'b Bulkhead, until: Option<Tick>) -> Self {
        Self {
            bulkhead,
            until,
            queued: None,
        }
    }

    /// Waits on this thread. Where that keeps the clock itself from moving, the wait is over by
    /// the clock of the system.
    pub(super) fn wait(mut self) -> Result<Slot<'b>, Rejected> {
        let longest = self.longest();
        let answer = blocking::wait(&mut self, longest, |_| None);
        answer.unwrap_or_else(|| Err(self.give_up()))
    }

    /// Whether the timeout around the call has struck.
    fn is_struck(&self) -> bool {
        let clock = &self.bulkhead.host.clock;
        self.until.is_some_and(|until| clock.now() >= until)
    }

    /// Waits no longer than this from now on.
    fn longest(&self) -> Duration {
        let Bulkhead { policy, host, .. } = self.bulkhead;
        let max_wait = policy.get_max_wait();
        let left = self.until.map(|until| until.since(host.clock.now()));
        left.map_or(max_wait, |left| left.min(max_wait))
    }

    /// The time is over; a slot that was handed over meanwhile goes to the next.
    fn give_up(&mut self) -> Rejected {
        self.bulkhead.count_late();
        let queued = self.queued.take();
        queued.expect("who waits is in the queue").too_late
    }
}

impl<'b> Future for AcquireSlot<'b> {
    type Output = Result<Slot<'b>, Rejected>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let mut queued = match this.queued.take() {
            Some(queued) => queued,
            None => match this.bulkhead.enter(this.until) {
                Entry::In(slot) => return Poll::Ready(Ok(slot)),
                Entry::Refused(rejected) => return Poll::Ready(Err(rejected)),
                Entry::Queued(queued) => queued,
            },
        };
        if let Poll::Ready(permit) = queued.turn.as_mut().poll(context) {
            let permit = permit.expect("nobody closes a bulkhead");
            // What would begin now is given up at once, and nobody knew how it ended.
            if this.is_struck() {
                drop(permit);
                this.bulkhead.count_late();
                return Poll::Ready(Err(queued.too_late));
            }
            permit.forget();
            return Poll::Ready(Ok(Slot::new(queued.place)));
        }
        if queued.sleep.as_mut().poll(context).is_ready() {
            this.bulkhead.count_late();
            return Poll::Ready(Err(queued.too_late));
        }
        this.queued = Some(queued);
        Poll::Pending
    }
}

/// What becomes of a call that is ready to wait.
enum Entry<'b> {
    In(Slot<'b>),
    Refused(Rejected),
    Queued(Queued<'b>),
}

impl Bulkhead {
    /// Lets a call in or into the queue, which it leaves at `until` at the latest.
    fn enter(&self, until: Option<Tick>) -> Entry<'_> {
        let clock = &self.host.clock;
        if let Some(until) = until
            && clock.now() >= until
        {
            self.count_late();
            return Entry::Refused(Rejected::deadline(self.label));
        }
        let Some(place) = self.place(self.places) else {
            return Entry::Refused(self.full());
        };
        let place = match self.permit(place) {
            Ok(slot) => return Entry::In(slot),
            Err(place) => place,
        };
        let now = clock.now();
        let give_up = now + self.policy.get_max_wait();
        let (last, too_late) = match until {
            Some(until) if until <= give_up => (until, Rejected::deadline(self.label)),
            Some(_) | None => (give_up, Rejected::bulkhead_full(self.label)),
        };
        Entry::Queued(Queued {
            turn: Box::pin(self.slots.acquire()),
            sleep: clock.sleep(last.since(now)),
            place,
            too_late,
        })
    }
}

impl fmt::Debug for AcquireSlot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcquireSlot")
            .field("service", &self.bulkhead.service())
            .field("is_queued", &self.queued.is_some())
            .finish()
    }
}

#[cfg(all(test, feature = "test-util"))]
mod tests {
    use std::sync::Arc;
    use std::task::Waker;
    use std::thread;
    use std::time::Duration;

    use tokio::task::JoinSet;

    use super::*;
    use crate::clock::Clock;
    use crate::clock::ManualClock;
    use crate::host::Host;
    use crate::policy::BulkheadPolicy;
    use crate::rejected::RejectedKind;

    const NANO: Duration = Duration::from_nanos(1);
    const SECOND: Duration = Duration::from_secs(1);
    const ONE: BulkheadPolicy = BulkheadPolicy::new(1).queue(3);

    fn bulkhead(policy: BulkheadPolicy, clock: Clock) -> Bulkhead {
        Bulkhead::new(&"s3", policy, Arc::new(Host::with_clock(clock)))
    }

    fn poll<'b>(call: &mut AcquireSlot<'b>) -> Poll<Result<Slot<'b>, Rejected>> {
        Pin::new(call).poll(&mut Context::from_waker(Waker::noop()))
    }

    fn slot<'b>(call: &mut AcquireSlot<'b>) -> Slot<'b> {
        match poll(call) {
            Poll::Ready(Ok(slot)) => slot,
            other => panic!("{other:?}"),
        }
    }

    fn refused(call: &mut AcquireSlot<'_>) -> RejectedKind {
        match poll(call) {
            Poll::Ready(Err(rejected)) => rejected.kind(),
            other => panic!("{other:?}"),
        }
    }

    /// So many that wait, in this order.
    fn waiters<const N: usize>(bulkhead: &Bulkhead) -> [AcquireSlot<'_>; N] {
        [(); N].map(|()| {
            let mut call = bulkhead.acquire();
            assert!(poll(&mut call).is_pending());
            call
        })
    }

    #[test]
    fn slots_go_to_those_who_wait_in_the_order_in_which_they_came() {
        let bulkhead = bulkhead(ONE, ManualClock::new().clock());
        let mut held = bulkhead.try_acquire().unwrap();
        let mut calls = waiters::<3>(&bulkhead);
        for next in 0..3 {
            drop(held);
            for later in &mut calls[next + 1..] {
                assert!(poll(later).is_pending());
            }
            held = slot(&mut calls[next]);
        }
        drop(held);
        assert_eq!((bulkhead.available(), bulkhead.waiting()), (1, 0));
    }

    #[test]
    fn nobody_overtakes_one_who_was_handed_a_slot_and_has_not_come_for_it() {
        let bulkhead = bulkhead(ONE, ManualClock::new().clock());
        let held = bulkhead.try_acquire().unwrap();
        let [mut first] = waiters(&bulkhead);
        drop(held);
        assert!(bulkhead.try_acquire().is_err());
        let [mut second] = waiters(&bulkhead);
        drop(slot(&mut first));
        drop(slot(&mut second));
    }

    #[test]
    fn one_who_was_handed_a_slot_takes_no_room_in_the_queue() {
        let bulkhead = bulkhead(ONE.queue(1), ManualClock::new().clock());
        let held = bulkhead.try_acquire().unwrap();
        let [mut handed] = waiters(&bulkhead);
        drop(held);
        assert_eq!(bulkhead.waiting(), 0);
        let [mut next] = waiters(&bulkhead);
        assert_eq!(refused(&mut bulkhead.acquire()), RejectedKind::BulkheadFull);
        drop(slot(&mut handed));
        drop(slot(&mut next));
    }

    #[test]
    fn who_stops_waiting_gives_its_place_to_another_at_once() {
        let bulkhead = bulkhead(ONE.queue(1), ManualClock::new().clock());
        let held = bulkhead.try_acquire().unwrap();
        for _ in 0..1_000 {
            let [_stops] = waiters(&bulkhead);
            assert_eq!(refused(&mut bulkhead.acquire()), RejectedKind::BulkheadFull);
        }
        let [mut stays] = waiters(&bulkhead);
        drop(held);
        drop(slot(&mut stays));
        assert_eq!((bulkhead.available(), bulkhead.waiting()), (1, 0));
    }

    #[test]
    fn a_slot_that_was_handed_out_and_not_taken_goes_to_the_next() {
        let bulkhead = bulkhead(ONE, ManualClock::new().clock());
        let held = bulkhead.try_acquire().unwrap();
        let [first, second, mut third] = waiters(&bulkhead);
        drop(held);
        drop((first, second));
        drop(slot(&mut third));
        assert_eq!((bulkhead.available(), bulkhead.waiting()), (1, 0));
    }

    #[test]
    fn who_is_dropped_without_being_polled_has_changed_nothing() {
        let bulkhead = bulkhead(ONE, ManualClock::new().clock());
        drop(bulkhead.acquire());
        assert_eq!((bulkhead.available(), bulkhead.waiting()), (1, 0));
    }

    /// Each of the waiters may stop before or after any slot is given back.
    #[test]
    fn whoever_stops_waiting_at_whatever_point_nothing_is_lost() {
        let random = &mut fastrand::Rng::with_seed(9);
        for _ in 0..2_000 {
            let policy = BulkheadPolicy::new(2).queue(6);
            let bulkhead = bulkhead(policy, ManualClock::new().clock());
            let mut held: Vec<_> = (0..2).map(|_| bulkhead.try_acquire().unwrap()).collect();
            let mut calls: Vec<_> = waiters::<6>(&bulkhead).into();
            while !calls.is_empty() || !held.is_empty() {
                let index = random.usize(..calls.len().max(1));
                match random.u32(..3) {
                    0 if !held.is_empty() => drop(held.pop()),
                    1 if !calls.is_empty() => drop(calls.remove(index)),
                    2 if !calls.is_empty() => {
                        if let Poll::Ready(answer) = poll(&mut calls[index]) {
                            held.push(answer.unwrap());
                            drop(calls.remove(index));
                        }
                    }
                    _ => {}
                }
                assert!(held.len() <= 2);
            }
            assert_eq!((bulkhead.available(), bulkhead.waiting()), (2, 0));
            let slots = [(); 2].map(|()| bulkhead.try_acquire().unwrap());
            assert!(bulkhead.try_acquire().is_err());
            drop(slots);
        }
    }

    #[test]
    fn a_wait_lasts_max_wait_and_not_a_nanosecond_less() {
        let time = ManualClock::new();
        let bulkhead = bulkhead(ONE.max_wait(SECOND), time.clock());
        let _held = bulkhead.try_acquire().unwrap();
        let [mut call] = waiters(&bulkhead);
        time.advance(SECOND - NANO);
        assert!(poll(&mut call).is_pending());
        time.advance(NANO);
        assert_eq!(refused(&mut call), RejectedKind::BulkheadFull);
        assert_eq!((bulkhead.rejected_late(), bulkhead.rejected_full()), (1, 0));
        assert_eq!(bulkhead.waiting(), 0);
    }

    #[test]
    fn a_slot_that_comes_with_the_end_of_the_wait_is_taken() {
        let time = ManualClock::new();
        let bulkhead = bulkhead(ONE.max_wait(SECOND), time.clock());
        let held = bulkhead.try_acquire().unwrap();
        let [mut call] = waiters(&bulkhead);
        time.advance(SECOND);
        drop(held);
        drop(slot(&mut call));
        assert_eq!(bulkhead.rejected(), 0);
    }

    #[test]
    fn whichever_ends_the_wait_first_names_the_rejection() {
        let time = ManualClock::new();
        let bulkhead = bulkhead(ONE.max_wait(SECOND), time.clock());
        let _held = bulkhead.try_acquire().unwrap();
        let cases = [
            (SECOND - NANO, RejectedKind::Deadline),
            (SECOND, RejectedKind::Deadline),
            (SECOND + NANO, RejectedKind::BulkheadFull),
        ];
        for (left, kind) in cases {
            let mut call = bulkhead.acquire_until(Some(time.clock().now() + left));
            assert!(poll(&mut call).is_pending());
            time.advance(left.min(SECOND));
            assert_eq!(refused(&mut call), kind, "{left:?} left");
        }
        assert_eq!(bulkhead.rejected_late(), 3);
    }

    #[test]
    fn a_call_whose_timeout_has_struck_takes_no_slot() {
        let time = ManualClock::new();
        let bulkhead = bulkhead(ONE, time.clock());
        let now = time.clock().now();
        let mut call = bulkhead.acquire_until(Some(now));
        assert_eq!(refused(&mut call), RejectedKind::Deadline);
        let blocking = bulkhead.acquire_blocking_until(Some(now)).unwrap_err();
        assert_eq!(blocking.kind(), RejectedKind::Deadline);
        assert_eq!(bulkhead.available(), 1);
        assert_eq!(bulkhead.rejected_late(), 2);
    }

    /// B111
    #[tokio::test(start_paused = true)]
    async fn a_call_that_needs_a_second_slot_while_it_holds_the_only_one_ends() {
        let bulkhead = bulkhead(BulkheadPolicy::new(1).queue(1), Clock::tokio());
        let begin = tokio::time::Instant::now();
        let _outer = bulkhead.acquire().await.unwrap();
        let inner = bulkhead.acquire().await.unwrap_err();
        assert_eq!(inner.kind(), RejectedKind::BulkheadFull);
        assert_eq!(begin.elapsed(), SECOND, "the default of `max_wait`");
    }

    #[tokio::test(start_paused = true)]
    async fn tasks_that_wait_are_woken_in_turn() {
        let policy = BulkheadPolicy::new(2).queue(100).max_wait(SECOND * 100);
        let bulkhead = Arc::new(bulkhead(policy, Clock::tokio()));
        let mut tasks = JoinSet::new();
        let begin = tokio::time::Instant::now();
        for number in 0..20_u32 {
            let bulkhead = Arc::clone(&bulkhead);
            tasks.spawn(async move {
                let _slot = bulkhead.acquire().await.unwrap();
                let began = begin.elapsed();
                tokio::time::sleep(SECOND).await;
                (began, number)
            });
        }
        let mut calls = tasks.join_all().await;
        calls.sort();
        let expected: Vec<_> = (0..20).map(|it| (SECOND * (it / 2), it)).collect();
        assert_eq!(calls, expected);
    }

    #[test]
    fn a_thread_waits_for_its_slot() {
        let bulkhead = bulkhead(ONE, ManualClock::new().clock());
        let held = bulkhead.try_acquire().unwrap();
        thread::scope(|scope| {
            let waits = scope.spawn(|| bulkhead.acquire_blocking().map(drop));
            while bulkhead.waiting() == 0 {
                thread::yield_now();
            }
            assert!(!waits.is_finished());
            drop(held);
            assert_eq!(waits.join().unwrap(), Ok(()));
        });
        assert_eq!(bulkhead.available(), 1);
    }

    #[test]
    fn a_thread_waits_no_longer_than_max_wait_by_the_clock_of_the_registry() {
        let time = ManualClock::new();
        let bulkhead = bulkhead(ONE.max_wait(SECOND * 3_600), time.clock());
        let _held = bulkhead.try_acquire().unwrap();
        thread::scope(|scope| {
            let waits = scope.spawn(|| bulkhead.acquire_blocking().map(drop));
            while bulkhead.waiting() == 0 {
                thread::yield_now();
            }
            // It is in the queue before it has looked at the clock.
            while !waits.is_finished() {
                time.advance(SECOND * 60);
                thread::yield_now();
            }
            let rejected = waits.join().unwrap().unwrap_err();
            assert_eq!(rejected.kind(), RejectedKind::BulkheadFull);
        });
        assert!(time.clock().now() >= Tick(0) + SECOND * 3_600);
    }

    /// The thread that waits is the one that would have to move the time.
    #[tokio::test(start_paused = true)]
    async fn a_thread_that_drives_the_clock_itself_waits_no_longer_than_max_wait() {
        let bulkhead = bulkhead(ONE.max_wait(NANO), Clock::tokio());
        let held = bulkhead.try_acquire().unwrap();
        let rejected = bulkhead.acquire_blocking().unwrap_err();
        assert_eq!(rejected.kind(), RejectedKind::BulkheadFull);
        let until = Some(bulkhead.host.clock.now() + NANO);
        let struck = bulkhead.acquire_blocking_until(until).unwrap_err();
        assert_eq!(struck.kind(), RejectedKind::Deadline);
        assert_eq!(bulkhead.rejected_late(), 2);
        drop(held);
        assert_eq!((bulkhead.available(), bulkhead.waiting()), (1, 0));
    }

    #[test]
    fn a_slot_that_comes_with_the_timeout_around_goes_to_the_next() {
        let time = ManualClock::new();
        let bulkhead = bulkhead(ONE.max_wait(SECOND), time.clock());
        let held = bulkhead.try_acquire().unwrap();
        let mut late = bulkhead.acquire_until(Some(Tick(0) + SECOND));
        assert!(poll(&mut late).is_pending());
        let [mut next] = waiters(&bulkhead);
        time.advance(SECOND);
        drop(held);
        assert_eq!(refused(&mut late), RejectedKind::Deadline);
        assert_eq!((bulkhead.waiting(), bulkhead.rejected_late()), (0, 1));
        drop(slot(&mut next));
        assert_eq!(bulkhead.available(), 1);
    }
}
