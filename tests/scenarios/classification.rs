//! G: what counts as a failure, through the attribute.

use std::panic;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::task::Poll;

use breakerbox::Breaker;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::Rejected;
use breakerbox::State;
use breakerbox::Verdict;
use breakerbox::circuit_breaker;
use breakerbox::with_registry;

use super::drivers;
use super::drivers::poll_once;
use super::drivers::seconds;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum ShopError {
    #[error(transparent)]
    Rejected(#[from] Rejected),
    #[error("runtime")]
    Runtime,
    #[error("business")]
    Business,
    #[error("status {0}")]
    Status(u16),
}

use ShopError::Business;
use ShopError::Runtime;
use ShopError::Status;

type Answer<T = &'static str> = Result<T, ShopError>;

/// A registry in which one failure opens the circuit for a minute.
fn opens_at(threshold: u32) -> (Registry, &'static Breaker) {
    let registry = drivers::registry(Policy::new().threshold(threshold));
    let breaker = drivers::breaker(&registry);
    (registry, breaker)
}

async fn half_open(threshold: u32) -> (Registry, &'static Breaker) {
    let (registry, breaker) = opens_at(threshold);
    for _ in 0..threshold {
        breaker.try_acquire().unwrap().failure();
    }
    tokio::time::advance(seconds(60)).await;
    drop(breaker.try_acquire().unwrap());
    assert_eq!(breaker.state(), State::HalfOpen);
    (registry, breaker)
}

fn is_runtime(error: &ShopError) -> bool {
    matches!(error, Runtime)
}

#[circuit_breaker(service = "scenario", fails_on = is_runtime)]
async fn fails_on_runtime(answer: Answer) -> Answer {
    answer
}

/// A client error is nobody's fault but ours.
#[circuit_breaker(service = "scenario", ignores = |error| matches!(error, Status(400..=499)))]
async fn ignores_client_errors(answer: Answer) -> Answer {
    answer
}

#[circuit_breaker(service = "scenario", fails_on = |_| true, ignores = is_runtime)]
async fn both(answer: Answer) -> Answer {
    answer
}

#[circuit_breaker(service = "scenario", classify = |out| *out == Ok("fail"))]
async fn judged_by_text(answer: Answer) -> Answer {
    answer
}

#[circuit_breaker(service = "scenario", classify = |out: &Answer<bool>| !matches!(out, Ok(true)))]
async fn judged_by_truth(answer: Answer<bool>) -> Answer<bool> {
    answer
}

/// G1
#[tokio::test]
async fn g1_an_error_that_fails_on_denies_is_a_success() {
    let (registry, breaker) = opens_at(5);
    with_registry(registry, async {
        assert_eq!(fails_on_runtime(Err(Runtime)).await, Err(Runtime));
        assert_eq!(breaker.snapshot().consecutive_failures, 1);
        assert_eq!(fails_on_runtime(Err(Business)).await, Err(Business));
        assert_eq!(breaker.snapshot().consecutive_failures, 0);
    })
    .await;
    let calls = breaker.snapshot().calls;
    assert_eq!((calls.failure, calls.success), (1, 1));
}

/// G2, G7
#[tokio::test]
async fn g2_g7_an_ignored_error_is_returned_unchanged_and_counts_as_nothing() {
    let (registry, breaker) = opens_at(2);
    with_registry(registry, async {
        assert_eq!(
            ignores_client_errors(Err(Status(500))).await,
            Err(Status(500))
        );
        for _ in 0..9 {
            assert_eq!(
                ignores_client_errors(Err(Status(400))).await,
                Err(Status(400))
            );
        }
        assert_eq!(breaker.snapshot().consecutive_failures, 1);
        assert_eq!(breaker.state(), State::Closed);
        assert_eq!(
            ignores_client_errors(Err(Status(500))).await,
            Err(Status(500))
        );
        assert_eq!(breaker.state(), State::Open);
    })
    .await;
    let calls = breaker.snapshot().calls;
    assert_eq!((calls.ignored, calls.failure, calls.success), (9, 2, 0));
}

/// G3
#[tokio::test]
async fn g3_ignores_wins_over_fails_on() {
    let (registry, breaker) = opens_at(1);
    with_registry(registry, async {
        assert_eq!(both(Err(Runtime)).await, Err(Runtime));
        assert_eq!(breaker.state(), State::Closed);
        assert_eq!(both(Err(Business)).await, Err(Business));
        assert_eq!(breaker.state(), State::Open);
    })
    .await;
    assert_eq!(breaker.snapshot().calls.ignored, 1);
}

/// G4
#[tokio::test]
async fn g4_a_good_value_can_be_a_failure_and_is_still_returned() {
    let (registry, breaker) = opens_at(5);
    with_registry(registry, async {
        assert_eq!(judged_by_text(Ok("fail")).await, Ok("fail"));
        assert_eq!(judged_by_text(Ok("ok")).await, Ok("ok"));
    })
    .await;
    let calls = breaker.snapshot().calls;
    assert_eq!((calls.failure, calls.success), (1, 1));
}

/// G6
#[tokio::test]
async fn g6_good_values_that_are_failures_open_the_circuit() {
    let (registry, _) = opens_at(2);
    with_registry(registry, async {
        assert_eq!(judged_by_truth(Ok(false)).await, Ok(false));
        assert_eq!(judged_by_truth(Ok(false)).await, Ok(false));
        let third = judged_by_truth(Ok(true)).await;
        assert!(matches!(third, Err(ShopError::Rejected(_))), "{third:?}");
    })
    .await;
}

/// G8
#[tokio::test(start_paused = true)]
async fn g8_an_ignored_probe_leaves_the_round_as_it_was() {
    let (registry, breaker) = half_open(1).await;
    with_registry(registry, async {
        for _ in 0..3 {
            assert_eq!(
                ignores_client_errors(Err(Status(400))).await,
                Err(Status(400))
            );
            assert_eq!(breaker.state(), State::HalfOpen);
        }
        assert_eq!(ignores_client_errors(Ok("there")).await, Ok("there"));
        assert_eq!(breaker.state(), State::Closed);
    })
    .await;
    assert_eq!(breaker.snapshot().calls.ignored, 3);
}

/// G9
#[tokio::test]
async fn g9_the_fallback_does_not_run_for_an_error_that_does_not_count() {
    static FALLBACKS: AtomicUsize = AtomicUsize::new(0);

    fn instead() -> Answer {
        FALLBACKS.fetch_add(1, SeqCst);
        Ok("instead")
    }

    #[circuit_breaker(
        service = "scenario",
        fails_on = |error| !matches!(error, Business),
        ignores = |error| matches!(error, Status(400..=499)),
        fallback = instead(),
        fallback_when = failed
    )]
    async fn with_fallback(answer: Answer) -> Answer {
        answer
    }

    let (registry, breaker) = opens_at(9);
    with_registry(registry, async {
        assert_eq!(with_fallback(Err(Business)).await, Err(Business));
        assert_eq!(with_fallback(Err(Status(404))).await, Err(Status(404)));
        assert_eq!(with_fallback(Ok("good")).await, Ok("good"));
        assert_eq!(FALLBACKS.load(SeqCst), 0);
        assert_eq!(with_fallback(Err(Runtime)).await, Ok("instead"));
        assert_eq!(FALLBACKS.load(SeqCst), 1);
    })
    .await;
    // What the caller got instead is no answer of the service.
    assert_eq!(breaker.snapshot().calls.failure, 1);
}

fn never_sure(_: &ShopError) -> bool {
    panic::resume_unwind(Box::new("the predicate panics"))
}

#[circuit_breaker(service = "scenario", fails_on = never_sure)]
async fn fails_on_panics(answer: Answer) -> Answer {
    answer
}

#[circuit_breaker(service = "scenario", ignores = never_sure)]
async fn ignores_panics(answer: Answer) -> Answer {
    answer
}

#[circuit_breaker(service = "scenario", classify = |_: &Answer| -> Verdict {
    panic::resume_unwind(Box::new("the predicate panics"))
})]
async fn classify_panics(answer: Answer) -> Answer {
    answer
}

/// G12
#[tokio::test(start_paused = true)]
async fn g12_a_predicate_that_panics_is_a_failure_and_breaks_nothing() {
    fn caught<F: Future<Output = Answer>>(registry: &Registry, call: F) -> bool {
        let mut call = Box::pin(with_registry(registry.clone(), call));
        let out = panic::catch_unwind(AssertUnwindSafe(|| poll_once(call.as_mut())));
        out.is_err_and(|payload| payload.downcast_ref() == Some(&"the predicate panics"))
    }
    type Guarded = fn(&Registry) -> bool;
    let all: [Guarded; 3] = [
        |registry| caught(registry, fails_on_panics(Err(Runtime))),
        |registry| caught(registry, ignores_panics(Err(Runtime))),
        |registry| caught(registry, classify_panics(Ok("good"))),
    ];
    for panics in all {
        let (registry, breaker) = opens_at(2);
        assert!(panics(&registry));
        assert_eq!(breaker.snapshot().consecutive_failures, 1);
        assert!(panics(&registry));
        assert_eq!(breaker.state(), State::Open);
        assert_eq!(breaker.snapshot().calls.panicked, 2);

        // As a probe it reopens, and its place is free in the next round.
        tokio::time::advance(seconds(60)).await;
        assert!(panics(&registry));
        assert_eq!(breaker.state(), State::Open);
        tokio::time::advance(seconds(60)).await;
        let mut good = Box::pin(with_registry(registry, fails_on_runtime(Ok("good"))));
        assert_eq!(poll_once(good.as_mut()), Poll::Ready(Ok("good")));
        assert_eq!(breaker.state(), State::Closed);
    }
}

/// L11: what no option speaks of.
#[tokio::test]
async fn g_without_options_every_error_is_a_failure() {
    #[circuit_breaker(service = "scenario")]
    async fn plain(answer: Answer) -> Answer {
        answer
    }

    let (registry, breaker) = opens_at(3);
    with_registry(registry, async {
        for error in [Runtime, Business, Status(404)] {
            assert_eq!(plain(Err(error)).await, Err(error));
        }
    })
    .await;
    assert_eq!(breaker.state(), State::Open);
    assert_eq!(breaker.snapshot().calls.failure, 3);
}

/// A `fails_on` with `ignores` beside it is asked only about what is not ignored.
#[tokio::test]
async fn g_a_predicate_is_asked_once_and_only_about_errors() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);

    #[circuit_breaker(service = "scenario", fails_on = |_| ASKED.fetch_add(1, SeqCst) < 99)]
    async fn counted(answer: Answer) -> Answer {
        answer
    }

    let (registry, _) = opens_at(1);
    with_registry(registry, async {
        counted(Ok("good")).await.unwrap();
        assert_eq!(ASKED.load(SeqCst), 0);
        counted(Err(Runtime)).await.unwrap_err();
        assert_eq!(ASKED.load(SeqCst), 1);
        // Not about the rejection of this very call.
        let rejected = counted(Ok("good")).await;
        assert!(matches!(rejected, Err(ShopError::Rejected(_))));
        assert_eq!(ASKED.load(SeqCst), 1);
    })
    .await;
}
