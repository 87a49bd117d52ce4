//! What a body knows of the timeouts around it.

use std::time::Duration;

use breakerbox::BulkheadPolicy;
use breakerbox::Error;
use breakerbox::RatePolicy;
use breakerbox::Registry;
use breakerbox::RejectedKind;
use breakerbox::RetryPolicy;
use breakerbox::deadline;
use breakerbox::policies;
use breakerbox::timeout;
use breakerbox::with_registry;
use tokio::time::Instant;
use tokio::time::sleep;

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn the_nearest_timeout_is_the_deadline_whichever_is_outside() {
    assert_eq!(deadline(), None);
    for (outer, inner) in [(3, 8), (8, 3)] {
        let seen = timeout(outer * SECOND, async {
            sleep(SECOND).await;
            let left = deadline().unwrap();
            assert!(left <= outer * SECOND - SECOND, "{left:?}");
            let seen = timeout(inner * SECOND, async { deadline().unwrap() }).await;
            assert_eq!(deadline().unwrap(), left);
            seen.unwrap()
        });
        let seen = seen.await.unwrap();
        let nearest = (outer * SECOND - SECOND).min(inner * SECOND);
        assert!(seen <= nearest && seen > nearest - SECOND / 100, "{seen:?}");
    }
    assert_eq!(deadline(), None);
}

#[tokio::test(start_paused = true)]
async fn a_neighbour_of_a_timeout_has_no_deadline() {
    let bounded = timeout(SECOND, sleep(SECOND / 2));
    let neighbour = async {
        for _ in 0..3 {
            assert_eq!(deadline(), None);
            sleep(SECOND / 10).await;
        }
    };
    let (bounded, ()) = tokio::join!(bounded, neighbour);
    assert!(bounded.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_body_that_panics_leaves_no_deadline_behind() {
    let body = tokio::spawn(timeout(SECOND, async { panic!("on purpose") }));
    assert!(body.await.unwrap_err().is_panic());
    assert_eq!(deadline(), None);
}

/// A wait that cannot end before the timeout around it is not even begun; the answer is the
/// error that the attempt had.
#[tokio::test(start_paused = true)]
async fn no_retry_sleeps_past_the_timeout_around_it() {
    let registry = Registry::builder().build().unwrap();
    with_registry(registry, async {
        let policy = RetryPolicy::new()
            .attempts(9)
            .delay(2 * SECOND)
            .jitter(false);
        let retry = policies("slow").retry(policy).unwrap().idempotent();
        let began = Instant::now();
        let mut attempts = 0;
        let call = retry.call(|| {
            attempts += 1;
            async { Err::<(), _>(Error::Inner("down")) }
        });
        let answer = timeout(3 * SECOND, call).await;
        assert_eq!(answer, Ok(Err(Error::Inner("down"))));
        assert_eq!(attempts, 2);
        assert!(began.elapsed() < 3 * SECOND);
    })
    .await;
}

/// The wait was in this process, so nothing was sent: it is a rejection and no timeout.
#[tokio::test(start_paused = true)]
async fn a_queue_is_left_at_the_deadline_and_the_call_is_rejected() {
    let registry = Registry::builder().build().unwrap();
    with_registry(registry, async {
        let policy = BulkheadPolicy::new(1).queue(5).max_wait(60 * SECOND);
        let bulkhead = policies("narrow").bulkhead(policy).unwrap();
        let _held = bulkhead.try_acquire().unwrap();
        let waited = timeout(SECOND, async { bulkhead.acquire().await.map(drop) }).await;
        let rejected = waited.expect("the queue is left in time").unwrap_err();
        assert_eq!(rejected.kind(), RejectedKind::Deadline);
        assert_eq!(bulkhead.waiting(), 0);
    })
    .await;
}

/// Who cannot get a token before the deadline does not wait for it.
#[tokio::test(start_paused = true)]
async fn a_token_that_is_due_after_the_deadline_is_not_waited_for() {
    let registry = Registry::builder().build().unwrap();
    with_registry(registry, async {
        let rate = RatePolicy::new(1, 10 * SECOND).max_wait(60 * SECOND);
        let limiter = policies("mail").rate_limiter(rate).unwrap();
        limiter.try_acquire().unwrap();
        let began = Instant::now();
        let waited = timeout(SECOND, async { limiter.acquire().await }).await;
        let rejected = waited.expect("it is refused at once").unwrap_err();
        assert_eq!(rejected.kind(), RejectedKind::Deadline);
        assert_eq!(began.elapsed(), Duration::ZERO);
    })
    .await;
}
