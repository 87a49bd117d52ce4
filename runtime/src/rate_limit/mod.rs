//! So many calls in so much time, and a line for those who wait for a token.

mod acquire;
mod bucket;
mod line;

use std::fmt;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::Ordering::Release;
use std::time::Duration;

use crate::clock::Tick;
use crate::deadline::Deadline;
use crate::host::Host;
use crate::policy::RatePolicy;
use crate::rejected::Rejected;

pub use acquire::AcquireToken;

use bucket::Bucket;
use line::Line;

/// The rate limit of one service: a bucket of tokens, one for each call.
///
/// What a bucket promises, and what it does not, stands with [`RatePolicy`]: after a pause
/// `burst` calls may come at once, beside those that the rate admits meanwhile.
///
/// Those who wait get their tokens in the order in which they came. Whoever is woken asks the
/// bucket again, and nobody goes without a token. One who comes later goes before them only
/// where the bucket has a token for each of them and one more.
///
/// A token that was taken is spent, also where the call is then not made: put the circuit
/// breaker outside of the rate limit, so that an open circuit uses up none.
pub struct RateLimiter {
    label: &'static &'static str,
    policy: RatePolicy,
    host: Arc<Host>,
    bucket: Bucket,
    line: Mutex<Line>,
    /// How long the line is, for those who need not lock it where it is empty.
    waiting: AtomicU32,
    rejected: AtomicU64,
}

impl RateLimiter {
    /// A rate limiter with a full bucket, by numbers that have been checked.
    pub(crate) fn new(label: &'static &'static str, policy: RatePolicy, host: Arc<Host>) -> Self {
        Self {
            label,
            bucket: Bucket::new(&policy, Arc::clone(&host)),
            policy,
            host,
            line: Mutex::default(),
            waiting: AtomicU32::new(0),
            rejected: AtomicU64::new(0),
        }
    }

    /// Takes a token if there is one at once.
    ///
    /// # Errors
    ///
    /// Of kind [`RateLimited`](crate::RejectedKind::RateLimited), with the exact time after
    /// which there is a token, if those who wait take theirs.
    #[inline]
    pub fn try_acquire(&self) -> Result<(), Rejected> {
        if self.take_if_nobody_waits() {
            return Ok(());
        }
        let now = self.now();
        self.ask_behind_all(now)
            .map_err(|due| self.refused(due.since(now)))
    }

    /// Takes a token as soon as there is one, in turn with the others who wait.
    ///
    /// It waits from when it is first polled, by the clock of the registry, and no longer than
    /// to the [`deadline`](crate::deadline()) of the timeout around its making.
    ///
    /// # Errors
    ///
    /// Of kind [`RateLimited`](crate::RejectedKind::RateLimited), at once, where there is no
    /// token for it within [`max_wait`](RatePolicy::max_wait), with the exact time after which
    /// there is one. If those before it come late for their tokens, it can also be refused when
    /// that time is over. Of kind [`Deadline`](crate::RejectedKind::Deadline) where a timeout
    /// around strikes before there is a token.
    ///
    /// # Cancel safety
    ///
    /// See [`AcquireToken`].
    pub fn acquire(&self) -> AcquireToken<'_> {
        self.acquire_until(Deadline::nearest(&self.host, None))
    }

    /// [`acquire`](Self::acquire) on a plain thread, which sleeps meanwhile. In async code it
    /// would block the executor.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Self::acquire).
    pub fn acquire_blocking(&self) -> Result<(), Rejected> {
        self.acquire_blocking_until(Deadline::nearest(&self.host, None))
    }

    /// How many calls wait for a token.
    #[must_use]
    pub fn waiting(&self) -> u32 {
        self.waiting.load(Acquire)
    }

    /// Its numbers.
    pub const fn policy(&self) -> &RatePolicy {
        &self.policy
    }

    /// The service whose calls it counts.
    #[must_use]
    pub const fn service(&self) -> &'static str {
        self.label
    }

    /// How many calls it has refused so far, for want of a token in time.
    #[must_use]
    pub fn rejected(&self) -> u64 {
        self.rejected.load(Relaxed)
    }

    /// Takes a token if there is one at once. Without one nothing is counted: the caller may
    /// wait.
    #[inline]
    pub(crate) fn try_token(&self) -> bool {
        self.take_if_nobody_waits() || self.ask_behind_all(self.now()).is_ok()
    }

    /// As [`acquire`](Self::acquire), and only for a token that is due before a timeout strikes:
    /// else the rejection is of kind `Deadline`.
    pub(crate) const fn acquire_until(&self, until: Option<Tick>) -> AcquireToken<'_> {
        AcquireToken::new(self, until)
    }

    /// The same on a plain thread.
    pub(crate) fn acquire_blocking_until(&self, until: Option<Tick>) -> Result<(), Rejected> {
        self.acquire_until(until).wait()
    }

    fn now(&self) -> Tick {
        self.bucket.now()
    }

    fn due(&self, ahead: usize, now: Tick) -> Tick {
        self.bucket.due(ahead, now)
    }

    /// Where somebody waits the bucket alone does not decide.
    #[inline]
    fn take_if_nobody_waits(&self) -> bool {
        self.waiting.load(Acquire) == 0 && self.bucket.take()
    }

    /// Takes a token for one who comes after all who wait, or says when there is one.
    fn ask_behind_all(&self, now: Tick) -> Result<(), Tick> {
        if self.waiting() == 0 {
            return self.ask(0, now);
        }
        self.in_line(|line| {
            line.pass_over(now, None);
            self.ask(line.len(), now)
        })
    }

    /// Takes a token for one with so many before it, or says when there is one.
    fn ask(&self, ahead: usize, now: Tick) -> Result<(), Tick> {
        loop {
            let due = self.due(ahead, now);
            if due > now {
                return Err(due);
            }
            // It fails where another has been faster, and then the next is due later.
            if self.bucket.take() {
                return Ok(());
            }
        }
    }

    /// Lets one act on the line, and wakes who is the first by that. No waker is called or
    /// dropped while the line is locked.
    fn in_line<T>(&self, act: impl FnOnce(&mut Line) -> T) -> T {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let before = line.first().map(|(number, _)| number);
        let answer = act(&mut line);
        let first = line.first();
        // Who joins an empty line is awake.
        let moved_up = first.filter(|(number, _)| before.is_some_and(|before| before != *number));
        let woken = moved_up.map(|(_, waker)| waker.clone());
        let gone = line.take_gone();
        self.waiting
            .store(u32::try_from(line.len()).unwrap_or(u32::MAX), Release);
        drop(line);
        drop(gone);
        if let Some(waker) = woken {
            waker.wake();
        }
        answer
    }

    #[cold]
    fn refused(&self, wait: Duration) -> Rejected {
        self.rejected.fetch_add(1, Relaxed);
        Rejected::rate_limited(self.label, wait)
    }

    #[cold]
    fn deadline_before(&self, wait: Duration) -> Rejected {
        self.rejected.fetch_add(1, Relaxed);
        Rejected::deadline_before(self.label, wait)
    }

    /// The timeout had struck before anybody asked: that says nothing about the rate.
    #[cold]
    const fn deadline(&self) -> Rejected {
        Rejected::deadline(self.label)
    }
}

impl fmt::Debug for RateLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimiter")
            .field("service", &self.service())
            .field("policy", &self.policy)
            .field("waiting", &self.waiting())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, feature = "test-util"))]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Barrier;
    use std::thread;

    use super::*;
    use crate::clock::ManualClock;
    use crate::rejected::RejectedKind;

    const NANO: Duration = Duration::from_nanos(1);
    const MILLI: Duration = Duration::from_millis(1);
    const SECOND: Duration = Duration::from_secs(1);

    fn limiter(policy: RatePolicy) -> (ManualClock, RateLimiter) {
        let time = ManualClock::new();
        let host = Host::with_clock(time.clock());
        (time, RateLimiter::new(&"mail", policy, Arc::new(host)))
    }

    /// How many tokens there are at once.
    fn drain(limiter: &RateLimiter) -> usize {
        (0..).take_while(|_| limiter.try_token()).count()
    }

    #[test]
    fn a_call_that_is_refused_is_told_to_the_nanosecond_when_to_come_again() {
        let (time, limiter) = limiter(RatePolicy::new(3, SECOND));
        assert_eq!(drain(&limiter), 3);
        time.advance(MILLI * 100);
        let rejected = limiter.try_acquire().unwrap_err();
        assert_eq!(rejected.kind(), RejectedKind::RateLimited);
        assert_eq!(rejected.service(), "mail");
        let wait = rejected.retry_after().unwrap();
        assert_eq!(wait, Duration::from_nanos(333_333_334 - 100_000_000));
        time.advance(wait - NANO);
        let rejected = limiter.try_acquire().unwrap_err();
        assert_eq!(rejected.retry_after(), Some(NANO));
        time.advance(NANO);
        assert!(limiter.try_acquire().is_ok());
        assert_eq!(limiter.rejected(), 2);
    }

    #[test]
    fn a_call_that_may_yet_wait_is_not_counted_as_refused() {
        let (_, limiter) = limiter(RatePolicy::new(1, SECOND));
        assert!(limiter.try_token());
        assert!(!limiter.try_token());
        assert_eq!(limiter.rejected(), 0);
    }

    /// B113
    #[test]
    fn a_burst_and_the_refill_come_to_twice_the_number_in_the_first_period() {
        let (time, limiter) = limiter(RatePolicy::new(100, SECOND * 60));
        assert_eq!(drain(&limiter), 100);
        for _ in 0..100 {
            time.advance(MILLI * 600 - NANO);
            assert_eq!(drain(&limiter), 0);
            time.advance(NANO);
            assert_eq!(drain(&limiter), 1);
        }
        assert_eq!(limiter.now(), Tick(0) + SECOND * 60);
    }

    /// The most that callers see who come as often as they can, in any stretch of a second.
    fn most_in_a_second(policy: RatePolicy, is_stretch: fn(Duration) -> bool) -> usize {
        let (time, limiter) = limiter(policy);
        let mut most = 0;
        let mut recent = VecDeque::new();
        for _ in 0..5_000 {
            let now = limiter.now();
            recent.extend(std::iter::repeat_n(now, drain(&limiter)));
            while !is_stretch(now.since(recent[0])) {
                recent.pop_front();
            }
            most = most.max(recent.len());
            time.advance(MILLI);
        }
        most
    }

    #[test]
    fn any_second_sees_at_most_the_burst_and_the_number() {
        let policy = RatePolicy::new(100, SECOND).burst(20);
        assert_eq!(most_in_a_second(policy, |length| length <= SECOND), 120);
    }

    #[test]
    fn a_burst_of_one_keeps_any_second_to_the_number() {
        let policy = RatePolicy::new(100, SECOND).burst(1);
        assert_eq!(most_in_a_second(policy, |length| length < SECOND), 100);
    }

    /// B120
    #[test]
    fn sixteen_threads_get_exactly_the_tokens_that_there_are() {
        const THREADS: usize = 16;
        let (time, limiter) = limiter(RatePolicy::new(1_200, SECOND * 60));
        let round = Barrier::new(THREADS + 1);
        let taken = AtomicU64::new(0);
        let refused = AtomicU64::new(0);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for _ in 0..100 {
                        round.wait();
                        while limiter.try_acquire().is_ok() {
                            taken.fetch_add(1, Relaxed);
                        }
                        refused.fetch_add(1, Relaxed);
                        round.wait();
                    }
                });
            }
            let mut passed = Duration::ZERO;
            for _ in 0..100 {
                round.wait();
                round.wait();
                let refilled = passed.as_millis() / 50;
                assert_eq!(u128::from(taken.load(Relaxed)), 1_200 + refilled);
                let pause = MILLI * fastrand::u32(..300);
                time.advance(pause);
                passed += pause;
            }
        });
        assert_eq!(limiter.rejected(), refused.load(Relaxed));
    }
}
