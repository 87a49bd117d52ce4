//! Places and tokens around a body, and what the breaker makes of their refusals.

use breakerbox::RejectedKind;
use breakerbox::State;
use breakerbox::bulkhead;
use breakerbox::circuit_breaker;
use breakerbox::rate_limit;

use super::Count;
use super::PayError;
use super::SECOND;
use super::hang;
use crate::macros::breaker;
use crate::macros::calls;

type R = Result<u32, PayError>;

async fn short() -> R {
    tokio::time::sleep(SECOND / 100).await;
    Ok(1)
}

#[tokio::test(start_paused = true)]
async fn so_many_run_at_a_time_and_so_many_wait() {
    #[bulkhead(
        service = "bulkhead-plain",
        max_concurrent = 1,
        queue = 1,
        max_wait = "50ms"
    )]
    async fn f() -> R {
        short().await
    }
    let (a, b, c) = tokio::join!(f(), f(), f());
    assert_eq!((a, b), (Ok(1), Ok(1)));
    assert_eq!(c.unwrap_err().kind(), Some(RejectedKind::BulkheadFull));
    // Functions of one service share its places.
    #[bulkhead(
        service = "bulkhead-plain",
        max_concurrent = 1,
        queue = 1,
        max_wait = "50ms"
    )]
    async fn g() -> R {
        hang().await
    }
    let waiting = tokio::spawn(g());
    tokio::task::yield_now().await;
    assert_eq!(
        f().await.unwrap_err().kind(),
        Some(RejectedKind::BulkheadFull)
    );
    waiting.abort();
    assert!(waiting.await.is_err());
    assert_eq!(f().await, Ok(1));
}

/// I9 I10
#[tokio::test(start_paused = true)]
async fn a_full_bulkhead_is_neutral_to_the_breaker_unless_it_counts() {
    #[circuit_breaker(service = "bulkhead-neutral", threshold = 2)]
    #[bulkhead(max_concurrent = 1)]
    async fn neutral() -> R {
        short().await
    }
    #[circuit_breaker(service = "bulkhead-counts", threshold = 2)]
    #[bulkhead(max_concurrent = 1, counts)]
    async fn counts() -> R {
        short().await
    }
    let (a, b, c) = tokio::join!(neutral(), neutral(), neutral());
    assert_eq!(a, Ok(1));
    for refused in [b, c] {
        assert_eq!(
            refused.unwrap_err().kind(),
            Some(RejectedKind::BulkheadFull)
        );
    }
    assert_eq!(breaker("bulkhead-neutral").state(), State::Closed);
    assert_eq!(calls("bulkhead-neutral").ignored, 2);
    let (a, b, c) = tokio::join!(counts(), counts(), counts());
    assert_eq!(a, Ok(1));
    for refused in [b, c] {
        assert_eq!(
            refused.unwrap_err().kind(),
            Some(RejectedKind::BulkheadFull)
        );
    }
    assert_eq!(breaker("bulkhead-counts").state(), State::Open);
}

/// B116: the breaker outside keeps the tokens.
#[tokio::test(start_paused = true)]
async fn a_rate_limit_inside_of_an_open_circuit_loses_no_tokens() {
    static BODY: Count = Count::new();
    #[circuit_breaker(service = "rate-inside", threshold = 1, cooldown = "1s")]
    #[rate_limit("2/h")]
    async fn f() -> R {
        match BODY.begin() {
            1 => Err(PayError::Status(500)),
            n => Ok(n),
        }
    }
    assert_eq!(f().await, Err(PayError::Status(500)));
    for _ in 0..10 {
        assert_eq!(f().await.unwrap_err().kind(), Some(RejectedKind::Open));
    }
    tokio::time::advance(SECOND).await;
    assert_eq!(f().await, Ok(2));
    let refused = f().await.unwrap_err();
    assert_eq!(refused.kind(), Some(RejectedKind::RateLimited));
    assert_eq!(breaker("rate-inside").state(), State::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_rate_may_be_a_constant() {
    const RATE: breakerbox::RatePolicy = breakerbox::RatePolicy::new(2, SECOND);
    #[rate_limit(RATE, service = "rate-constant", burst = 1)]
    async fn f() -> R {
        Ok(1)
    }
    assert_eq!(f().await, Ok(1));
    assert_eq!(
        f().await.unwrap_err().kind(),
        Some(RejectedKind::RateLimited)
    );
    tokio::time::advance(SECOND / 2).await;
    assert_eq!(f().await, Ok(1));
}
