//! Calls under policies whose circuit has moved when they end.

use std::time::Duration;

use breakerbox::Breaker;
use breakerbox::RejectedKind;
use breakerbox::State;
use breakerbox::circuit_breaker;
use breakerbox::resilient;
use breakerbox::retry;
use breakerbox::timeout;
use tokio::sync::oneshot;
use tokio::task::yield_now;
use tokio::time::advance;

use super::Count;
use super::PayError;
use super::SECOND;
use super::hang;
use crate::macros::breaker;
use crate::macros::calls;

type R = Result<u32, PayError>;

const MINUTE: Duration = Duration::from_secs(60);

fn trip(breaker: &Breaker) {
    while breaker.state() == State::Closed {
        breaker.try_acquire().unwrap().failure();
    }
}

/// J1, B030, B035: the timeout of a call from before the trip says nothing any more, on
/// whichever side of the breaker it stands.
#[tokio::test(start_paused = true)]
async fn a_timeout_that_strikes_after_the_trip_opens_nothing_and_prolongs_nothing() {
    #[circuit_breaker(service = "late-inside", threshold = 1)]
    #[timeout("10s")]
    async fn inside() -> R {
        hang().await
    }
    #[timeout("10s")]
    #[circuit_breaker(service = "late-outside", threshold = 1)]
    async fn outside() -> R {
        hang().await
    }
    let calls_made = [tokio::spawn(inside()), tokio::spawn(outside())];
    yield_now().await;
    advance(SECOND).await;
    let breakers = ["late-inside", "late-outside"].map(breaker);
    breakers.into_iter().for_each(trip);
    for call in calls_made {
        let out = call.await.unwrap();
        assert!(matches!(out, Err(PayError::TimedOut(_))), "{out:?}");
    }
    for breaker in breakers {
        let seen = breaker.snapshot();
        assert_eq!((seen.calls.late, seen.calls.failure), (1, 1));
        assert_eq!(seen.retry_after, Some(MINUTE - 9 * SECOND));
        assert_eq!(seen.trips, 1);
    }
}

/// J1: what the late call has to say is its own error, and its next attempt is not made.
#[tokio::test(start_paused = true)]
async fn a_late_failure_is_not_made_again_while_the_circuit_is_open() {
    static BODY: Count = Count::new();
    #[retry(idempotent)]
    #[circuit_breaker(service = "late-retried", threshold = 1)]
    async fn f(gate: &mut oneshot::Receiver<u16>) -> R {
        BODY.begin();
        Err(PayError::Status((&mut *gate).await.unwrap()))
    }
    let (open, mut gate) = oneshot::channel();
    let call = tokio::spawn(async move { f(&mut gate).await });
    yield_now().await;
    trip(breaker("late-retried"));
    open.send(503).unwrap();
    assert_eq!(call.await.unwrap(), Err(PayError::Status(503)));
    let seen = calls("late-retried");
    assert_eq!((BODY.get(), seen.late, seen.rejected), (1, 1, 1));
    assert_eq!(breaker("late-retried").snapshot().trips, 1);
}

/// J2, B031, B038: neither successes nor anything else of calls from before the trip vote in a
/// round, and they give back no place of it.
#[tokio::test(start_paused = true)]
async fn calls_from_before_the_trip_have_no_vote_in_the_round() {
    #[resilient(
        service = "late-round",
        timeout("30m"),
        retry(idempotent),
        circuit_breaker(
            threshold = 1,
            probes = 2,
            ignores = |error| matches!(error, PayError::Status(404))
        ),
        bulkhead(max_concurrent = 10),
        timeout("20m")
    )]
    async fn f(gate: &mut oneshot::Receiver<R>) -> R {
        match (&mut *gate).await {
            Ok(out) => out,
            // A later attempt.
            Err(_) => Err(PayError::Status(404)),
        }
    }
    let breaker = breaker("late-round");
    let mut gates = Vec::new();
    let mut tasks = Vec::new();
    for _ in 0..4 {
        let (open, mut gate) = oneshot::channel();
        tasks.push(tokio::spawn(async move { f(&mut gate).await }));
        gates.push(open);
        yield_now().await;
    }
    trip(breaker);
    advance(MINUTE).await;
    let probes = [(); 2].map(|()| breaker.try_acquire().unwrap());
    let [kept, dropped] = probes;
    for (open, out) in gates.into_iter().zip([
        Some(Ok(1)),
        Some(Ok(2)),
        Some(Err(PayError::Status(404))),
        None,
    ]) {
        if let Some(out) = out {
            open.send(out).unwrap();
        } else {
            tasks.pop().unwrap().abort();
        }
        for _ in 0..5 {
            yield_now().await;
        }
        assert_eq!(breaker.state(), State::HalfOpen);
        let busy = breaker.try_acquire().unwrap_err();
        assert_eq!(busy.kind(), RejectedKind::ProbesBusy);
    }
    dropped.success();
    assert_eq!(breaker.state(), State::HalfOpen);
    kept.success();
    assert_eq!(breaker.state(), State::Closed);
    assert!(calls("late-round").late >= 4, "{:?}", calls("late-round"));
}

/// I14: inside the breaker all attempts are one probe; outside of it each asks for itself, and
/// the one after a failed probe is turned down.
#[tokio::test(start_paused = true)]
async fn a_retry_below_a_breaker_is_one_probe_and_above_it_one_each() {
    static BODY: Count = Count::new();
    async fn second_time_lucky() -> R {
        yield_now().await;
        match BODY.begin() % 2 {
            1 => Err(PayError::Status(500)),
            _ => Ok(1),
        }
    }
    #[circuit_breaker(service = "probe-of-two", threshold = 1)]
    #[retry(idempotent)]
    async fn inside() -> R {
        second_time_lucky().await
    }
    #[retry(idempotent)]
    #[circuit_breaker(service = "probes-of-one", threshold = 1)]
    async fn outside() -> R {
        second_time_lucky().await
    }
    for service in ["probe-of-two", "probes-of-one"] {
        trip(breaker(service));
    }
    advance(MINUTE).await;
    // The probe pauses between its attempts, and keeps its place.
    let (probe, beside) = tokio::join!(inside(), inside());
    assert_eq!(probe, Ok(1));
    let busy = beside.unwrap_err().kind();
    assert_eq!(busy, Some(RejectedKind::ProbesBusy));
    assert_eq!(breaker("probe-of-two").state(), State::Closed);
    let seen = calls("probe-of-two");
    assert_eq!((BODY.get(), seen.success, seen.failure), (2, 1, 1));

    assert_eq!(outside().await, Err(PayError::Status(500)));
    assert_eq!(BODY.get(), 3);
    assert_eq!(breaker("probes-of-one").state(), State::Open);
    let seen = calls("probes-of-one");
    assert_eq!((seen.failure, seen.rejected), (2, 1));
}

/// L8: what says nothing about the service is no verdict on the probe, also where it is made
/// again inside.
#[tokio::test(start_paused = true)]
async fn a_probe_whose_last_attempt_is_ignored_leaves_the_round_as_it_is() {
    #[circuit_breaker(
        service = "probe-ignored",
        threshold = 1,
        ignores = |error| matches!(error, PayError::Status(404))
    )]
    #[retry(idempotent)]
    async fn f(status: u16) -> R {
        Err(PayError::Status(status))
    }
    let breaker = breaker("probe-ignored");
    trip(breaker);
    advance(MINUTE).await;
    for _ in 0..3 {
        assert_eq!(f(404).await, Err(PayError::Status(404)));
        assert_eq!(breaker.state(), State::HalfOpen);
    }
    assert_eq!(f(500).await, Err(PayError::Status(500)));
    assert_eq!(breaker.state(), State::Open);
}
