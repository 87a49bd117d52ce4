//! Policies nested by hand: retry around breaker, bulkhead inside.

use std::time::Duration;

use breakerbox::BulkheadPolicy;
use breakerbox::Error;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::RejectedKind;
use breakerbox::RetryPolicy;
use breakerbox::State;
use breakerbox::TimedOut;
use breakerbox::policies;
use breakerbox::timeout;
use breakerbox::with_registry;
use tokio::time::Instant;

const SECOND: Duration = Duration::from_secs(1);
const RETRY: RetryPolicy = RetryPolicy::new()
    .attempts(8)
    .delay(Duration::from_millis(10));

fn registry(policy: Policy) -> Registry {
    let registry = Registry::builder().declare_with("shop", policy).build();
    registry.expect("the numbers are good")
}

/// I1
#[tokio::test(start_paused = true)]
async fn once_a_body_ran_the_caller_gets_its_error_and_never_the_rejection() {
    let registry = registry(Policy::new().threshold(4));
    with_registry(registry.clone(), async {
        let breaker = registry.breaker("shop").unwrap();
        let retry = policies("shop").retry(RETRY).unwrap().idempotent();
        let mut made = 0;
        let answer = retry
            .call(|| {
                made += 1;
                let n = made;
                breaker.call(async move { Err::<(), _>(n) })
            })
            .await;
        assert_eq!(answer, Err(Error::Inner(4)));
        assert_eq!(breaker.state(), State::Open);
    })
    .await;
}

/// I4
#[tokio::test(start_paused = true)]
async fn a_call_that_may_wait_for_the_circuit_waits_once_for_what_is_left() {
    let registry = registry(Policy::new().threshold(1).cooldown(SECOND));
    with_registry(registry.clone(), async {
        let breaker = registry.breaker("shop").unwrap();
        breaker.try_acquire().unwrap().failure();
        let began = Instant::now();
        let retry = policies("shop").retry(RETRY.wait_for_circuit()).unwrap();
        let retry = retry.idempotent();
        let answer = retry.call(|| breaker.call(async { Ok::<_, ()>(7) })).await;
        assert_eq!(answer, Ok(7));
        let took = began.elapsed();
        assert!(took >= SECOND && took < SECOND + SECOND / 10, "{took:?}");
        assert_eq!(breaker.snapshot().calls.rejected, 1);
    })
    .await;
}

/// I5, B078; and what another policy turns down is not waited for either, although it says for
/// how long.
#[tokio::test(start_paused = true)]
async fn a_rejection_is_not_made_again() {
    let registry = registry(Policy::new().threshold(1).cooldown(60 * SECOND));
    with_registry(registry.clone(), async {
        let breaker = registry.breaker("shop").unwrap();
        breaker.try_acquire().unwrap().failure();
        let began = Instant::now();
        let retry = policies("shop").retry(RETRY).unwrap().idempotent();
        let answer = retry.call(|| breaker.call(async { Ok::<_, ()>(7) })).await;
        assert!(matches!(answer, Err(Error::Rejected(_))), "{answer:?}");
        assert_eq!(breaker.snapshot().calls.rejected, 1);

        let rate = breakerbox::RatePolicy::new(1, 60 * SECOND);
        let limiter = policies("shop").rate_limiter(rate).unwrap();
        limiter.try_acquire().unwrap();
        let retry = policies("shop").retry(RETRY.wait_for_circuit()).unwrap();
        let retry = retry.idempotent();
        let answer: Result<(), Error<()>> = retry
            .call(|| async { Err(limiter.try_acquire().unwrap_err().into()) })
            .await;
        let kind = answer
            .unwrap_err()
            .rejected()
            .map(breakerbox::Rejected::kind);
        assert_eq!(kind, Some(RejectedKind::RateLimited));
        assert_eq!(began.elapsed(), Duration::ZERO);
    })
    .await;
}

/// Whether a call that timed out is made again is part of the decision to repeat.
#[tokio::test(start_paused = true)]
async fn a_call_that_timed_out_is_made_again_only_where_that_does_no_harm() {
    let registry = registry(Policy::new());
    with_registry(registry, async {
        let retry = policies("shop").retry(RETRY.attempts(3)).unwrap();
        let hangs = || async {
            let out = timeout(SECOND, std::future::pending::<()>()).await;
            out.map_err(Error::<()>::TimedOut)
        };
        let mut made = 0;
        let answer = retry
            .idempotent()
            .call(|| {
                made += 1;
                hangs()
            })
            .await;
        assert!(matches!(answer, Err(Error::TimedOut(_))));
        assert_eq!(made, 3);

        let mut made = 0;
        let answer = retry
            .retry_on(|()| true)
            .call(|| {
                made += 1;
                hangs()
            })
            .await;
        let error = answer.unwrap_err();
        assert!(TimedOut::find(&timed_out(error)).is_some());
        assert_eq!(made, 1);
    })
    .await;
}

fn timed_out(error: Error<()>) -> TimedOut {
    match error {
        Error::TimedOut(timed_out) => timed_out,
        other => panic!("{other:?}"),
    }
}

/// I9, I10: what the bulkhead turns down says nothing about the service.
#[tokio::test(start_paused = true)]
async fn a_full_bulkhead_does_not_open_the_circuit_outside_of_it() {
    let registry = registry(Policy::new().threshold(3));
    with_registry(registry.clone(), async {
        let breaker = registry.breaker("shop").unwrap();
        let bulkhead = policies("shop").bulkhead(BulkheadPolicy::new(1)).unwrap();
        let _held = bulkhead.try_acquire().unwrap();
        for _ in 0..5 {
            let permit = breaker.try_acquire().unwrap();
            let rejected = bulkhead.try_acquire().unwrap_err();
            assert_eq!(rejected.kind(), RejectedKind::BulkheadFull);
            permit.record(breakerbox::Verdict::Ignore);
        }
        assert_eq!(breaker.state(), State::Closed);
        assert_eq!(bulkhead.rejected(), 5);
    })
    .await;
}

/// Whoever asks first brings the numbers.
#[tokio::test]
async fn a_service_has_one_bulkhead() {
    let registry = registry(Policy::new());
    with_registry(registry, async {
        let first = policies("shop").bulkhead(BulkheadPolicy::new(6)).unwrap();
        let second = policies("shop").bulkhead(BulkheadPolicy::new(9)).unwrap();
        assert!(std::ptr::eq(first, second));
        assert_eq!(second.policy().get_max_concurrent(), 6);
        assert!(policies("other").get_bulkhead().is_none());
        let wrong = policies("other").bulkhead(BulkheadPolicy::new(0));
        assert!(wrong.is_err() && policies("other").get_bulkhead().is_none());
    })
    .await;
}
