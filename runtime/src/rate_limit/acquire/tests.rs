//! Waiting for tokens, in turn and in time.

use std::mem;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::Ordering::Release;
use std::task::Wake;
use std::thread;

use tokio::task::JoinSet;
use tokio::time::Instant;

use super::*;
use crate::clock::Clock;
use crate::clock::ManualClock;
use crate::host::Host;
use crate::policy::RatePolicy;
use crate::rejected::RejectedKind;

const NANO: Duration = Duration::from_nanos(1);
const MILLI: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
/// One a second, one at a time.
const SPACED: RatePolicy = RatePolicy::new(1, SECOND).max_wait(MINUTE);

fn with_clock(policy: RatePolicy, clock: Clock) -> RateLimiter {
    RateLimiter::new(&"mail", policy, Arc::new(Host::with_clock(clock)))
}

fn limiter(policy: RatePolicy) -> (ManualClock, RateLimiter) {
    let time = ManualClock::new();
    let limiter = with_clock(policy, time.clock());
    (time, limiter)
}

fn poll(call: &mut AcquireToken<'_>) -> Poll<Result<(), Rejected>> {
    Pin::new(call).poll(&mut Context::from_waker(Waker::noop()))
}

/// Counts how often it is woken.
#[derive(Default)]
struct Woken(Arc<Count>);

#[derive(Default)]
struct Count(AtomicU32);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Release);
    }
}

impl Woken {
    fn poll(&self, call: &mut AcquireToken<'_>) -> Poll<Result<(), Rejected>> {
        let waker = Waker::from(Arc::clone(&self.0));
        Pin::new(call).poll(&mut Context::from_waker(&waker))
    }

    fn times(&self) -> u32 {
        self.0.0.load(Acquire)
    }
}

fn is_admitted(call: &mut AcquireToken<'_>) -> bool {
    match poll(call) {
        Poll::Ready(answer) => answer.is_ok(),
        Poll::Pending => false,
    }
}

fn refused(call: &mut AcquireToken<'_>) -> (RejectedKind, Option<Duration>) {
    match poll(call) {
        Poll::Ready(Err(rejected)) => (rejected.kind(), rejected.retry_after()),
        other => panic!("{other:?}"),
    }
}

/// So many that wait, in this order.
fn waiters<const N: usize>(limiter: &RateLimiter) -> [AcquireToken<'_>; N] {
    [(); N].map(|()| {
        let mut call = limiter.acquire();
        assert!(poll(&mut call).is_pending());
        call
    })
}

/// B108
#[tokio::test(start_paused = true)]
async fn a_hundred_that_come_at_once_go_one_by_one_in_their_order() {
    let policy = RatePolicy::new(10, SECOND).max_wait(MINUTE);
    let limiter = Arc::new(with_clock(policy, Clock::tokio()));
    let begin = Instant::now();
    let mut tasks = JoinSet::new();
    for number in 0..100_u32 {
        let limiter = Arc::clone(&limiter);
        tasks.spawn(async move {
            limiter.acquire().await.unwrap();
            (begin.elapsed(), number)
        });
    }
    let mut starts = tasks.join_all().await;
    starts.sort();
    let expected: Vec<_> = (0..100_u32)
        .map(|it| (MILLI * 100 * it.saturating_sub(9), it))
        .collect();
    assert_eq!(starts, expected);
    assert_eq!(limiter.waiting(), 0);
}

/// B108
#[test]
fn a_hundred_on_eight_threads_get_a_token_each_and_nobody_goes_without() {
    let policy = RatePolicy::new(10, SECOND).max_wait(MINUTE);
    let (time, limiter) = limiter(policy);
    let started = AtomicU32::new(0);
    thread::scope(|scope| {
        for thread in 0..8 {
            let (limiter, started) = (&limiter, &started);
            scope.spawn(move || {
                let numbers = (0..100).filter(|number| number % 8 == thread);
                let mut calls: Vec<_> = numbers.map(|_| limiter.acquire()).collect();
                while !calls.is_empty() {
                    calls.retain_mut(|call| match poll(call) {
                        Poll::Pending => true,
                        Poll::Ready(answer) => {
                            answer.unwrap();
                            started.fetch_add(1, Release);
                            false
                        }
                    });
                    thread::yield_now();
                }
            });
        }
        while started.load(Acquire) < 10 || limiter.waiting() < 90 {
            thread::yield_now();
        }
        for step in 1..=90 {
            time.advance(MILLI * 100 - NANO);
            assert_eq!(started.load(Acquire), 9 + step);
            time.advance(NANO);
            while started.load(Acquire) < 10 + step {
                thread::yield_now();
            }
        }
    });
    assert_eq!(time.clock().now(), Tick(0) + SECOND * 9);
    assert_eq!((limiter.waiting(), limiter.rejected()), (0, 0));
}

/// B115. A bucket gets its tokens one by one: at no time are there more starts than the
/// window of ten seconds would admit, that has 0, 0, 0, 10, 10, 10, 20.
#[test]
fn waiters_are_not_rounded_down_to_an_earlier_token() {
    let (time, limiter) = limiter(RatePolicy::new(3, SECOND * 10).max_wait(MINUTE));
    let mut calls = [(); 12].map(|()| limiter.acquire());
    let third = Duration::from_nanos(3_333_333_334);
    for (number, call) in (0..).zip(&mut calls) {
        assert_eq!(is_admitted(call), number < 3, "{number}");
    }
    for call in &mut calls[3..] {
        time.advance(third - NANO);
        assert!(!is_admitted(call));
        time.advance(NANO);
        assert!(is_admitted(call));
    }
    assert!(time.clock().now() > Tick(0) + SECOND * 30);
}

#[test]
fn who_cannot_get_a_token_in_time_is_refused_at_once() {
    let (time, limiter) = limiter(SPACED.max_wait(SECOND * 2));
    assert!(limiter.try_acquire().is_ok());
    time.advance(MILLI * 500);
    // One that is due at half a second, and one at one and a half.
    let mut calls = waiters::<2>(&limiter);
    let wait = Some(MILLI * 2_500);
    assert_eq!(
        refused(&mut limiter.acquire()),
        (RejectedKind::RateLimited, wait)
    );
    assert_eq!(limiter.try_acquire().unwrap_err().retry_after(), wait);
    time.advance(MILLI * 500);
    assert!(is_admitted(&mut calls[0]));
    assert_eq!(limiter.rejected(), 2);
}

#[test]
fn a_token_that_is_due_at_the_end_of_the_wait_is_in_time() {
    let (time, limiter) = limiter(SPACED.max_wait(SECOND));
    assert!(limiter.try_acquire().is_ok());
    let [mut call] = waiters(&limiter);
    time.advance(SECOND);
    assert!(is_admitted(&mut call));
    time.advance(NANO);
    let wait = Some(SECOND - NANO);
    assert_eq!(limiter.try_acquire().unwrap_err().retry_after(), wait);
    let [_in_time] = waiters(&limiter);
}

#[test]
fn nobody_waits_where_no_wait_is_written() {
    let (_, limiter) = limiter(RatePolicy::new(1, SECOND));
    assert!(is_admitted(&mut limiter.acquire()));
    let refused = refused(&mut limiter.acquire());
    assert_eq!(refused, (RejectedKind::RateLimited, Some(SECOND)));
    assert_eq!(limiter.waiting(), 0);
}

#[test]
fn whichever_ends_the_wait_first_names_the_rejection() {
    let (time, limiter) = limiter(SPACED.max_wait(SECOND / 2));
    assert!(limiter.try_acquire().is_ok());
    let now = time.clock().now();
    let cases = [
        (SECOND / 2 - NANO, RejectedKind::Deadline),
        (SECOND / 2, RejectedKind::Deadline),
        (SECOND / 2 + NANO, RejectedKind::RateLimited),
    ];
    for (left, kind) in cases {
        let mut call = limiter.acquire_until(Some(now + left));
        assert_eq!(refused(&mut call), (kind, Some(SECOND)), "{left:?} left");
    }
    assert_eq!(limiter.rejected(), 3);
}

#[test]
fn a_token_that_comes_with_the_timeout_comes_too_late() {
    let (time, limiter) = limiter(SPACED);
    assert!(limiter.try_acquire().is_ok());
    let now = time.clock().now();
    let mut late = limiter.acquire_until(Some(now + SECOND));
    assert_eq!(refused(&mut late), (RejectedKind::Deadline, Some(SECOND)));
    let mut in_time = limiter.acquire_until(Some(now + SECOND + NANO));
    assert!(poll(&mut in_time).is_pending());
    time.advance(SECOND);
    assert!(is_admitted(&mut in_time));
}

#[test]
fn a_call_whose_timeout_has_struck_takes_no_token() {
    let (time, limiter) = limiter(SPACED);
    let now = time.clock().now();
    let mut call = limiter.acquire_until(Some(now));
    assert_eq!(refused(&mut call), (RejectedKind::Deadline, None));
    let blocking = limiter.acquire_blocking_until(Some(now)).unwrap_err();
    assert_eq!(blocking.kind(), RejectedKind::Deadline);
    assert_eq!(limiter.rejected(), 0, "the rate has refused nobody");
    assert!(limiter.try_acquire().is_ok());
}

#[test]
fn a_timeout_that_strikes_in_the_line_takes_no_token() {
    let (time, limiter) = limiter(SPACED);
    assert!(limiter.try_acquire().is_ok());
    let mut call = limiter.acquire_until(Some(time.clock().now() + SECOND * 2));
    assert!(poll(&mut call).is_pending());
    time.advance(SECOND * 2);
    let struck = refused(&mut call);
    assert_eq!(struck, (RejectedKind::Deadline, Some(Duration::ZERO)));
    assert_eq!(limiter.waiting(), 0);
    assert!(limiter.try_acquire().is_ok());
}

#[test]
fn who_comes_later_does_not_overtake_one_who_has_not_come_for_its_token_yet() {
    let (time, limiter) = limiter(SPACED);
    assert!(limiter.try_acquire().is_ok());
    let [mut first] = waiters(&limiter);
    time.advance(SECOND);
    let rejected = limiter.try_acquire().unwrap_err();
    assert_eq!(rejected.retry_after(), Some(SECOND));
    let [mut second] = waiters(&limiter);
    assert!(is_admitted(&mut first));
    assert!(poll(&mut second).is_pending());
}

#[test]
fn who_comes_later_need_not_wait_where_there_is_a_token_for_all_before_it() {
    let (time, limiter) = limiter(SPACED.burst(2));
    assert!(limiter.try_acquire().is_ok() && limiter.try_acquire().is_ok());
    let [mut stays_away] = waiters(&limiter);
    time.advance(SECOND * 2);
    assert!(limiter.try_acquire().is_ok());
    assert!(limiter.try_acquire().is_err(), "that is the other's");
    assert!(is_admitted(&mut stays_away));
}

#[tokio::test(start_paused = true)]
async fn those_behind_move_up_when_somebody_stops_waiting() {
    let limiter = Arc::new(with_clock(SPACED, Clock::tokio()));
    let begin = Instant::now();
    limiter.try_acquire().unwrap();
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let limiter = Arc::clone(&limiter);
            tokio::spawn(async move {
                limiter.acquire().await.unwrap();
                begin.elapsed()
            })
        })
        .collect();
    tokio::time::sleep(SECOND / 2).await;
    // The first, who is asleep until its token is due, and one in the middle.
    tasks[0].abort();
    tasks[2].abort();
    let mut starts = Vec::new();
    for task in tasks {
        starts.extend(task.await.ok());
    }
    assert_eq!(starts, [SECOND, SECOND * 2]);
}

#[test]
fn whoever_stops_waiting_at_whatever_point_takes_no_token_with_it() {
    for seed in 0..500 {
        let random = &mut fastrand::Rng::with_seed(seed);
        let burst = random.u32(1..4);
        let (time, limiter) = limiter(SPACED.burst(burst));
        let mut taken = 0;
        let mut calls = Vec::new();
        for _ in 0..200 {
            match random.u32(..4) {
                0 => calls.push(limiter.acquire()),
                1 => time.advance(SECOND.mul_f64(random.f64())),
                2 if !calls.is_empty() => {
                    drop(calls.remove(random.usize(..calls.len())));
                }
                _ => calls.retain_mut(|call| match poll(call) {
                    Poll::Pending => true,
                    Poll::Ready(answer) => {
                        taken += u32::from(answer.is_ok());
                        false
                    }
                }),
            }
        }
        drop(calls);
        assert_eq!(limiter.waiting(), 0);
        while limiter.try_token() {
            taken += 1;
        }
        let most = u64::from(burst) + limiter.now().0 / 1_000_000_000;
        assert!(u64::from(taken) <= most, "seed {seed}: {taken} of {most}");
        let next = limiter.try_acquire().unwrap_err().retry_after();
        assert!(next <= Some(SECOND), "seed {seed}: {next:?}");
    }
}

#[test]
fn one_who_is_never_polled_again_does_not_hold_up_the_others_for_ever() {
    let (time, limiter) = limiter(SPACED.max_wait(SECOND * 2));
    assert!(limiter.try_acquire().is_ok());
    let [forgotten] = waiters(&limiter);
    mem::forget(forgotten);
    // Its wait ends at two seconds, and it may be late by one.
    time.advance(SECOND * 3);
    assert!(limiter.try_acquire().is_err());
    time.advance(NANO);
    assert!(limiter.try_acquire().is_ok());
    assert_eq!(limiter.waiting(), 0);
}

#[test]
fn those_who_wait_behind_one_who_does_not_come_pass_it_over() {
    let (time, limiter) = limiter(SPACED.max_wait(SECOND * 9));
    assert!(limiter.try_acquire().is_ok());
    let now = time.clock().now();
    let mut forgotten = limiter.acquire_until(Some(now + SECOND * 2));
    assert!(poll(&mut forgotten).is_pending());
    let [mut behind] = waiters(&limiter);
    time.advance(SECOND * 3);
    assert!(poll(&mut behind).is_pending());
    time.advance(NANO);
    assert!(is_admitted(&mut behind));
    assert_eq!(limiter.waiting(), 0);

    let mut forgotten = limiter.acquire_until(Some(limiter.now() + SECOND * 2));
    assert!(poll(&mut forgotten).is_pending());
    time.advance(SECOND * 3 + NANO);
    let mut newcomer = limiter.acquire_until(Some(limiter.now() + NANO));
    assert!(is_admitted(&mut newcomer));
}

#[test]
fn who_is_woken_late_gets_its_token_if_there_is_one() {
    let (time, limiter) = limiter(SPACED.max_wait(SECOND));
    assert!(limiter.try_acquire().is_ok());
    let [mut late] = waiters(&limiter);
    time.advance(SECOND * 30);
    assert!(is_admitted(&mut late));
    let [mut passed_over] = waiters(&limiter);
    time.advance(SECOND * 30);
    assert!(limiter.try_acquire().is_ok());
    let wait = Some(SECOND);
    assert_eq!(refused(&mut passed_over), (RejectedKind::RateLimited, wait));
}

#[test]
fn who_loses_its_time_to_a_late_one_before_it_is_refused_at_the_end_of_its_wait() {
    let (time, limiter) = limiter(SPACED.max_wait(SECOND * 2));
    assert!(limiter.try_acquire().is_ok());
    let [mut first, mut second] = waiters(&limiter);
    // A bucket of one cannot keep the token for the second while the first is away.
    time.advance(SECOND + MILLI);
    assert!(is_admitted(&mut first));
    let woken = Woken::default();
    assert!(woken.poll(&mut second).is_pending());
    time.advance(SECOND - MILLI - NANO);
    assert!(woken.poll(&mut second).is_pending());
    assert_eq!(woken.times(), 0);
    time.advance(NANO);
    assert_eq!(woken.times(), 1);
    let wait = Some(MILLI);
    assert_eq!(refused(&mut second), (RejectedKind::RateLimited, wait));
}

#[test]
fn who_loses_its_time_is_woken_when_the_timeout_strikes() {
    let (time, limiter) = limiter(SPACED);
    assert!(limiter.try_acquire().is_ok());
    let [mut first] = waiters(&limiter);
    let strikes = SECOND * 2 + MILLI;
    let mut second = limiter.acquire_until(Some(time.clock().now() + strikes));
    assert!(poll(&mut second).is_pending());
    time.advance(SECOND + MILLI * 2);
    assert!(is_admitted(&mut first));
    let woken = Woken::default();
    assert!(woken.poll(&mut second).is_pending());
    time.advance(strikes - SECOND - MILLI * 2);
    assert_eq!(woken.times(), 1);
    let wait = Some(MILLI);
    assert_eq!(refused(&mut second), (RejectedKind::Deadline, wait));
}

#[test]
fn who_has_moved_to_another_task_is_woken_there_when_it_is_the_first() {
    let (_, limiter) = limiter(SPACED);
    assert!(limiter.try_acquire().is_ok());
    let [first] = waiters(&limiter);
    let mut second = limiter.acquire();
    let (before, now) = (Woken::default(), Woken::default());
    assert!(before.poll(&mut second).is_pending());
    assert!(now.poll(&mut second).is_pending());
    drop(first);
    assert_eq!((before.times(), now.times()), (0, 1));
}

#[test]
fn a_thread_waits_for_its_token() {
    let (time, limiter) = limiter(SPACED);
    assert!(limiter.try_acquire().is_ok());
    thread::scope(|scope| {
        let waits = scope.spawn(|| limiter.acquire_blocking());
        while limiter.waiting() == 0 {
            thread::yield_now();
        }
        // It is in the line before it sleeps.
        while !waits.is_finished() {
            time.advance(MILLI * 100);
            thread::yield_now();
        }
        assert_eq!(waits.join().unwrap(), Ok(()));
    });
    assert!(time.clock().now() >= Tick(0) + SECOND);
    assert_eq!(limiter.waiting(), 0);
}

/// With a waker its task may go, and what that holds.
#[test]
fn a_task_that_goes_with_its_waker_may_be_in_the_line_itself() {
    struct Task {
        limiter: &'static RateLimiter,
        seen: &'static Mutex<Vec<bool>>,
    }
    impl Wake for Task {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for Task {
        fn drop(&mut self) {
            let is_free = self.limiter.line.try_lock().is_ok();
            self.seen.lock().unwrap().push(is_free);
        }
    }
    let (time, limiter) = limiter(SPACED.max_wait(SECOND));
    let limiter: &'static _ = Box::leak(Box::new(limiter));
    let seen: &'static _ = Box::leak(Box::new(Mutex::default()));
    limiter.try_acquire().unwrap();
    let mut call = limiter.acquire();
    for _ in 0..2 {
        let waker = Waker::from(Arc::new(Task { limiter, seen }));
        let mut context = Context::from_waker(&waker);
        assert!(Pin::new(&mut call).poll(&mut context).is_pending());
    }
    // The sleeping clock of the test lets go of its wakers when they are due.
    time.advance(MINUTE);
    mem::forget(call);
    limiter.try_acquire().unwrap();
    assert_eq!(*seen.lock().unwrap(), [true, true]);
}

/// The thread that waits is the one that would have to drive the timer of the runtime.
#[test]
fn a_thread_that_drives_the_timer_itself_gets_its_token() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let _entered = runtime.enter();
    let policy = RatePolicy::new(1, Duration::from_millis(1)).max_wait(Duration::from_secs(1));
    let host = Arc::new(Host::with_clock(Clock::system()));
    let limiter = RateLimiter::new(&"s3", policy, host);
    for _ in 0..3 {
        assert_eq!(limiter.acquire_blocking().map_err(|it| it.kind()), Ok(()));
    }
    assert_eq!((limiter.waiting(), limiter.rejected()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_thread_that_keeps_the_clock_from_moving_waits_no_longer_than_max_wait() {
    let policy = RatePolicy::new(1, Duration::from_millis(1)).max_wait(Duration::from_millis(1));
    let host = Arc::new(Host::with_clock(Clock::tokio()));
    let limiter = RateLimiter::new(&"s3", policy, host);
    assert!(limiter.acquire_blocking().is_ok());
    let rejected = limiter.acquire_blocking().unwrap_err();
    assert_eq!(rejected.kind(), RejectedKind::RateLimited);
    assert_eq!(rejected.retry_after(), Some(Duration::from_millis(1)));
    assert_eq!((limiter.waiting(), limiter.rejected()), (0, 1));
}
