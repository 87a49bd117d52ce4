//! Code of the user that panics, wherever a stack calls it: nothing is kept, and the panic
//! goes on.

use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::task::Context;
use std::task::Poll;
use std::task::Waker;

use breakerbox::Event;
use breakerbox::Registry;
use breakerbox::Rejected;
use breakerbox::State;
use breakerbox::bulkhead;
use breakerbox::resilient;
use breakerbox::with_registry;
use tokio::sync::oneshot;

use super::Call;
use super::Count;
use super::PayError;
use super::SECOND;

type R = Result<u32, PayError>;

/// Unwinds without a message on the standard error output.
fn thorn<T>() -> T {
    resume_unwind(Box::new("thorn"))
}

/// What a call does, and where the code of the user panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Nowhere,
    Body,
    RetryOn,
    FailsOn,
    Ignores,
    When,
    Fallback,
    MapRejected,
    Clone,
}

/// Its copy for an attempt may not be to be had.
struct Copied(At);

impl Clone for Copied {
    fn clone(&self) -> Self {
        if self.0 == At::Clone {
            thorn()
        } else {
            Self(self.0)
        }
    }
}

const fn ran(at: At) -> R {
    match at {
        At::Nowhere => Ok(1),
        _ => Err(PayError::Status(500)),
    }
}

fn asked(at: At, here: At, answer: bool) -> bool {
    if at == here { thorn() } else { answer }
}

#[resilient(
    service = "panics-outside",
    fallback(
        if at == At::Fallback { thorn() } else { Ok(7) },
        when = |_| asked(at, At::When, true)
    ),
    retry(retry_on = |_| asked(at, At::RetryOn, true), attempts = 2, delay = "1ms", clone(copied)),
    circuit_breaker(
        threshold = 2,
        fails_on = |_| asked(at, At::FailsOn, true),
        ignores = |_| asked(at, At::Ignores, false),
    ),
    bulkhead(max_concurrent = 1),
    timeout("1s", map_rejected = |rejected| map(rejected, at))
)]
async fn retry_outside(at: At, copied: Copied) -> R {
    let at = if at == At::Body { thorn() } else { copied.0 };
    ran(at)
}

#[resilient(
    service = "panics-inside",
    fallback(
        if at == At::Fallback { thorn() } else { Ok(7) },
        when = |_| asked(at, At::When, true)
    ),
    circuit_breaker(
        threshold = 1,
        fails_on = |_| asked(at, At::FailsOn, true),
        ignores = |_| asked(at, At::Ignores, false),
    ),
    retry(retry_on = |_| asked(at, At::RetryOn, true), attempts = 2, delay = "1ms", clone(copied)),
    bulkhead(max_concurrent = 1),
    timeout("1s", map_rejected = |rejected| map(rejected, at))
)]
async fn retry_inside(at: At, copied: Copied) -> R {
    let at = if at == At::Body { thorn() } else { copied.0 };
    ran(at)
}

#[resilient(
    service = "panics-thread",
    fallback(
        if at == At::Fallback { thorn() } else { Ok(7) },
        when = |_| asked(at, At::When, true)
    ),
    circuit_breaker(
        threshold = 1,
        fails_on = |_| asked(at, At::FailsOn, true),
        ignores = |_| asked(at, At::Ignores, false),
        map_rejected = |rejected| map(rejected, at)
    ),
    retry(retry_on = |_| asked(at, At::RetryOn, true), attempts = 2, delay = "1ms", clone(copied)),
    bulkhead(max_concurrent = 1)
)]
#[allow(clippy::needless_pass_by_value)]
fn on_a_thread(at: At, copied: Copied) -> R {
    let at = if at == At::Body { thorn() } else { copied.0 };
    ran(at)
}

fn map(rejected: Rejected, at: At) -> PayError {
    if at == At::MapRejected {
        thorn()
    } else {
        PayError::Rejected(rejected)
    }
}

fn polled(call: Pin<&mut impl Future<Output = R>>) -> Poll<R> {
    call.poll(&mut Context::from_waker(Waker::noop()))
}

type Made = fn(At) -> Call<R>;

const CALLS: [(&str, Made); 3] = [
    ("panics-outside", |at| {
        Box::pin(retry_outside(at, Copied(at)))
    }),
    ("panics-inside", |at| Box::pin(retry_inside(at, Copied(at)))),
    ("panics-thread", |at| {
        Box::pin(async move { on_a_thread(at, Copied(at)) })
    }),
];

/// Whether the call panics, as the body does.
async fn panics(registry: &Registry, call: Call<R>) -> bool {
    let task = tokio::spawn(with_registry(registry.clone(), call));
    let Err(error) = task.await else {
        return false;
    };
    error.into_panic().downcast_ref() == Some(&"thorn")
}

/// J9, G12, B020, B023: of each of them, the first time and again, in a closed circuit and as a
/// probe. A predicate of the breaker that panics is a failure, as a body is; code that runs after
/// the breaker was told is none.
#[tokio::test(start_paused = true)]
async fn wherever_the_code_of_the_user_panics_nothing_is_kept() {
    use At::*;
    for (service, call) in CALLS {
        for at in [
            Body,
            RetryOn,
            FailsOn,
            Ignores,
            When,
            Fallback,
            MapRejected,
            Clone,
        ] {
            let registry = Registry::builder().build().unwrap();
            let breaker = registry.breaker(service).unwrap();
            let policies = registry.policies(service);
            for round in 0..3 {
                if at == MapRejected {
                    // Only where it is open, there is something to map.
                    let ban = breakerbox::Verdict::OpenFor(SECOND);
                    breaker.try_acquire().unwrap().record(ban);
                }
                let context = format!("{service} {at:?} {round}");
                assert!(panics(&registry, call(at)).await, "{context}");
                let bulkhead = policies.get_bulkhead().unwrap();
                let left = (bulkhead.available(), bulkhead.waiting());
                assert_eq!(left, (1, 0), "{context}");
                assert_eq!(breaker.snapshot().in_flight, 0, "{context}");
                assert_eq!(breakerbox::deadline(), None, "{context}");
                if let Some(left) = breaker.snapshot().retry_after {
                    tokio::time::advance(left).await;
                }
            }
            // As a probe where it is open, and without anything in its way.
            let out = with_registry(registry, call(Nowhere)).await;
            assert_eq!(out, Ok(1), "{service} {at:?}");
            assert_eq!(breaker.state(), State::Closed, "{service} {at:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn code_that_panics_before_the_breaker_is_told_is_a_failure() {
    use At::*;
    for (service, call) in CALLS {
        let is_outside = service == "panics-outside";
        for (at, panicked) in [
            (Body, 1),
            (FailsOn, 1),
            (Ignores, 1),
            (RetryOn, u64::from(!is_outside)),
            (When, 0),
            (Fallback, 0),
        ] {
            let registry = Registry::builder().build().unwrap();
            assert!(panics(&registry, call(at)).await, "{service} {at:?}");
            let seen = registry.breaker(service).unwrap().snapshot().calls;
            assert_eq!(seen.panicked, panicked, "{service} {at:?}");
            assert!(seen.panicked + seen.failure > 0, "{service} {at:?}");
            assert_eq!(seen.cancelled, 0, "{service} {at:?}");
        }
    }
}

/// A future that has panicked and is dropped later reports its call once.
#[tokio::test(start_paused = true)]
async fn a_call_that_has_panicked_and_is_dropped_later_is_one_call() {
    let registry = Registry::builder().build().unwrap();
    let mut call = Box::pin(with_registry(
        registry.clone(),
        retry_inside(At::RetryOn, Copied(At::RetryOn)),
    ));
    assert!(catch_unwind(AssertUnwindSafe(|| polled(call.as_mut()))).is_err());
    drop(call);
    let breaker = registry.breaker("panics-inside").unwrap();
    let seen = breaker.snapshot().calls;
    assert_eq!((seen.panicked, seen.cancelled, seen.failure), (1, 0, 0));
    assert_eq!(breaker.state(), State::Open);
}

/// B023: a listener that panics on every event of a failing call costs no place and adds none.
#[tokio::test(start_paused = true)]
async fn a_bulkhead_of_one_stays_one_whatever_listeners_do() {
    static RUNNING: Count = Count::new();
    #[bulkhead(service = "panics-listener", max_concurrent = 1)]
    async fn f(gate: Option<oneshot::Receiver<R>>) -> R {
        RUNNING.begin();
        match gate {
            Some(gate) => gate.await.unwrap(),
            None => Err(PayError::Status(500)),
        }
    }
    let registry = Registry::builder()
        .on_event(|_: &Event| resume_unwind(Box::new("listener")))
        .build()
        .unwrap();
    with_registry(registry.clone(), async {
        for _ in 0..5 {
            assert_eq!(f(None).await, Err(PayError::Status(500)));
        }
        let before = RUNNING.get();
        let (open, gate) = oneshot::channel();
        let mut first = Box::pin(f(Some(gate)));
        assert!(polled(first.as_mut()).is_pending());
        for _ in 0..5 {
            assert!(f(None).await.unwrap_err().kind().is_some());
        }
        assert_eq!(RUNNING.get(), before + 1);
        open.send(Ok(7)).unwrap();
        assert_eq!(first.await, Ok(7));
        assert_eq!(f(None).await, Err(PayError::Status(500)));
    })
    .await;
    registry.close();
}
