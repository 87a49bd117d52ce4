//! No time at all, and all the time there is.

use std::future::pending;
use std::future::ready;
use std::pin::pin;
use std::task::Context;
use std::task::Poll;
use std::task::Waker;
use std::time::Duration;

use breakerbox::BulkheadPolicy;
use breakerbox::Error;
use breakerbox::ManualClock;
use breakerbox::Policies;
use breakerbox::RatePolicy;
use breakerbox::Registry;
use breakerbox::RejectedKind;
use breakerbox::RetryPolicy;
use breakerbox::Verdict;
use breakerbox::deadline;
use breakerbox::policies;
use breakerbox::timeout;
use breakerbox::with_registry;

const SECOND: Duration = Duration::from_secs(1);

/// The longest that anybody can write, and what is near it.
const HUGE: [Duration; 5] = [
    Duration::MAX,
    Duration::from_secs(u64::MAX),
    Duration::from_millis(u64::MAX),
    Duration::from_nanos(u64::MAX),
    Duration::from_secs(400 * 365 * 86_400),
];

fn poll<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// B066: in a runtime, on a thread without any, and by a clock that is at its end.
#[test]
fn a_timeout_of_any_length_waits_and_overflows_nothing() {
    fn check() {
        for limit in HUGE {
            assert_eq!(poll(timeout(limit, ready(7))), Poll::Ready(Ok(7)));
            assert!(poll(timeout(limit, pending::<()>())).is_pending());
            let nested = timeout(limit, timeout(limit, async { deadline() }));
            let Poll::Ready(Ok(Ok(Some(left)))) = poll(nested) else {
                panic!("it waits for nothing")
            };
            assert!(left <= limit);
        }
        // The body has its one turn.
        assert_eq!(poll(timeout(Duration::ZERO, ready(7))), Poll::Ready(Ok(7)));
    }
    check();
    let clock = ManualClock::new();
    let registry = Registry::builder().clock(clock.clock()).build().unwrap();
    let entered = registry.enter();
    check();
    clock.advance(Duration::MAX);
    check_at_the_end_of_time();
    drop(entered);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async { check() });
}

/// Nothing lasts beyond it, so that every wait is over.
fn check_at_the_end_of_time() {
    assert_eq!(poll(timeout(SECOND, ready(7))), Poll::Ready(Ok(7)));
    let bulkhead = policies("the end").bulkhead(BulkheadPolicy::new(1).queue(1));
    let bulkhead = bulkhead.expect("good numbers");
    let held = bulkhead.try_acquire().expect("nobody has it");
    let _ = poll(bulkhead.acquire());
    drop(held);
    assert_eq!((bulkhead.available(), bulkhead.waiting()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_timeout_of_nothing_gives_the_body_one_turn() {
    let timed_out = timeout(Duration::ZERO, pending::<()>()).await.unwrap_err();
    assert_eq!(timed_out.limit(), Duration::ZERO);
    assert_eq!(timeout(Duration::ZERO, ready(7)).await, Ok(7));
    let seen = timeout(Duration::ZERO, async { deadline() }).await;
    assert_eq!(seen, Ok(Some(Duration::ZERO)));
}

/// Without any time left nobody gets a place or a token that has to be waited for, and nothing
/// is made again.
#[tokio::test(start_paused = true)]
async fn without_time_left_nobody_waits_and_nothing_is_made_again() {
    let registry = Registry::builder().build().unwrap();
    with_registry(registry, async {
        let it = policies("none left");
        let bulkhead = it.bulkhead(BulkheadPolicy::new(1).queue(1)).unwrap();
        let rate = RatePolicy::new(1, SECOND).max_wait(SECOND);
        let limiter = it.rate_limiter(rate).unwrap();
        let retry = it.retry(RetryPolicy::new().delay(Duration::ZERO)).unwrap();
        let retry = retry.idempotent();
        let _held = bulkhead.try_acquire().unwrap();
        limiter.try_acquire().unwrap();
        let mut made = 0;
        let out = timeout(Duration::ZERO, async {
            let slot = bulkhead.acquire().await.unwrap_err();
            let token = limiter.acquire().await.unwrap_err();
            let body = || {
                made += 1;
                async { Err::<(), _>(Error::Inner("down")) }
            };
            let answer = retry.call(body).await.unwrap_err();
            (slot.kind(), token.kind(), answer)
        });
        let (slot, token, answer) = out.await.unwrap();
        assert_eq!(slot, RejectedKind::Deadline);
        assert_eq!(token, RejectedKind::Deadline);
        assert_eq!((answer, made), (Error::Inner("down"), 1));
    })
    .await;
}

/// What a service asks for may be any time at all.
#[test]
fn a_wait_of_any_length_that_a_verdict_asks_for_is_no_wait() {
    fn made(it: &'static Policies, verdict: Verdict) -> u32 {
        let policy = RetryPolicy::new().delay(Duration::ZERO).max_elapsed(SECOND);
        let retry = it.retry(policy).unwrap().retry_on(move |_: &()| verdict);
        let mut made = 0;
        let answer = retry.call_blocking(|| {
            made += 1;
            Err::<(), _>(Error::Inner(()))
        });
        assert_eq!(answer, Err(Error::Inner(())));
        made
    }
    let registry = Registry::builder().build().unwrap();
    let it = registry.policies("asks for much");
    for huge in HUGE {
        assert_eq!(made(it, Verdict::RetryAfter(huge)), 1);
        assert_eq!(made(it, Verdict::OpenFor(huge)), 1);
    }
    assert_eq!(made(it, Verdict::RetryAfter(Duration::ZERO)), 3);
    // A ban ends it, however short.
    assert_eq!(made(it, Verdict::OpenFor(Duration::ZERO)), 1);
}

/// Policies of any numbers are refused or work; none of them hangs, panics or spins.
#[tokio::test(start_paused = true)]
async fn numbers_of_any_size_are_refused_or_can_be_worked_with() {
    let registry = Registry::builder().build().unwrap();
    let mut names = 0..;
    let mut fresh = || registry.policies(&format!("size {}", names.next().unwrap()));
    let durations = HUGE
        .into_iter()
        .chain([Duration::ZERO, Duration::from_nanos(1), SECOND]);
    for duration in durations {
        for number in [0, 1, 2, u32::MAX] {
            let policy = BulkheadPolicy::new(number).queue(number).max_wait(duration);
            if let Ok(bulkhead) = fresh().bulkhead(policy) {
                assert!(number > 0 && !duration.is_zero());
                drop(bulkhead.acquire().await.unwrap());
                let _all = [(); 2].map(|()| bulkhead.try_acquire());
                let _ = poll(bulkhead.acquire());
                assert_eq!(bulkhead.waiting(), 0);
            }
            for burst in [0, 1, u32::MAX] {
                let policy = RatePolicy::new(number, duration)
                    .burst(burst)
                    .max_wait(duration);
                if let Ok(limiter) = fresh().rate_limiter(policy) {
                    assert!(number > 0 && burst > 0 && !duration.is_zero());
                    limiter.try_acquire().unwrap();
                    let _ = poll(limiter.acquire());
                    let _ = limiter.try_acquire();
                    assert_eq!(limiter.waiting(), 0);
                }
            }
        }
        for factor in [1.0, 2.0, f64::MAX] {
            let policy = RetryPolicy::new()
                .attempts(u32::MAX)
                .delay(duration)
                .factor(factor)
                .max_elapsed(SECOND);
            if let Ok(retry) = fresh().retry(policy) {
                let mut made = 0;
                let body = || {
                    made += 1;
                    // A delay of zero is asked for, and then time passes by the attempts alone.
                    async {
                        tokio::time::advance(SECOND / 10).await;
                        Err::<(), _>(Error::Inner(()))
                    }
                };
                let answer = retry.idempotent().call(body).await;
                assert_eq!(answer, Err(Error::Inner(())));
                assert!((1..=10).contains(&made), "{made} of {policy:?}");
            }
        }
    }
}

/// Also after the longest timeout the one inside is the one that strikes.
#[tokio::test(start_paused = true)]
async fn the_longest_timeout_hides_no_shorter_one() {
    for (outer, inner) in [(Duration::MAX, SECOND), (SECOND, Duration::MAX)] {
        let body = timeout(outer, timeout(inner, pending::<()>()));
        let (Ok(Err(struck)) | Err(struck)) = body.await else {
            panic!("nothing ends")
        };
        assert_eq!(struck.limit(), SECOND);
    }
}
