//! Work that goes on when its caller is gone, and calls that call themselves.

use std::sync::Arc;
use std::time::Duration;

use breakerbox::BulkheadPolicy;
use breakerbox::RejectedKind;
use breakerbox::bulkhead;
use breakerbox::policies;
use breakerbox::timeout;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::Count;
use super::PayError;
use super::SECOND;

type R = Result<u32, PayError>;

/// B025, B026: the place belongs to the call and not to what that has handed to others, on
/// whichever side the timeout stands.
#[tokio::test(start_paused = true)]
async fn a_place_is_free_when_the_call_is_over_and_its_work_goes_on() {
    static RUNNING: Count = Count::new();
    async fn hand_over(end: &Arc<Notify>) -> R {
        let end = Arc::clone(end);
        let work = tokio::spawn(async move {
            let running = RUNNING.begin();
            end.notified().await;
            running
        });
        Ok(work.await.unwrap())
    }
    #[timeout("20ms")]
    #[bulkhead(service = "outlives-inside", max_concurrent = 1)]
    async fn timeout_outside(end: &Arc<Notify>) -> R {
        hand_over(end).await
    }
    #[bulkhead(service = "outlives-outside", max_concurrent = 1)]
    #[timeout("20ms")]
    async fn timeout_inside(end: &Arc<Notify>) -> R {
        hand_over(end).await
    }
    let end = Arc::new(Notify::new());
    for _ in 0..5 {
        let outs = [timeout_outside(&end).await, timeout_inside(&end).await];
        for out in outs {
            assert!(matches!(out, Err(PayError::TimedOut(_))), "{out:?}");
        }
    }
    assert_eq!(
        RUNNING.get(),
        10,
        "all of them run, each in a place for one"
    );
    for service in ["outlives-inside", "outlives-outside"] {
        assert_eq!(policies(service).get_bulkhead().unwrap().available(), 1);
    }
    end.notify_waiters();
}

/// B025: a slot that goes with the work is taken as long as that runs.
#[tokio::test(start_paused = true)]
async fn a_slot_can_be_handed_to_the_work() {
    static RUNNING: Count = Count::new();
    let bulkhead = policies("outlives-slot").bulkhead(BulkheadPolicy::new(1));
    let bulkhead = bulkhead.unwrap();
    let call = || async {
        let slot = bulkhead.try_acquire()?;
        let work = tokio::spawn(async move {
            let _slot = slot;
            RUNNING.begin();
            tokio::time::sleep(SECOND).await;
        });
        work.await.unwrap();
        Ok::<_, PayError>(())
    };
    assert!(tokio::time::timeout(SECOND / 10, call()).await.is_err());
    for _ in 0..5 {
        let refused = call().await.unwrap_err();
        assert_eq!(refused.kind(), Some(RejectedKind::BulkheadFull));
    }
    assert_eq!(RUNNING.get(), 1);
    tokio::time::sleep(SECOND).await;
    assert_eq!(call().await, Ok(()));
}

/// B111: a function that calls itself, or another one that shares its places, waits for itself
/// and is turned down after `max_wait`; a timeout ends that earlier.
#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_itself_is_turned_down() {
    #[bulkhead(
        service = "outlives-itself",
        max_concurrent = 1,
        queue = 5,
        max_wait = "3s"
    )]
    async fn recursive(depth: u32) -> R {
        match depth {
            0 => Ok(0),
            _ => Ok(Box::pin(recursive(depth - 1)).await? + 1),
        }
    }
    #[bulkhead(
        service = "outlives-itself",
        max_concurrent = 1,
        queue = 5,
        max_wait = "3s"
    )]
    async fn other() -> R {
        recursive(0).await
    }
    #[timeout("1s")]
    async fn bounded() -> R {
        recursive(7).await
    }
    #[bulkhead(service = "outlives-default", max_concurrent = 1, queue = 1)]
    async fn by_default(again: bool) -> R {
        if again {
            Box::pin(by_default(false)).await
        } else {
            Ok(1)
        }
    }
    let took = async |call: &mut dyn FnMut() -> super::Call<R>, kind| {
        let began = Instant::now();
        let refused = call().await.unwrap_err();
        assert_eq!(refused.kind(), Some(kind));
        began.elapsed()
    };
    let full = RejectedKind::BulkheadFull;
    assert_eq!(recursive(0).await, Ok(0));
    let waited = took(&mut || Box::pin(recursive(9)), full).await;
    assert_eq!(waited, 3 * SECOND);
    assert_eq!(took(&mut || Box::pin(other()), full).await, 3 * SECOND);
    let waited = took(&mut || Box::pin(bounded()), RejectedKind::Deadline).await;
    assert_eq!(waited, SECOND);
    let waited = took(&mut || Box::pin(by_default(true)), full).await;
    assert_eq!(waited, Duration::from_secs(1));
    assert_eq!(recursive(0).await, Ok(0));
    assert_eq!(by_default(false).await, Ok(1));
}
