//! Calls that are dropped or panic somewhere in a stack.

use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;
use std::pin::pin;
use std::task::Context;
use std::task::Waker;

use breakerbox::bulkhead;
use breakerbox::circuit_breaker;
use breakerbox::resilient;
use breakerbox::retry;
use tokio::time::timeout;

use super::Count;
use super::PayError;
use super::SECOND;
use super::hang;
use crate::macros::calls;

type R = Result<u32, PayError>;

/// The call is over when the body is, also if another attempt would follow.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_between_two_attempts_is_cancelled_and_has_not_panicked() {
    static BODY: Count = Count::new();
    #[circuit_breaker(service = "dropped-rest")]
    #[retry(idempotent, delay = "60s", jitter = false, max_delay = "60s")]
    async fn f() -> R {
        BODY.begin();
        Err(PayError::Status(500))
    }
    assert!(timeout(SECOND, f()).await.is_err());
    let seen = calls("dropped-rest");
    assert_eq!((BODY.get(), seen.cancelled, seen.panicked), (1, 1, 0));
}

/// B021: the place is given back however the call ends.
#[tokio::test(start_paused = true)]
async fn a_place_is_given_back_by_a_call_that_is_dropped_or_panics() {
    #[bulkhead(service = "dropped-place", max_concurrent = 1)]
    async fn f(what: u8) -> R {
        match what {
            0 => hang().await,
            1 => panic!("on purpose"),
            _ => Ok(1),
        }
    }
    for _ in 0..100 {
        assert!(timeout(SECOND, f(0)).await.is_err());
        let mut context = Context::from_waker(Waker::noop());
        let polled = catch_unwind(AssertUnwindSafe(|| {
            pin!(f(1)).poll(&mut context).is_ready()
        }));
        assert!(polled.is_err());
    }
    assert_eq!(f(2).await, Ok(1));
}

/// J9
#[test]
fn a_panic_under_all_policies_is_a_failure_and_goes_on() {
    #[resilient(
        service = "dropped-panic",
        retry(idempotent),
        circuit_breaker,
        bulkhead(max_concurrent = 1),
        timeout("1s")
    )]
    async fn f() -> R {
        panic!("on purpose")
    }
    #[resilient(
        service = "dropped-plain-panic",
        retry(idempotent),
        circuit_breaker,
        bulkhead(max_concurrent = 1)
    )]
    fn g() -> R {
        panic!("on purpose")
    }
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..2 {
        let polled = catch_unwind(AssertUnwindSafe(|| pin!(f()).poll(&mut context).is_ready()));
        let text = polled.unwrap_err();
        assert_eq!(text.downcast_ref::<&str>(), Some(&"on purpose"));
        assert!(catch_unwind(g).is_err());
    }
    assert_eq!(calls("dropped-panic").panicked, 2);
    assert_eq!(calls("dropped-plain-panic").panicked, 2);
}
