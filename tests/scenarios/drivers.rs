//! The ways of making a guarded call, behind one face.

use std::panic;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::Context;
use std::task::Poll;
use std::task::Waker;
use std::time::Duration;

use breakerbox::Breaker;
use breakerbox::Permit;
use breakerbox::Registry;
use breakerbox::Rejected;
use breakerbox::State;
use breakerbox::Verdict;
use breakerbox::circuit_breaker;
use breakerbox::with_registry;
use tokio::sync::oneshot;

use super::notation::Ending;

/// The service of every scenario; its numbers come from the registry.
pub(crate) const SERVICE: &str = "scenario";

/// What a body panics with.
pub(crate) const PANIC: &str = "the body panics";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Driver {
    /// `Breaker::try_acquire` and what a permit offers.
    Permit,
    /// `Breaker::call`.
    Call,
    /// The attribute with `fails_on` and `ignores`.
    Attribute,
    /// The attribute with `classify`.
    Classify,
}

/// A call that was let through and has not ended.
pub(crate) enum Held {
    Permit(Permit<'static>),
    Future {
        call: Call,
        tell: oneshot::Sender<Ending>,
    },
}

pub(crate) type Call = Pin<Box<dyn Future<Output = Result<(), CallError>>>>;

/// The error of a guarded function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CallError {
    #[error(transparent)]
    Rejected(#[from] Rejected),
    #[error("the call ended with {0:?}")]
    Ended(Ending),
}

impl Driver {
    pub(crate) const ALL: [Self; 4] = [Self::Permit, Self::Call, Self::Attribute, Self::Classify];

    /// Whether this way of calling has a word for `ending`; `at_once` says that the
    /// call begins and ends in one step.
    pub(crate) const fn can_say(self, ending: Ending, at_once: bool) -> bool {
        use Ending::*;
        match (self, ending) {
            (Self::Classify, _) | (_, Success | Failure | Drop) => true,
            // A held permit does not know whose panic it is that drops it.
            (Self::Permit, Panic) => at_once,
            (Self::Permit, _) => true,
            (Self::Call, ending) => matches!(ending, Panic),
            (Self::Attribute, ending) => !matches!(ending, RetryAfter(_) | OpenFor(_)),
        }
    }

    /// A call begins: it is let through, or rejected before its body is entered.
    pub(crate) fn begin(self, registry: &Registry) -> Result<Held, Rejected> {
        if self == Self::Permit {
            return breaker(registry).try_acquire().map(Held::Permit);
        }
        let (tell, told) = oneshot::channel();
        let registry = registry.clone();
        let mut call: Call = match self {
            Self::Permit | Self::Call => {
                let breaker = breaker(&registry);
                Box::pin(async move {
                    let out = breaker.call(body(told)).await;
                    out.map_err(|error| match error {
                        breakerbox::Error::Rejected(rejected) => CallError::Rejected(rejected),
                        error => error.into_inner().expect("the body's own error"),
                    })
                })
            }
            Self::Attribute => Box::pin(with_registry(registry, guarded(told))),
            Self::Classify => Box::pin(with_registry(registry, classified(told))),
        };
        match poll_once(call.as_mut()) {
            Poll::Pending => Ok(Held::Future { call, tell }),
            Poll::Ready(Err(CallError::Rejected(rejected))) => Err(rejected),
            Poll::Ready(out) => panic!("a body that was told nothing ended with {out:?}"),
        }
    }

    /// A call begins and ends.
    pub(crate) fn call(self, registry: &Registry, ending: Ending) -> Result<(), Rejected> {
        if (self, ending) != (Self::Permit, Ending::Panic) {
            return self.begin(registry).map(|held| held.end(ending));
        }
        let breaker = breaker(registry);
        let out = panic::catch_unwind(|| {
            breaker.call_blocking(|| -> Result<(), CallError> {
                panic::resume_unwind(Box::new(PANIC));
            })
        });
        match out {
            Ok(Err(breakerbox::Error::Rejected(rejected))) => Err(rejected),
            Ok(out) => panic!("a call whose body panics returned {out:?}"),
            Err(payload) => {
                assert_eq!(payload.downcast_ref(), Some(&PANIC));
                Ok(())
            }
        }
    }
}

impl Held {
    /// The call ends, and its caller gets what the body gave, unchanged.
    pub(crate) fn end(self, ending: Ending) {
        match self {
            Self::Permit(permit) => match ending {
                Ending::Success | Ending::NotAFailure => permit.success(),
                Ending::Failure => permit.failure(),
                Ending::Drop => drop(permit),
                ending => permit.record(judge(&Err(CallError::Ended(ending)))),
            },
            Self::Future { call, .. } if ending == Ending::Drop => drop(call),
            Self::Future { mut call, tell } => {
                tell.send(ending).expect("the body waits to be told");
                let out = panic::catch_unwind(AssertUnwindSafe(|| poll_once(call.as_mut())));
                match (out, ending) {
                    (Err(payload), Ending::Panic) => {
                        assert_eq!(payload.downcast_ref(), Some(&PANIC));
                    }
                    (Err(payload), _) => panic::resume_unwind(payload),
                    (Ok(out), Ending::Success) => assert_eq!(out, Poll::Ready(Ok(()))),
                    (Ok(out), _) => assert_eq!(out, Poll::Ready(Err(CallError::Ended(ending)))),
                }
            }
        }
    }
}

pub(crate) fn breaker(registry: &Registry) -> &'static Breaker {
    registry.breaker(SERVICE).expect("it is declared")
}

/// Polls by hand, so that a test says when a call goes on.
pub(crate) fn poll_once<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

async fn body(told: oneshot::Receiver<Ending>) -> Result<(), CallError> {
    // A test that makes many calls in one go would use up what tokio lets a task do at
    // a time, and wait here though it was told.
    let told = tokio::task::unconstrained(told).await;
    match told.expect("each call that is not dropped is told how to end") {
        Ending::Success => Ok(()),
        Ending::Panic => panic::resume_unwind(Box::new(PANIC)),
        ending => Err(CallError::Ended(ending)),
    }
}

#[circuit_breaker(service = "scenario", fails_on = is_failure, ignores = is_ignored)]
async fn guarded(told: oneshot::Receiver<Ending>) -> Result<(), CallError> {
    body(told).await
}

#[circuit_breaker(service = "scenario", classify = judge)]
async fn classified(told: oneshot::Receiver<Ending>) -> Result<(), CallError> {
    body(told).await
}

fn is_failure(error: &CallError) -> bool {
    matches!(error, CallError::Ended(Ending::Failure))
}

fn is_ignored(error: &CallError) -> bool {
    matches!(error, CallError::Ended(Ending::Ignored))
}

fn judge(out: &Result<(), CallError>) -> Verdict {
    match out {
        Ok(()) | Err(CallError::Ended(Ending::NotAFailure)) => Verdict::Success,
        Err(CallError::Ended(Ending::Ignored)) => Verdict::Ignore,
        Err(CallError::Ended(Ending::RetryAfter(rest))) => Verdict::RetryAfter(*rest),
        Err(CallError::Ended(Ending::OpenFor(ban))) => Verdict::OpenFor(*ban),
        Err(_) => Verdict::Failure,
    }
}

/// A private registry in which the service has these numbers.
pub(crate) fn registry(policy: breakerbox::Policy) -> Registry {
    Registry::builder()
        .declare_with(SERVICE, policy)
        .build()
        .expect("the numbers are good")
}

/// Somebody forces a circuit.
pub(crate) fn force(breaker: &Breaker, state: State, lasts: Duration) {
    let out = match state {
        State::ForcedOpen => breaker.force_open(lasts, "a test", "a scenario"),
        State::ForcedClosed => breaker.force_closed(lasts, "a test", "a scenario"),
        State::Shadow => breaker.shadow(lasts, "a test", "a scenario"),
        other => panic!("nobody can force a circuit to be {other}"),
    };
    out.expect("it has a time, an actor and a reason");
}

/// So many seconds.
pub(crate) const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
