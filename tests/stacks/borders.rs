//! Two things that happen at one instant, in both orders.

use std::time::Duration;

use breakerbox::BulkheadPolicy;
use breakerbox::RatePolicy;
use breakerbox::Registry;
use breakerbox::RejectedKind;
use breakerbox::timeout;
use breakerbox::with_registry;
use tokio::task::yield_now;
use tokio::time::sleep;

const WAIT: Duration = Duration::from_millis(10);

/// B028: the slot comes in the very instant in which the wait for it ends, ten thousand times.
#[tokio::test(start_paused = true)]
async fn a_slot_that_comes_when_the_wait_ends_is_taken_or_left_and_never_lost() {
    let registry = Registry::builder().build().unwrap();
    let policy = BulkheadPolicy::new(1).queue(1).max_wait(WAIT);
    let bulkhead = registry.policies("border").bulkhead(policy).unwrap();
    let (mut taken, mut left) = (0, 0);
    for round in 0..10_000 {
        let held = bulkhead.try_acquire().unwrap();
        let release = async {
            sleep(WAIT).await;
            drop(held);
        };
        // The first is polled first, each time.
        let acquired = match round % 4 {
            0 => tokio::join!(biased; release, bulkhead.acquire()).1,
            1 => tokio::join!(biased; bulkhead.acquire(), release).0,
            2 => {
                // The timeout around strikes then, too: nothing may begin any more.
                let bounded = timeout(WAIT, async { bulkhead.acquire().await });
                let (acquired, ()) = tokio::join!(biased; bounded, release);
                acquired.expect("the queue is left in time")
            }
            _ => {
                let bounded = timeout(WAIT, async { bulkhead.acquire().await });
                let ((), acquired) = tokio::join!(biased; release, bounded);
                acquired.expect("the queue is left in time")
            }
        };
        match acquired {
            Ok(slot) => {
                assert!(round % 4 < 2, "a slot in the instant of the timeout");
                taken += 1;
                drop(slot);
            }
            Err(rejected) => {
                left += 1;
                let kind = match round % 4 {
                    0 | 1 => RejectedKind::BulkheadFull,
                    _ => RejectedKind::Deadline,
                };
                assert_eq!(rejected.kind(), kind);
            }
        }
        assert_eq!((bulkhead.available(), bulkhead.waiting()), (1, 0));
    }
    // It is taken where it comes before its waiter is asked, and nothing strikes.
    assert_eq!((taken, left), (2_500, 7_500));
    assert_eq!(bulkhead.rejected(), left);
}

/// B028: the same by tasks, which are woken in either order.
#[tokio::test(start_paused = true)]
async fn tasks_that_are_aborted_when_their_slot_comes_leave_it_to_the_next() {
    let registry = Registry::builder().build().unwrap();
    let policy = BulkheadPolicy::new(1).queue(2).max_wait(WAIT);
    for round in 0..1_000 {
        let bulkhead = registry.policies("border-tasks").bulkhead(policy).unwrap();
        let held = bulkhead.try_acquire().unwrap();
        let first = tokio::spawn(async { bulkhead.acquire().await.is_ok() });
        yield_now().await;
        let second = tokio::spawn(async { bulkhead.acquire().await.is_ok() });
        yield_now().await;
        if round % 2 == 0 {
            first.abort();
            drop(held);
        } else {
            drop(held);
            first.abort();
        }
        assert!(first.await.is_err());
        assert!(second.await.unwrap(), "round {round}");
        assert_eq!((bulkhead.available(), bulkhead.waiting()), (1, 0));
    }
}

/// The body is asked first: what is ready in the instant of the timeout is an answer.
#[tokio::test(start_paused = true)]
async fn an_answer_in_the_instant_of_the_timeout_is_an_answer() {
    for _ in 0..100 {
        assert_eq!(timeout(WAIT, sleep(WAIT)).await, Ok(()));
    }
}

/// A token for each, at the instant in which the wait for it ends.
#[tokio::test(start_paused = true)]
async fn who_gives_up_its_turn_when_its_token_is_due_leaves_it_to_the_next() {
    let registry = Registry::builder().build().unwrap();
    with_registry(registry.clone(), async {
        let policy = RatePolicy::new(1, WAIT).max_wait(2 * WAIT);
        let limiter = registry
            .policies("border-rate")
            .rate_limiter(policy)
            .unwrap();
        for round in 0..1_000 {
            sleep(10 * WAIT).await;
            limiter.try_acquire().unwrap();
            let first = tokio::time::timeout(WAIT, limiter.acquire());
            let (first, second) = tokio::join!(biased; first, limiter.acquire());
            // The one was given up or has its token; either way there is one for the other.
            assert!(first.is_err() || first == Ok(Ok(())), "round {round}");
            assert_eq!(second, Ok(()), "round {round}");
            assert_eq!(limiter.waiting(), 0);
        }
    })
    .await;
}
