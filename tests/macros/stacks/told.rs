//! What the caller is told, and what the breaker: by errors of all kinds, and by drops.

use std::error::Error as _;
use std::time::Duration;

use breakerbox::Rejected;
use breakerbox::RejectedKind;
use breakerbox::State;
use breakerbox::TimedOut;
use breakerbox::bulkhead;
use breakerbox::circuit_breaker;
use breakerbox::fallback;
use breakerbox::policies;
use breakerbox::rate_limit;
use breakerbox::resilient;
use breakerbox::retry;
use breakerbox::timeout;

use super::Count;
use super::PayError;
use super::SECOND;
use super::hang;
use super::is_server;
use crate::macros::breaker;
use crate::macros::calls;

type R = Result<u32, PayError>;

/// I2
#[tokio::test(start_paused = true)]
async fn who_makes_two_more_attempts_gets_the_error_of_the_last() {
    static BODY: Count = Count::new();
    #[retry(idempotent, attempts = 3)]
    #[circuit_breaker(service = "told-thrice")]
    async fn f() -> R {
        Err(PayError::Status(500 + u16::try_from(BODY.begin()).unwrap()))
    }
    assert_eq!(f().await, Err(PayError::Status(503)));
    assert_eq!(breaker("told-thrice").state(), State::Closed);
}

/// I15: functions with stacks of their own share the circuit, the places, the rate and the
/// counts of the service that they name.
#[tokio::test(start_paused = true)]
async fn functions_of_one_service_share_all_of_it_whatever_their_stacks_are() {
    #[fallback(Ok(7))]
    #[circuit_breaker(service = "told-shared", threshold = 4)]
    #[bulkhead(max_concurrent = 1)]
    async fn with_places(hangs: bool) -> R {
        if hangs {
            hang().await
        } else {
            Err(PayError::Status(500))
        }
    }
    #[retry(idempotent, attempts = 2)]
    #[circuit_breaker(service = "told-shared", threshold = 4)]
    #[rate_limit("3/h")]
    #[bulkhead(max_concurrent = 1)]
    #[timeout("1s")]
    async fn with_rate() -> R {
        Err(PayError::Status(503))
    }
    #[rate_limit("3/h", service = "told-shared")]
    async fn rate_alone() -> R {
        Ok(1)
    }
    let held = tokio::spawn(with_places(true));
    tokio::task::yield_now().await;
    assert_eq!(with_places(false).await, Ok(7));
    let full = with_rate().await.unwrap_err();
    assert_eq!(full.kind(), Some(RejectedKind::BulkheadFull));
    held.abort();
    assert!(held.await.is_err());
    // The one that was turned down has used up its token all the same.
    assert_eq!(with_rate().await, Err(PayError::Status(503)));
    let refused = rate_alone().await.unwrap_err();
    assert_eq!(refused.kind(), Some(RejectedKind::RateLimited));
    for _ in 0..2 {
        assert_eq!(with_places(false).await, Err(PayError::Status(500)));
    }
    let seen = breaker("told-shared").snapshot();
    assert_eq!((seen.state, seen.calls.failure), (State::Open, 4));
    assert_eq!(with_places(false).await, Ok(7));
    let open = with_rate().await.unwrap_err();
    assert_eq!(open.kind(), Some(RejectedKind::Open));
    assert_eq!(policies("told-shared").fallbacks(), [2, 0]);
}

/// B083: whatever an error is converted to on its way, who looks for the rejection finds it.
#[tokio::test(start_paused = true)]
async fn a_rejection_is_found_in_any_error_that_leaves_a_stack() {
    #[derive(Debug, thiserror::Error)]
    #[error("the order failed")]
    struct Outer(#[source] Box<dyn std::error::Error + Send + Sync>);
    impl From<Rejected> for Outer {
        fn from(rejected: Rejected) -> Self {
            Self(rejected.into())
        }
    }
    impl From<TimedOut> for Outer {
        fn from(timed_out: TimedOut) -> Self {
            Self(timed_out.into())
        }
    }
    #[resilient(
        service = "told-outer",
        retry(idempotent),
        circuit_breaker(threshold = 1),
        bulkhead(max_concurrent = 1),
        timeout("1s")
    )]
    async fn f() -> Result<u32, Outer> {
        hang().await
    }
    #[retry(idempotent)]
    #[circuit_breaker(service = "told-anyhow", threshold = 1)]
    #[timeout("1s")]
    async fn g() -> anyhow::Result<u32> {
        f().await?;
        anyhow::bail!("never")
    }
    let timed_out = f().await.unwrap_err();
    let source = timed_out.source().unwrap();
    assert_eq!(TimedOut::find(source).unwrap().limit(), SECOND);
    assert!(Rejected::find(&timed_out).is_none());
    let rejected = f().await.unwrap_err();
    assert_eq!(Rejected::find(&rejected).unwrap().service(), "told-outer");
    // The rejection inside is an error of this body; the next is one of its own.
    for service in ["told-outer", "told-anyhow"] {
        let error = g().await.unwrap_err();
        let found = Rejected::find(&*error).unwrap();
        assert_eq!(
            (found.service(), found.kind()),
            (service, RejectedKind::Open)
        );
    }
}

/// B061: what is no failure is neither made again nor counted as one, on either side.
#[tokio::test(start_paused = true)]
async fn errors_of_the_service_and_of_the_caller_are_told_apart_by_both() {
    static OUTSIDE: Count = Count::new();
    static INSIDE: Count = Count::new();
    #[retry(retry_on = is_server)]
    #[circuit_breaker(service = "told-apart-each", threshold = 5, fails_on = is_server)]
    async fn outside(status: u16) -> R {
        OUTSIDE.begin();
        Err(PayError::Status(status))
    }
    #[circuit_breaker(service = "told-apart-once", threshold = 5, fails_on = is_server)]
    #[retry(retry_on = is_server)]
    async fn inside(status: u16) -> R {
        INSIDE.begin();
        Err(PayError::Status(status))
    }
    for _ in 0..4 {
        for status in [500, 404] {
            assert_eq!(outside(status).await, Err(PayError::Status(status)));
            assert_eq!(inside(status).await, Err(PayError::Status(status)));
        }
    }
    // Each answer in between resets the failures in a row.
    assert_eq!((OUTSIDE.get(), INSIDE.get()), (16, 16));
    let [each, once] = ["told-apart-each", "told-apart-once"].map(calls);
    assert_eq!((each.failure, each.success), (12, 4));
    assert_eq!((once.failure, once.success), (4, 4));
    assert_eq!(outside(500).await, Err(PayError::Status(500)));
    assert_eq!(outside(500).await, Err(PayError::Status(500)));
    assert_eq!(breaker("told-apart-each").state(), State::Open);
    assert_eq!(OUTSIDE.get(), 16 + 5);
}

/// L9: what a timeout outside of the breaker is to it, by what is written about drops.
#[tokio::test(start_paused = true)]
async fn a_timeout_outside_is_a_failure_unless_something_else_is_written() {
    const LIMIT: Duration = SECOND;
    const BEFORE: Duration = Duration::from_millis(999);
    const LATER: Duration = Duration::from_secs(2);
    macro_rules! check {
        ($service:literal, $state:ident, $($key:ident = $value:expr),*) => {{
            #[timeout(LIMIT)]
            #[circuit_breaker(service = $service, threshold = 1, $($key = $value),*)]
            async fn f() -> R {
                hang().await
            }
            assert!(matches!(f().await, Err(PayError::TimedOut(_))));
            let seen = breaker($service).snapshot();
            assert_eq!(seen.state, State::$state, $service);
            assert_eq!((seen.calls.cancelled, seen.calls.failure), (1, 0), $service);
        }};
    }
    check!("told-drop-default", Open,);
    check!("told-drop-slower", Open, slow_call = "5s");
    check!("told-drop-failure", Open, on_cancel = failure);
    check!("told-drop-before", Open, on_cancel = after(BEFORE));
    // It has to have lasted longer. Written out, these two would not compile.
    check!("told-drop-then", Closed, on_cancel = after(LIMIT));
    check!("told-drop-later", Closed, on_cancel = after(LATER));
}

/// Who is turned down for want of time is told so, and the breaker hears nothing.
#[tokio::test(start_paused = true)]
async fn a_deadline_that_strikes_in_a_queue_inside_of_a_breaker_says_nothing() {
    #[timeout("2s")]
    #[circuit_breaker(service = "told-queue", threshold = 1, on_cancel = failure)]
    #[bulkhead(max_concurrent = 1, queue = 9, max_wait = "1500ms")]
    async fn f(hangs: bool) -> R {
        if hangs { hang().await } else { Ok(1) }
    }
    #[timeout("1s")]
    async fn bounded() -> R {
        f(false).await
    }
    assert_eq!(f(false).await, Ok(1));
    let held = policies("told-queue").get_bulkhead().unwrap();
    let held = held.try_acquire().unwrap();
    let (full, late) = tokio::join!(f(false), bounded());
    assert_eq!(full.unwrap_err().kind(), Some(RejectedKind::BulkheadFull));
    assert_eq!(late.unwrap_err().kind(), Some(RejectedKind::Deadline));
    let seen = breaker("told-queue").snapshot();
    assert_eq!((seen.state, seen.calls.ignored), (State::Closed, 2));
    drop(held);
    assert!(matches!(f(true).await, Err(PayError::TimedOut(_))));
    assert_eq!(breaker("told-queue").state(), State::Open);
}

/// B088: a retry in a retry of the same service draws on the one budget, to which an outer call
/// and each call inside of it are one call each.
#[tokio::test(start_paused = true)]
async fn nested_retries_of_one_service_share_its_budget() {
    static BODY: Count = Count::new();
    #[retry(
        idempotent,
        service = "told-budget",
        budget = "50%",
        attempts = 50,
        delay = "1ms"
    )]
    async fn outer() -> R {
        inner().await
    }
    #[retry(
        idempotent,
        service = "told-budget",
        budget = "50%",
        attempts = 50,
        delay = "1ms"
    )]
    async fn inner() -> R {
        BODY.begin();
        Err(PayError::Status(500))
    }
    assert_eq!(outer().await, Err(PayError::Status(500)));
    // Of the two calls, one may be made again: which of the retries asks first makes it.
    assert_eq!((BODY.get(), policies("told-budget").retried()), (2, 1));
}
