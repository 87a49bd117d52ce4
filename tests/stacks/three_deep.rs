//! Timeouts in timeouts in timeouts.

use std::future::pending;
use std::time::Duration;

use breakerbox::BulkheadPolicy;
use breakerbox::Error;
use breakerbox::ManualClock;
use breakerbox::RatePolicy;
use breakerbox::Registry;
use breakerbox::RejectedKind;
use breakerbox::RetryPolicy;
use breakerbox::TimedOut;
use breakerbox::deadline;
use breakerbox::policies;
use breakerbox::timeout;
use breakerbox::with_registry;
use tokio::time::Instant;
use tokio::time::sleep;

const SECOND: Duration = Duration::from_secs(1);

/// In whole seconds, rounded up: timers are as coarse as a millisecond.
fn left() -> Option<u64> {
    deadline().map(|left| left.as_secs() + u64::from(left.subsec_millis() > 0))
}

const ORDERS: [[u32; 3]; 6] = [
    [3, 5, 8],
    [3, 8, 5],
    [5, 3, 8],
    [5, 8, 3],
    [8, 3, 5],
    [8, 5, 3],
];

#[tokio::test(start_paused = true)]
async fn the_nearest_of_three_is_the_deadline_and_the_one_that_strikes() {
    for [a, b, c] in ORDERS {
        let began = Instant::now();
        let out = timeout(a * SECOND, async {
            sleep(SECOND).await;
            assert_eq!(left(), Some(u64::from(a) - 1));
            let out = timeout(b * SECOND, async {
                sleep(SECOND).await;
                let nearest = (a - 2).min(b - 1);
                assert_eq!(left(), Some(nearest.into()));
                let out = timeout(c * SECOND, async {
                    assert_eq!(left(), Some(nearest.min(c).into()));
                    pending::<()>().await
                })
                .await;
                // Only where the innermost struck, is anything left to run.
                assert_eq!(left(), Some(u64::from(nearest - c)));
                out.unwrap_err()
            })
            .await;
            out.unwrap_or_else(|timed_out| timed_out)
        })
        .await;
        let struck: TimedOut = out.unwrap_or_else(|timed_out| timed_out);
        let ends = [(a, a), (b + 1, b), (c + 2, c)];
        // Those further in are asked first, and so they win where two strike at once.
        let (end, limit) = ends.into_iter().rev().min_by_key(|(end, _)| *end).unwrap();
        assert_eq!(struck.limit(), limit * SECOND, "{a} {b} {c}");
        let took = began.elapsed();
        assert!(
            took >= end * SECOND && took < (end + 1) * SECOND,
            "{took:?}"
        );
        assert_eq!(deadline(), None);
    }
}

/// Each registry has its own clock: a deadline is carried from one to the other as what is left.
#[tokio::test(start_paused = true)]
async fn the_nearest_is_the_deadline_across_registries_with_different_clocks() {
    let clock = ManualClock::new();
    clock.advance(1_000 * SECOND);
    let other = Registry::builder().clock(clock.clock()).build().unwrap();
    for [a, b, c] in ORDERS {
        let innermost = timeout(a * SECOND, async {
            let (other, inner) = (other.clone(), other.clone());
            with_registry(other, async move {
                let own = Registry::builder().build().unwrap();
                timeout(
                    b * SECOND,
                    with_registry(own, async move {
                        timeout(c * SECOND, async move {
                            let by_tokio = left();
                            with_registry(inner, async move { [by_tokio, left()] }).await
                        })
                        .await
                    }),
                )
                .await
            })
            .await
        });
        let seen = innermost.await.unwrap().unwrap().unwrap();
        assert_eq!(seen, [Some(a.min(b).min(c).into()); 2], "{a} {b} {c}");
    }
}

/// The outermost bounds what the innermost waits for: it is not even begun.
#[tokio::test(start_paused = true)]
async fn who_waits_three_deep_knows_the_outermost_deadline() {
    let registry = Registry::builder().build().unwrap();
    with_registry(registry, async {
        let it = policies("deep");
        let policy = BulkheadPolicy::new(1).queue(1).max_wait(60 * SECOND);
        let bulkhead = it.bulkhead(policy).unwrap();
        let rate = RatePolicy::new(1, 30 * SECOND).max_wait(60 * SECOND);
        let limiter = it.rate_limiter(rate).unwrap();
        limiter.try_acquire().unwrap();
        let _held = bulkhead.try_acquire().unwrap();
        let retry = it.retry(RetryPolicy::new().delay(9 * SECOND).jitter(false));
        let retry = retry.unwrap().idempotent();
        let began = Instant::now();
        let out = timeout(5 * SECOND, async {
            let mut made = 0;
            let inner = timeout(20 * SECOND, async {
                timeout(40 * SECOND, async {
                    let token = limiter.acquire().await.unwrap_err();
                    assert_eq!(began.elapsed(), Duration::ZERO);
                    let body = || {
                        made += 1;
                        async { Err::<(), _>(Error::Inner(())) }
                    };
                    retry.call(body).await.unwrap_err();
                    assert_eq!(began.elapsed(), Duration::ZERO);
                    let slot = bulkhead.acquire().await.unwrap_err();
                    [token.kind(), slot.kind()]
                })
                .await
            });
            (inner.await, made)
        });
        let (kinds, made) = out.await.expect("the queue is left in time");
        assert_eq!(kinds.unwrap().unwrap(), [RejectedKind::Deadline; 2]);
        assert_eq!(made, 1);
        assert_eq!(began.elapsed().as_secs(), 5);
    })
    .await;
}

/// B025: what is handed to another task is bounded by nothing that is around the caller, and
/// goes on when that is given up.
#[tokio::test(start_paused = true)]
async fn a_task_that_is_spawned_inherits_no_deadline() {
    let mut task = None;
    let out = timeout(SECOND, async {
        task = Some(tokio::spawn(async {
            let seen = deadline();
            sleep(2 * SECOND).await;
            seen
        }));
        pending::<()>().await;
    });
    assert!(out.await.is_err());
    assert_eq!(task.unwrap().await.unwrap(), None);
}
