//! Panics: in a body, in a predicate, in a destructor, in a neighbour.

use std::future::poll_fn;
use std::panic;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::pin::pin;
use std::task::Poll;

use breakerbox::Policy;
use breakerbox::State;
use breakerbox::circuit_breaker;
use breakerbox::with_registry;
use tokio::task::yield_now;

use super::AWAITS;
use super::Answer;
use super::answer;
use super::hang;
use super::ways;
use super::with_outer;
use crate::faults::ONE;
use crate::faults::half_open;
use crate::faults::recovers_at_once;
use crate::scenarios::drivers;
use crate::scenarios::drivers::CallError;
use crate::scenarios::drivers::poll_once;
use crate::scenarios::drivers::seconds;
use crate::scenarios::notation::Ending;

/// B020
#[tokio::test(start_paused = true)]
async fn a_panic_at_any_await_is_a_failure_with_its_own_payload() {
    for way in 0..3 {
        for step in 0..AWAITS {
            let (registry, breaker) = with_outer(ONE);
            let mut log = Vec::new();
            let mut call = ways(breaker, &registry, Some(step), &mut log, way);
            for _ in 0..step {
                assert_eq!(poll_once(call.as_mut()), Poll::Pending);
            }
            let out = panic::catch_unwind(AssertUnwindSafe(|| poll_once(call.as_mut())));
            let payload = out.expect_err("the body panics");
            assert_eq!(payload.downcast_ref(), Some(&step));
            drop(call);
            let calls = breaker.snapshot().calls;
            assert_eq!(
                (calls.panicked, calls.cancelled),
                (1, 0),
                "way {way}, step {step}"
            );
            assert_eq!(breaker.state(), State::Open);
            recovers_at_once(breaker, 1).await;
        }
    }
}

#[circuit_breaker(service = "scenario")]
async fn panics() -> Answer {
    panic::resume_unwind(Box::new("as it is"))
}

/// B020
#[tokio::test(start_paused = true)]
async fn a_probe_that_panics_in_a_task_reopens_and_the_join_error_has_the_payload() {
    let (registry, breaker) = half_open(ONE).await;
    let task = tokio::spawn(with_registry(registry.clone(), panics()));
    let payload = task.await.unwrap_err().into_panic();
    assert_eq!(payload.downcast_ref(), Some(&"as it is"));
    assert_eq!(breaker.state(), State::Open);
    assert_eq!(breaker.snapshot().calls.panicked, 1);
    tokio::time::advance(seconds(60)).await;
    with_registry(registry, answer()).await.unwrap();
    assert_eq!(breaker.state(), State::Closed);
}

/// A neighbour in the same task panics while the guarded call only waits: that is
/// no panic of the call.
#[tokio::test(start_paused = true)]
async fn a_neighbour_that_panics_makes_a_waiting_call_cancelled_and_not_failed() {
    let (registry, breaker) = half_open(ONE).await;
    let task = tokio::spawn(with_registry(registry, async {
        tokio::join!(hang(), async {
            yield_now().await;
            panic::resume_unwind(Box::new("the neighbour panics"))
        })
    }));
    assert!(task.await.unwrap_err().is_panic());
    let calls = breaker.snapshot().calls;
    assert_eq!((calls.cancelled, calls.panicked, calls.failure), (2, 0, 1));
    assert_eq!(breaker.state(), State::HalfOpen);
    recovers_at_once(breaker, 1).await;
}

/// The other way round: of two guarded neighbours, only the one that panics failed.
#[tokio::test(start_paused = true)]
async fn of_two_guarded_neighbours_only_the_one_that_panics_has_panicked() {
    let registry = drivers::registry(Policy::new().threshold(9));
    let breaker = drivers::breaker(&registry);
    let task = tokio::spawn(with_registry(registry, async {
        tokio::join!(hang(), panics(), hang())
    }));
    assert!(task.await.unwrap_err().is_panic());
    let snapshot = breaker.snapshot();
    // The third was not polled, so it never began.
    assert_eq!((snapshot.calls.cancelled, snapshot.calls.panicked), (1, 1));
    assert_eq!(snapshot.consecutive_failures, 1);
    assert_eq!(snapshot.in_flight, 0);
}

/// A guarded call that is dropped while its thread panics elsewhere.
#[tokio::test(start_paused = true)]
async fn a_call_dropped_while_its_thread_unwinds_is_cancelled() {
    let registry = drivers::registry(ONE);
    let breaker = drivers::breaker(&registry);
    let mut call = Box::pin(with_registry(registry, hang()));
    assert!(poll_once(call.as_mut()).is_pending());
    let unwound = panic::catch_unwind(AssertUnwindSafe(move || {
        let _dropped_on_the_way = call;
        panic::resume_unwind(Box::new(()));
    }));
    assert!(unwound.is_err());
    let calls = breaker.snapshot().calls;
    assert_eq!((calls.cancelled, calls.panicked), (1, 0));
    assert_eq!(breaker.state(), State::Closed);
}

/// B020: the code that judges an outcome is the user's, too.
#[tokio::test(start_paused = true)]
async fn a_predicate_that_panics_frees_the_place_of_a_probe() {
    #[circuit_breaker(service = "scenario", fails_on = |_| panic::resume_unwind(Box::new("p")))]
    async fn fails_on() -> Answer {
        Err(CallError::Ended(Ending::Failure))
    }
    #[circuit_breaker(service = "scenario", ignores = |_| panic::resume_unwind(Box::new("p")))]
    async fn ignores() -> Answer {
        Err(CallError::Ended(Ending::Failure))
    }
    #[circuit_breaker(
        service = "scenario",
        classify = |_: &Answer| -> bool { panic::resume_unwind(Box::new("p")) }
    )]
    async fn classify() -> Answer {
        Ok(())
    }
    for which in 0..3 {
        let (registry, breaker) = half_open(ONE).await;
        let call: Pin<Box<dyn Future<Output = Answer>>> = match which {
            0 => Box::pin(with_registry(registry, fails_on())),
            1 => Box::pin(with_registry(registry, ignores())),
            _ => Box::pin(with_registry(registry, classify())),
        };
        let mut call = call;
        let out = panic::catch_unwind(AssertUnwindSafe(|| poll_once(call.as_mut())));
        assert_eq!(out.unwrap_err().downcast_ref(), Some(&"p"));
        drop(call);
        assert_eq!(breaker.state(), State::Open);
        assert_eq!(breaker.snapshot().calls.panicked, 1);
        recovers_at_once(breaker, 1).await;
    }
}

/// A value of the body that panics when it is dropped.
struct Thorn(bool);

impl Drop for Thorn {
    fn drop(&mut self) {
        if self.0 {
            panic::resume_unwind(Box::new("the thorn"));
        }
    }
}

#[circuit_breaker(service = "scenario")]
async fn holds(thorn: Thorn, waits: bool) -> Answer {
    let _held = &thorn;
    if waits {
        std::future::pending().await
    }
    Ok(())
}

/// Dropping a call that waits runs the user's destructors first.
#[tokio::test(start_paused = true)]
async fn a_destructor_that_panics_while_a_call_is_cancelled_keeps_no_place() {
    let (registry, breaker) = half_open(ONE).await;
    let mut call = Box::pin(with_registry(registry, holds(Thorn(true), true)));
    assert!(poll_once(call.as_mut()).is_pending());
    let dropped = panic::catch_unwind(AssertUnwindSafe(move || drop(call)));
    assert_eq!(dropped.unwrap_err().downcast_ref(), Some(&"the thorn"));
    assert_eq!(breaker.snapshot().calls.cancelled, 2);
    recovers_at_once(breaker, 1).await;
}

/// At the end of a body the destructors of its arguments run inside of it.
#[tokio::test(start_paused = true)]
async fn a_destructor_that_panics_at_the_end_of_a_body_is_a_panic_of_the_call() {
    let (registry, breaker) = half_open(ONE).await;
    let mut call = Box::pin(with_registry(registry, holds(Thorn(true), false)));
    let out = panic::catch_unwind(AssertUnwindSafe(|| poll_once(call.as_mut())));
    assert_eq!(out.unwrap_err().downcast_ref(), Some(&"the thorn"));
    drop(call);
    assert_eq!(breaker.snapshot().calls.panicked, 1);
    recovers_at_once(breaker, 1).await;
}

#[circuit_breaker(service = "scenario")]
fn blocking(panics: bool) -> Answer {
    if panics {
        panic::resume_unwind(Box::new("blocking"))
    }
    Ok(())
}

/// B020: a function that is not async.
#[test]
fn a_panic_of_a_function_that_is_not_async_is_a_failure() {
    let registry = drivers::registry(Policy::new().threshold(3));
    let breaker = drivers::breaker(&registry);
    let _entered = registry.enter();
    blocking(false).unwrap();
    let out = panic::catch_unwind(|| blocking(true));
    assert_eq!(out.unwrap_err().downcast_ref(), Some(&"blocking"));
    let out = panic::catch_unwind(|| {
        breaker.call_blocking(|| -> Answer { panic::resume_unwind(Box::new("blocking")) })
    });
    assert!(out.is_err());
    let snapshot = breaker.snapshot();
    assert_eq!(
        (snapshot.calls.panicked, snapshot.consecutive_failures),
        (2, 2)
    );
    assert_eq!(snapshot.in_flight, 0);
}

/// A waker that panics, when a body wakes it, is the caller's and not the breaker's.
#[tokio::test(start_paused = true)]
async fn what_a_body_does_between_its_awaits_is_watched_and_nothing_else() {
    let registry = drivers::registry(ONE);
    let breaker = drivers::breaker(&registry);
    let mut call = Box::pin(with_registry(registry, hang()));
    assert!(poll_once(call.as_mut()).is_pending());
    // The task that holds the call panics before it polls it again.
    let panicked = panic::catch_unwind(AssertUnwindSafe(|| {
        let mut task = pin!(poll_fn(|_| -> Poll<()> {
            panic::resume_unwind(Box::new(()))
        }));
        poll_once(task.as_mut())
    }));
    assert!(panicked.is_err());
    drop(call);
    assert_eq!(breaker.snapshot().calls.panicked, 0);
    assert_eq!(breaker.state(), State::Closed);
}
