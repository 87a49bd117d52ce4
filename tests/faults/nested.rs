//! Guarded functions of one service that call each other.

use std::panic;
use std::panic::AssertUnwindSafe;

use breakerbox::Registry;
use breakerbox::State;
use breakerbox::circuit_breaker;
use breakerbox::with_registry;

use super::ONE;
use super::half_open;
use super::recovers_at_once;
use crate::scenarios::drivers;
use crate::scenarios::drivers::CallError;
use crate::scenarios::drivers::seconds;
use crate::scenarios::notation::Ending;

type Answer = Result<(), CallError>;

#[circuit_breaker(service = "scenario")]
async fn nested(depth: u32) -> Answer {
    match depth {
        0 => Ok(()),
        _ => Box::pin(nested(depth - 1)).await,
    }
}

/// Calls another guarded function of the same service, which fails, and makes light of it.
#[circuit_breaker(service = "scenario")]
async fn failing_inside() -> Answer {
    let _ = failing().await;
    Ok(())
}

#[circuit_breaker(service = "scenario")]
async fn failing() -> Answer {
    Err(CallError::Ended(Ending::Failure))
}

/// Makes its inner call only after it has waited.
#[circuit_breaker(service = "scenario")]
async fn nested_after_a_wait() -> Answer {
    tokio::task::yield_now().await;
    nested(0).await
}

/// Calls the same service in a task of its own, which is not inside of this call.
#[circuit_breaker(service = "scenario")]
async fn spawning(registry: Registry) -> Answer {
    tokio::spawn(with_registry(registry, nested(0)))
        .await
        .unwrap()
}

/// Another service between the two calls of the first.
#[circuit_breaker(service = "between")]
async fn between() -> Answer {
    nested(0).await
}

#[circuit_breaker(service = "scenario")]
async fn around() -> Answer {
    between().await
}

/// Guarded functions of one service that call each other. In a half-open circuit the
/// outermost is the probe, and the others ride along: turned away, they would make a
/// healthy service fail its own probe for ever.
#[tokio::test(start_paused = true)]
async fn a_call_that_a_probe_makes_itself_rides_along() {
    let registry = drivers::registry(ONE);
    with_registry(registry.clone(), nested(3)).await.unwrap();
    assert_eq!(drivers::breaker(&registry).snapshot().calls.success, 4);

    let (registry, breaker) = half_open(ONE).await;
    with_registry(registry, nested(3)).await.unwrap();
    assert_eq!(breaker.state(), State::Closed);
    assert_eq!(breaker.snapshot().in_flight, 0);

    let (registry, breaker) = half_open(ONE).await;
    with_registry(registry, nested_after_a_wait())
        .await
        .unwrap();
    assert_eq!(breaker.state(), State::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_rides_along_takes_no_place_and_votes_only_against() {
    let (registry, breaker) = half_open(ONE.probes(2)).await;
    with_registry(registry.clone(), nested(3)).await.unwrap();
    assert_eq!(breaker.state(), State::HalfOpen, "one probe of two");
    with_registry(registry.clone(), nested(0)).await.unwrap();
    assert_eq!(breaker.state(), State::Closed);

    let (registry, breaker) = half_open(ONE).await;
    with_registry(registry, failing_inside()).await.unwrap();
    assert_eq!(breaker.state(), State::Open, "the service has failed");
    assert_eq!(breaker.snapshot().calls.late, 1, "the probe came too late");
    recovers_at_once(breaker, 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_call_rides_along_through_the_probe_of_another_service() {
    let (registry, breaker) = half_open(ONE).await;
    let ran = with_registry(registry.clone(), async {
        let between = registry.breaker("between").unwrap();
        for _ in 0..5 {
            between.try_acquire().unwrap().failure();
        }
        tokio::time::advance(seconds(60)).await;
        around().await
    });
    ran.await.unwrap();
    assert_eq!(breaker.state(), State::Closed);
}

/// A neighbour of the probe, and a task that it spawns, are not inside of it.
#[tokio::test(start_paused = true)]
async fn only_calls_made_inside_the_probe_ride_along() {
    let (registry, breaker) = half_open(ONE).await;
    let probe = breaker.try_acquire().unwrap();
    assert!(breaker.try_acquire().is_err(), "a permit has no inside");
    drop(probe);

    let (registry_2, breaker) = half_open(ONE).await;
    let error = with_registry(registry_2.clone(), spawning(registry_2.clone()))
        .await
        .unwrap_err();
    assert!(matches!(error, CallError::Rejected(_)));
    assert_eq!(breaker.state(), State::Open);
    recovers_at_once(breaker, 1).await;
    drop(registry);
}

/// After a panic in its body the thread is no longer inside of the probe.
#[tokio::test(start_paused = true)]
async fn a_probe_that_panicked_leaves_nobody_inside() {
    let (_registry, breaker) = half_open(ONE).await;
    let panicked = panic::catch_unwind(AssertUnwindSafe(|| {
        breaker.call_blocking(|| -> Answer { panic!("the body") })
    }));
    assert!(panicked.is_err());
    assert_eq!(breaker.state(), State::Open);
    tokio::time::advance(seconds(60)).await;
    let probe = breaker.try_acquire().unwrap();
    assert!(breaker.try_acquire().is_err());
    probe.success();
    assert_eq!(breaker.state(), State::Closed);
}
