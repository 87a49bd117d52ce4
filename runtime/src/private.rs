//! What expansions call. Not for people: it changes without notice.

use std::fmt;
use std::pin::Pin;

#[path = "private/keeping.rs"]
mod keeping;
#[path = "private/stack.rs"]
mod stack;

use crate::breaker::Breaker;
use crate::breaker::Keyed;
use crate::error::Error;
use crate::outcome::FromRejected;
use crate::outcome::Outcome;
use crate::rejected::Rejected;
use crate::verdict::IntoVerdict;
use crate::verdict::Verdict;

pub use crate::breaker::Guard;
pub use crate::breaker::Wait;
pub use crate::breaker::WaitAndWatch;
pub use crate::breaker::Watch;
pub use crate::site::CallSite;
pub use crate::site::Declared;
pub use crate::site::DynamicSite;
pub use inventory;
pub use keeping::*;
pub use stack::*;

/// The usual way in: the circuit is closed. Otherwise the guard is outside.
#[inline]
pub fn enter(breaker: &Breaker) -> Guard<'_> {
    breaker.enter()
}

/// The breaker of one key under a service.
#[inline]
pub fn keyed(service: &'static Breaker, key: &str) -> Keyed {
    service.key(key)
}

/// Whether the call is in.
#[inline]
pub const fn is_in(guard: &Guard<'_>) -> bool {
    guard.is_in()
}

/// The other way in, at once. Afterwards the guard is in, or the rejection is told; or
/// neither, where a probe has to be waited for, which [`wait_and_watch`] does.
#[inline]
pub fn refuse(guard: &mut Guard<'_>) -> Option<Rejected> {
    guard.enter_cold(None)
}

/// The other way in of an async function that needs its arguments if it is rejected.
#[inline]
pub fn wait<'g, 'b>(guard: &'g mut Guard<'b>) -> Wait<'g, 'b> {
    guard.wait()
}

/// The other way in, of a function that is not async.
#[cold]
pub fn wait_blocking(guard: &mut Guard<'_>) -> Option<Rejected> {
    guard.enter_blocking()
}

/// Polls the body under a guard that is in.
#[inline]
pub const fn watch<'g, 'b, F: Future>(guard: &'g mut Guard<'b>, body: F) -> Watch<'g, 'b, F> {
    guard.watch(body)
}

/// Polls the body under the guard once that is in; nothing if it does not get in.
#[inline]
pub const fn wait_and_watch<'g, 'b, F: Future>(
    guard: &'g mut Guard<'b>,
    body: F,
) -> WaitAndWatch<'g, 'b, F> {
    guard.wait_and_watch(body)
}

/// The rejection of a guard that [`wait_and_watch`] did not get in.
///
/// It shares a place with that of [`refuse`], which is the usual one. Written there as a
/// whole, it would make the compiler keep that place in memory and copy it in pieces wider
/// than those it was written in, which a processor waits for: 7 of 19 ns of a rejected call,
/// by `cargo bench --bench calls`.
#[inline(always)]
pub fn rejection(guard: &Guard<'_>) -> Rejected {
    let [rejected] = waited_in_vain(guard);
    rejected.in_words()
}

#[cold]
#[inline(never)]
fn waited_in_vain(guard: &Guard<'_>) -> [Rejected; 1] {
    [guard.rejection()]
}

/// Runs the body of a function that is not async under the guard.
#[inline]
pub fn run<T>(guard: &mut Guard<'_>, body: impl FnOnce() -> T) -> T {
    guard.run(body)
}

/// Makes a future under the guard, which will watch it: the code of a function that
/// returns one.
#[inline]
pub fn make<T>(guard: &mut Guard<'_>, body: impl FnOnce() -> T) -> T {
    guard.make(body)
}

/// The call ended with this verdict.
#[inline]
pub fn settle(guard: &mut Guard<'_>, verdict: Verdict) {
    guard.settle(verdict);
}

/// The call ended with this verdict about its error, which is shown where it opens the
/// circuit.
#[cold]
pub fn settle_error(guard: &mut Guard<'_>, verdict: Verdict, error: Option<&dyn fmt::Display>) {
    if guard.settle(verdict)
        && let Some(error) = error
    {
        guard.breaker().opened_by(error);
    }
}

/// An error of which nobody knows whether it can be shown. Of the two methods of one
/// name, the compiler takes that of [`Shown`] where the error implements `Display`, since
/// it needs one reference less; else that of [`NotShown`]. A trait of the user with a
/// method for all types could only be in the way under the same name.
#[derive(Debug)]
pub struct Telling<'e, E>(pub &'e E);

/// For errors that can be shown.
pub trait Shown<'e> {
    /// The error.
    fn __breakerbox_shown(&self) -> Option<&'e dyn fmt::Display>;
}

/// For all others.
pub trait NotShown<'e> {
    /// Nothing.
    fn __breakerbox_shown(&self) -> Option<&'e dyn fmt::Display>;
}

impl<'e, E: fmt::Display> Shown<'e> for &Telling<'e, E> {
    fn __breakerbox_shown(&self) -> Option<&'e dyn fmt::Display> {
        Some(self.0)
    }
}

impl<'e, E> NotShown<'e> for Telling<'e, E> {
    fn __breakerbox_shown(&self) -> Option<&'e dyn fmt::Display> {
        None
    }
}

/// The body on the heap: `boxed`.
#[inline]
pub fn boxed<'a, F>(body: F) -> Pin<Box<dyn Future<Output = F::Output> + Send + 'a>>
where
    F: Future + Send + 'a,
{
    Box::pin(body)
}

/// What a function returns whose call was not made.
#[inline]
pub fn rejected<Out>(rejected: Rejected) -> Out
where
    Out: Outcome,
    Out::Error: FromRejected,
{
    Out::from_error(Out::Error::from_rejected(rejected))
}

/// The same with `map_rejected`.
#[cold]
pub fn map_rejected<Out: Outcome>(
    rejected: Rejected,
    map: impl FnOnce(Rejected) -> Out::Error,
) -> Out {
    Out::from_error(map(rejected))
}

/// The error of an outcome.
#[inline]
pub fn error_of<Out: Outcome>(out: &Out) -> Option<&Out::Error> {
    out.error()
}

/// Asks a predicate that is given by its path. A function pointer, so that a wrong
/// signature is shown at the path.
#[inline]
pub fn ask<E>(predicate: fn(&E) -> bool, error: &E) -> bool {
    predicate(error)
}

/// Asks a predicate that is written as a closure, whose parameter is typed by this.
#[inline]
pub fn ask_closure<E>(error: &E, predicate: impl FnOnce(&E) -> bool) -> bool {
    predicate(error)
}

/// Asks `classify`.
#[inline]
pub fn classify<Out, V: IntoVerdict>(out: &Out, judge: impl FnOnce(&Out) -> V) -> Verdict {
    judge(out).into_verdict()
}

/// What a function with `wrap_error` returns.
#[diagnostic::on_unimplemented(
    message = "a function with `wrap_error` must return `Result<T, breakerbox::Error<E>>`, but \
               this one returns `{Self}`",
    label = "not a `Result` with `breakerbox::Error`"
)]
pub trait Wrapped {
    /// What its body returns.
    type Plain: Outcome;

    /// Puts the wrapper around.
    fn wrap(plain: Self::Plain) -> Self;

    /// The error of the body, where it made one.
    fn inner(&self) -> Option<&<Self::Plain as Outcome>::Error>;
}

impl<T, E> Wrapped for Result<T, Error<E>> {
    type Plain = Result<T, E>;

    fn wrap(plain: Result<T, E>) -> Self {
        plain.map_err(Error::Inner)
    }

    fn inner(&self) -> Option<&E> {
        match self {
            Err(Error::Inner(error)) => Some(error),
            Ok(_) | Err(Error::Rejected(_) | Error::TimedOut(_)) => None,
        }
    }
}

/// Puts the wrapper around.
#[inline]
pub fn wrap<Out: Wrapped>(plain: Out::Plain) -> Out {
    Out::wrap(plain)
}
