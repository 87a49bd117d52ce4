//! What a timeout makes of a call, by its place.

use std::time::Duration;

use breakerbox::RejectedKind;
use breakerbox::bulkhead;
use breakerbox::circuit_breaker;
use breakerbox::deadline;
use breakerbox::rate_limit;
use breakerbox::timeout;
use tokio::time::Instant;

use super::Count;
use super::PayError;
use super::SECOND;
use super::hang;

type R = Result<u32, PayError>;

#[tokio::test(start_paused = true)]
async fn a_body_in_time_is_let_be_and_one_that_hangs_is_given_up() {
    #[timeout("1500ms", service = "timeout-plain")]
    async fn f(hangs: bool) -> R {
        if hangs { hang().await } else { Ok(1) }
    }
    assert_eq!(f(false).await, Ok(1));
    let now = Instant::now();
    let Err(PayError::TimedOut(timed_out)) = f(true).await else {
        panic!("nothing ends")
    };
    assert_eq!(now.elapsed(), Duration::from_millis(1500));
    assert_eq!(timed_out.limit(), Duration::from_millis(1500));
    assert_eq!(timed_out.service(), Some("timeout-plain"));
}

#[tokio::test(start_paused = true)]
async fn a_limit_may_be_worked_out_for_each_call() {
    const LIMIT: Duration = SECOND;
    struct Client {
        limit: Duration,
    }
    impl Client {
        #[timeout(self.limit)]
        async fn f(&self) -> R {
            hang().await
        }
    }
    #[timeout(LIMIT)]
    async fn g() -> R {
        hang().await
    }
    let now = Instant::now();
    let limit = 3 * SECOND;
    assert!(Client { limit }.f().await.is_err());
    assert!(g().await.is_err());
    assert_eq!(now.elapsed(), 4 * SECOND);
}

/// Money: nothing has left the process, so it is a rejection.
#[tokio::test(start_paused = true)]
async fn a_timeout_that_strikes_in_a_queue_is_a_rejection() {
    static BODY: Count = Count::new();
    #[timeout("2s")]
    #[bulkhead(service = "timeout-queue", max_concurrent = 1, max_wait = MAX_WAIT)]
    async fn queued() -> R {
        BODY.begin();
        hang().await
    }
    #[timeout("2s")]
    #[rate_limit("1/10s", service = "timeout-line", max_wait = MAX_WAIT)]
    async fn in_line() -> R {
        BODY.begin();
        Ok(1)
    }
    const MAX_WAIT: Duration = Duration::from_secs(30);
    let (a, b) = tokio::join!(queued(), queued());
    assert!(matches!(a, Err(PayError::TimedOut(_))), "{a:?}");
    assert_eq!(b.unwrap_err().kind(), Some(RejectedKind::Deadline));
    assert_eq!(in_line().await, Ok(1));
    assert_eq!(
        in_line().await.unwrap_err().kind(),
        Some(RejectedKind::Deadline)
    );
    assert_eq!(BODY.get(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_is_left_can_be_seen_by_calls_inside() {
    #[timeout("5s")]
    async fn outer() -> R {
        tokio::time::sleep(2 * SECOND).await;
        assert_eq!(deadline(), Some(3 * SECOND));
        inner().await
    }
    #[timeout("10s")]
    async fn inner() -> R {
        assert_eq!(deadline(), Some(3 * SECOND));
        Ok(1)
    }
    assert_eq!(deadline(), None);
    assert_eq!(outer().await, Ok(1));
    assert_eq!(deadline(), None);
}

/// B123
#[tokio::test(start_paused = true)]
async fn a_probe_that_hangs_ends_at_its_timeout_and_reopens() {
    static BODY: Count = Count::new();
    #[circuit_breaker(service = "timeout-probe", threshold = 1, cooldown = "10s")]
    #[timeout("1s")]
    async fn f() -> R {
        match BODY.begin() {
            1 => Err(PayError::Status(500)),
            _ => hang().await,
        }
    }
    assert!(f().await.is_err());
    tokio::time::advance(10 * SECOND).await;
    assert!(matches!(f().await, Err(PayError::TimedOut(_))));
    assert_eq!(f().await.unwrap_err().kind(), Some(RejectedKind::Open));
}
