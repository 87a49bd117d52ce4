//! Calls that are given up by whoever awaits them, at every step of every policy.

use std::time::Duration;

use breakerbox::Registry;
use breakerbox::State;
use breakerbox::bulkhead;
use breakerbox::circuit_breaker;
use breakerbox::fallback;
use breakerbox::policies;
use breakerbox::rate_limit;
use breakerbox::resilient;
use breakerbox::retry;
use breakerbox::timeout;
use breakerbox::with_registry;
use tokio::task::yield_now;
use tokio::time::sleep;

use super::Call;
use super::PayError;
use super::SECOND;
use super::hang;

type R = Result<u32, PayError>;

const SERVICE: &str = "cancelled-everywhere";

/// What a body does, step by step.
#[derive(Clone, Copy)]
enum Step {
    Answers,
    Fails,
    Hangs,
}

async fn step(step: Step) -> R {
    for _ in 0..3 {
        yield_now().await;
    }
    match step {
        Step::Answers => Ok(1),
        Step::Fails => Err(PayError::Status(500)),
        Step::Hangs => hang().await,
    }
}

type Made = fn(Step) -> Call<R>;

macro_rules! calls {
    ($($name:ident: $(#[$layer:meta])+;)+) => {
        $(
            $(#[$layer])+
            async fn $name(what: Step) -> R {
                step(what).await
            }
        )+

        const CALLS: [(&str, Made); [$(stringify!($name)),+].len()] =
            [$((stringify!($name), |what| Box::pin($name(what)))),+];
    };
}

calls! {
    retry_outside:
        #[retry(idempotent, delay = "10ms")]
        #[circuit_breaker(service = "cancelled-everywhere", threshold = 1_000)];
    retry_inside:
        #[circuit_breaker(service = "cancelled-everywhere", threshold = 1_000)]
        #[retry(idempotent, delay = "10ms")];
    timeout_outside:
        #[timeout("20ms")]
        #[circuit_breaker(service = "cancelled-everywhere", threshold = 1_000)];
    timeout_inside:
        #[circuit_breaker(service = "cancelled-everywhere", threshold = 1_000)]
        #[timeout("20ms")];
    bulkhead_outside:
        #[bulkhead(max_concurrent = 1, queue = 2, max_wait = "30ms")]
        #[circuit_breaker(service = "cancelled-everywhere", threshold = 1_000)];
    bulkhead_inside:
        #[circuit_breaker(service = "cancelled-everywhere", threshold = 1_000)]
        #[bulkhead(max_concurrent = 1, queue = 2, max_wait = "30ms")];
    rate_outside:
        #[rate_limit("100/s", burst = 1, max_wait = "30ms")]
        #[circuit_breaker(service = "cancelled-everywhere", threshold = 1_000)];
    rate_inside:
        #[circuit_breaker(service = "cancelled-everywhere", threshold = 1_000)]
        #[rate_limit("100/s", burst = 1, max_wait = "30ms")];
    fallback_outside:
        #[fallback(step(Step::Hangs).await, when = any)]
        #[circuit_breaker(service = "cancelled-everywhere", threshold = 1_000)];
    all:
        #[resilient(
            fallback(step(Step::Answers).await, when = any),
            timeout("90ms"),
            retry(idempotent, delay = "10ms"),
            circuit_breaker(service = "cancelled-everywhere", threshold = 1_000),
            rate_limit("100/s", burst = 1, max_wait = "30ms"),
            bulkhead(max_concurrent = 1, queue = 2, max_wait = "30ms"),
            timeout("20ms")
        )];
}

/// J10, J13, B021: some at once, each given up after another while, so that they are caught
/// while they wait for a place, a token, the next attempt or the service.
#[tokio::test(start_paused = true)]
async fn wherever_calls_are_given_up_nothing_of_them_stays_behind() {
    for (name, call) in CALLS {
        let registry = Registry::builder().build().unwrap();
        let breaker = registry.breaker(SERVICE).unwrap();
        for round in 0..120_u64 {
            let what = [Step::Answers, Step::Fails, Step::Hangs][(round % 3) as usize];
            let mut tasks = Vec::new();
            for _ in 0..4 {
                let call = with_registry(registry.clone(), call(what));
                let task = tokio::spawn(call);
                for _ in 0..round % 7 {
                    yield_now().await;
                }
                tasks.push(task);
            }
            sleep(Duration::from_millis(round * 5 % 64)).await;
            for task in &tasks {
                task.abort();
                yield_now().await;
            }
            for task in tasks {
                if let Err(error) = task.await {
                    assert!(error.is_cancelled(), "{name}: {error}");
                }
            }
            assert_eq!(breaker.snapshot().in_flight, 0, "{name}, round {round}");
            let policies = registry.policies(SERVICE);
            if let Some(bulkhead) = policies.get_bulkhead() {
                let seen = (bulkhead.available(), bulkhead.waiting());
                assert_eq!(seen, (1, 0), "{name}, round {round}");
            }
            if let Some(limiter) = policies.get_rate_limiter() {
                assert_eq!(limiter.waiting(), 0, "{name}, round {round}");
            }
        }
        // Places, tokens and the circuit are there for those who come now.
        sleep(SECOND).await;
        assert_eq!(breaker.state(), State::Closed, "{name}");
        assert_eq!(breaker.snapshot().calls.panicked, 0, "{name}");
        let out = with_registry(registry, call(Step::Answers)).await;
        assert_eq!(out, Ok(1), "{name}");
    }
}

/// J11, B018: a probe that is given up, by whomever and wherever it waits, frees its place.
#[tokio::test(start_paused = true)]
async fn a_probe_that_is_given_up_inside_any_policy_lets_the_next_one_in() {
    const COOLDOWN: Duration = Duration::from_secs(60);
    for (name, call) in CALLS {
        let registry = Registry::builder().build().unwrap();
        let breaker = registry.breaker(SERVICE).unwrap();
        let guarded = |what| with_registry(registry.clone(), call(what));
        breaker
            .try_acquire()
            .unwrap()
            .record(breakerbox::Verdict::OpenFor(COOLDOWN));
        for millis in 1..40 {
            tokio::time::advance(COOLDOWN).await;
            let limit = Duration::from_millis(millis);
            let out = tokio::time::timeout(limit, guarded(Step::Hangs)).await;
            // Only a timeout of the function itself makes a failure of it.
            let is_open = breaker.state() == State::Open;
            assert!(!is_open || millis >= 20, "{name}, {millis}: {out:?}");
            assert_ne!(breaker.state(), State::Closed, "{name}, {millis}: {out:?}");
            assert_eq!(breaker.snapshot().in_flight, 0, "{name}, {millis}");
        }
        tokio::time::advance(COOLDOWN).await;
        assert_eq!(guarded(Step::Answers).await, Ok(1), "{name}");
        assert_eq!(breaker.state(), State::Closed, "{name}");
    }
}

/// A probe that waits in a queue has not asked the service anything.
#[tokio::test(start_paused = true)]
async fn a_probe_that_never_gets_a_place_says_nothing() {
    #[timeout("1s")]
    #[circuit_breaker(service = "cancelled-probe", threshold = 1, cooldown = "60s")]
    #[bulkhead(max_concurrent = 1, queue = 1, max_wait = "900ms")]
    async fn queued() -> R {
        Ok(1)
    }
    let breaker = breakerbox::breaker("cancelled-probe").unwrap();
    assert_eq!(queued().await, Ok(1));
    let bulkhead = policies("cancelled-probe").get_bulkhead().unwrap();
    breaker.try_acquire().unwrap().failure();
    tokio::time::advance(60 * SECOND).await;
    let held = bulkhead.try_acquire().unwrap();
    for _ in 0..5 {
        // Given up by the one who awaits it, then by the policy.
        assert!(tokio::time::timeout(SECOND / 2, queued()).await.is_err());
        assert!(queued().await.unwrap_err().kind().is_some());
        assert_eq!(breaker.state(), State::HalfOpen);
    }
    let seen = breaker.snapshot().calls;
    assert_eq!((seen.cancelled, seen.ignored, seen.failure), (5, 5, 1));
    drop(held);
    assert_eq!(queued().await, Ok(1));
    assert_eq!(breaker.state(), State::Closed);
}

/// J12, for a timeout around the breaker and for one who awaits the call no longer.
#[tokio::test(start_paused = true)]
async fn a_probe_that_is_given_up_opens_the_circuit_where_that_is_a_failure() {
    #[timeout("1s")]
    #[circuit_breaker(
        service = "cancelled-fails",
        threshold = 1,
        cooldown = "60s",
        on_cancel = failure
    )]
    #[retry(idempotent, delay = "10ms", attempts = 2)]
    async fn f() -> R {
        hang().await
    }
    let breaker = breakerbox::breaker("cancelled-fails").unwrap();
    for by_timeout in [true, false] {
        breaker.reset();
        breaker.try_acquire().unwrap().failure();
        tokio::time::advance(60 * SECOND).await;
        if by_timeout {
            assert!(matches!(f().await, Err(PayError::TimedOut(_))));
        } else {
            assert!(tokio::time::timeout(SECOND / 2, f()).await.is_err());
        }
        assert_eq!(breaker.state(), State::Open, "{by_timeout}");
    }
}

/// J14: all that waits in a runtime goes with it, also where it is dropped on no thread of it.
#[test]
fn a_runtime_that_is_shut_down_takes_those_who_wait_with_it() {
    for (name, call) in CALLS {
        let registry = Registry::builder().build().unwrap();
        for workers in [0, 2] {
            let mut builder = match workers {
                0 => tokio::runtime::Builder::new_current_thread(),
                _ => tokio::runtime::Builder::new_multi_thread(),
            };
            let runtime = builder.enable_all().build().unwrap();
            runtime.block_on(async {
                for what in [Step::Hangs, Step::Fails, Step::Answers] {
                    for _ in 0..4 {
                        tokio::spawn(with_registry(registry.clone(), call(what)));
                    }
                }
                for _ in 0..20 {
                    yield_now().await;
                }
            });
            drop(runtime);
            let breaker = registry.breaker(SERVICE).unwrap();
            assert_eq!(breaker.snapshot().in_flight, 0, "{name}");
            let policies = registry.policies(SERVICE);
            if let Some(bulkhead) = policies.get_bulkhead() {
                let seen = (bulkhead.available(), bulkhead.waiting());
                assert_eq!(seen, (1, 0), "{name}");
            }
            if let Some(limiter) = policies.get_rate_limiter() {
                assert_eq!(limiter.waiting(), 0, "{name}");
            }
        }
    }
}
