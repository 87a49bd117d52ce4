//! What the expansions of stacked policies call.

#[cfg(feature = "retry")]
use std::ops::ControlFlow;
use std::time::Duration;

use crate::breaker::Guard;
use crate::bulkhead::Bulkhead;
use crate::clock::Tick;
use crate::deadline::Deadline;
use crate::outcome::FromTimedOut;
use crate::outcome::Outcome;
#[cfg(feature = "retry")]
use crate::policy::RetryPolicy;
#[cfg(feature = "rate-limit")]
use crate::rate_limit::RateLimiter;
use crate::rejected::Rejected;
use crate::rejected::RejectedKind;
use crate::verdict::Verdict;

pub use crate::bulkhead::AcquireSlot;
pub use crate::bulkhead::Slot;
pub use crate::policies::DeclaredPolicies;
pub use crate::policies::DynamicPolicySite;
pub use crate::policies::Limits;
pub use crate::policies::Policies;
pub use crate::policies::PolicySite;
#[cfg(feature = "rate-limit")]
pub use crate::rate_limit::AcquireToken;
#[cfg(feature = "retry")]
pub use crate::retry::Pause;
#[cfg(feature = "retry")]
pub use crate::retry::Refusal;
#[cfg(feature = "retry")]
pub use crate::retry::Retrying;
pub use crate::timeout::Bound;
pub use crate::timeout::Within;

use super::Wrapped;

/// Of a stack that names no service.
#[inline]
#[must_use]
pub fn unnamed() -> &'static Policies {
    crate::registry::unnamed()
}

/// A timeout begins, inside of another of the same stack, perhaps.
#[inline]
#[must_use]
pub fn bound(policies: &'static Policies, limit: Duration, outer: Option<&Bound>) -> Bound {
    Bound::new(policies, limit, outer)
}

/// Polls a body until the first of its timeouts strikes: nothing then.
#[inline]
pub const fn within<F: Future>(bound: &Bound, body: F) -> Within<'_, F> {
    Within::new(bound, body)
}

/// Whether it was this timeout that struck, asked from the innermost out.
#[cold]
#[must_use]
pub fn is_over(bound: &Bound) -> bool {
    bound.is_over()
}

/// Whether this timeout or one around it has struck, so that nothing begins any more.
#[cold]
#[must_use]
pub fn is_struck(bound: &Bound) -> bool {
    bound.is_struck()
}

/// From which age on a dropped call is a failure, under a timeout that drops it.
///
/// # Panics
///
/// Where the timeout is first. In a `static` that is a compile error.
#[must_use]
#[track_caller]
pub const fn before_timeout(after: Duration, timeout: Duration) -> Duration {
    assert!(
        after.as_nanos() < timeout.as_nanos(),
        "the timeout around this breaker strikes before that, so a service that hangs would never \
         count: write less, or put a timeout below"
    );
    after
}

/// The output of a call that this timeout has given up.
#[cold]
pub fn timed_out<Out>(bound: &Bound) -> Out
where
    Out: Outcome,
    Out::Error: FromTimedOut,
{
    Out::from_error(Out::Error::from_timed_out(bound.strike()))
}

/// A place in the bulkhead, if there is one at once.
#[inline]
#[must_use]
pub fn try_slot(policies: &'static Policies) -> Option<Slot<'static>> {
    policies.get_bulkhead()?.try_slot()
}

/// A place in the bulkhead as soon as there is one, or the rejection.
pub fn slot(policies: &'static Policies, bound: Option<&Bound>) -> AcquireSlot<'static> {
    bulkhead(policies).acquire_until(nearest(policies, bound))
}

/// The same on this thread.
pub fn slot_blocking(policies: &'static Policies) -> Result<Slot<'static>, Rejected> {
    bulkhead(policies).acquire_blocking_until(nearest(policies, None))
}

/// The stack declares a bulkhead, so its service has one.
fn bulkhead(policies: &'static Policies) -> &'static Bulkhead {
    let bulkhead = policies.get_bulkhead();
    bulkhead.expect("a stack with a bulkhead declares it")
}

#[cfg(feature = "rate-limit")]
fn rate_limiter(policies: &'static Policies) -> &'static RateLimiter {
    let limiter = policies.get_rate_limiter();
    limiter.expect("a stack with a rate limit declares it")
}

/// By the clock of the registry, when the nearest timeout around strikes.
/// As [`refuse`](super::refuse) does, where a timeout of the same function is around it.
#[inline]
pub fn refuse_before(guard: &mut Guard<'_>, bound: Option<&Bound>) -> Option<Rejected> {
    guard.enter_cold(bound.map(Bound::nearest))
}

fn nearest(policies: &Policies, bound: Option<&Bound>) -> Option<Tick> {
    Deadline::nearest(policies.host(), bound.map(Bound::nearest))
}

/// Numbers that somebody can retry with.
///
/// # Panics
///
/// Where nobody can. In a `static` that is a compile error.
#[cfg(feature = "retry")]
#[track_caller]
pub const fn checked(policy: RetryPolicy) -> RetryPolicy {
    if let Err(error) = policy.check() {
        panic!("{}", error.message());
    }
    policy
}

/// A call that may be made again begins, inside of a timeout of the same stack, perhaps.
#[cfg(feature = "retry")]
#[inline]
#[must_use]
pub fn retrying<Out>(
    policies: &'static Policies,
    policy: &'static RetryPolicy,
    bound: Option<&Bound>,
) -> Retrying<'static, Out> {
    Retrying::new(policies.retries(), policy, bound.map(Bound::nearest))
}

/// Whether this is the first attempt, and nothing was waited for before it.
#[cfg(feature = "retry")]
#[inline]
#[must_use]
pub const fn is_first<Out>(retrying: &Retrying<'static, Out>) -> bool {
    retrying.is_first()
}

/// A body has brought `out`: breaks with the answer, or continues with the pause before the
/// next attempt.
#[cfg(feature = "retry")]
#[inline]
pub fn next<Out>(
    retrying: &mut Retrying<'static, Out>,
    out: Out,
    again: bool,
    verdict: Verdict,
) -> ControlFlow<Out, Pause> {
    retrying.next(out, again, verdict)
}

/// The pause after [`next`] is over: the answer, where it is too late for another attempt.
#[cfg(feature = "retry")]
#[cold]
pub fn too_late<Out>(retrying: &mut Retrying<'static, Out>) -> Option<Out> {
    retrying.too_late()
}

/// The same as [`next`], with the pause on this thread.
#[cfg(feature = "retry")]
pub fn next_blocking<Out>(
    retrying: &mut Retrying<'static, Out>,
    out: Out,
    again: bool,
    verdict: Verdict,
) -> ControlFlow<Out> {
    retrying.next_blocking(out, again, verdict)
}

/// A policy inside of the retry refused an attempt.
#[cfg(feature = "retry")]
#[cold]
pub fn refused<Out>(retrying: &mut Retrying<'static, Out>, rejected: Rejected) -> Refusal<Out> {
    retrying.refused(rejected)
}

/// The wait after [`refused`] is over: `Again`, or the answer, where it is too late for that.
#[cfg(feature = "retry")]
#[cold]
pub fn waited<Out>(retrying: &mut Retrying<'static, Out>) -> Refusal<Out> {
    retrying.waited()
}

/// The same, with the wait on this thread.
#[cfg(feature = "retry")]
#[cold]
pub fn refused_blocking<Out>(
    retrying: &mut Retrying<'static, Out>,
    rejected: Rejected,
) -> Refusal<Out> {
    retrying.refused_blocking(rejected)
}

/// An argument of which each attempt gets its own.
#[diagnostic::on_unimplemented(
    message = "the retried body takes `{Self}` by value, and it cannot be cloned for a second attempt",
    label = "is not `Clone`"
)]
pub trait Retried {
    /// Another one.
    fn cloned(&self) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Clone> Retried for T {
    fn cloned(&self) -> Self {
        self.clone()
    }
}

/// A clone for one attempt.
#[inline]
pub fn cloned<T: Retried>(argument: &T) -> T {
    argument.cloned()
}

/// A token of the rate limit, if there is one at once.
#[cfg(feature = "rate-limit")]
#[inline]
#[must_use]
pub fn try_token(policies: &'static Policies) -> bool {
    policies
        .get_rate_limiter()
        .is_some_and(RateLimiter::try_token)
}

/// A token as soon as it is this call's turn, or the rejection.
#[cfg(feature = "rate-limit")]
pub fn token(policies: &'static Policies, bound: Option<&Bound>) -> AcquireToken<'static> {
    rate_limiter(policies).acquire_until(nearest(policies, bound))
}

/// The same on this thread.
#[cfg(feature = "rate-limit")]
pub fn token_blocking(policies: &'static Policies) -> Result<(), Rejected> {
    rate_limiter(policies).acquire_blocking_until(nearest(policies, None))
}

/// A policy inside of the breaker refused the call. It was not made, so it says nothing about
/// the service, unless a full bulkhead `counts`. Nothing happens where the breaker itself
/// refused it.
#[cold]
pub fn refused_inside(guard: &mut Guard<'_>, rejected: &Rejected, counts: bool) {
    if counts && rejected.kind() == RejectedKind::BulkheadFull {
        guard.not_made(Verdict::Failure);
    } else {
        guard.not_made(Verdict::Ignore);
    }
}

/// A timeout of this function, outside of the breaker, gave the call up.
#[cold]
pub fn struck(guard: &mut Guard<'_>) {
    guard.struck();
}

/// No body runs until the next is watched: a guard that is dropped meanwhile is of a call that
/// was cancelled, and has not panicked.
#[inline]
pub const fn resting(guard: &mut Guard<'_>) {
    guard.mark_waiting();
}

/// A fallback has answered, perhaps with an error.
pub fn fell_back(policies: &Policies, failed: bool) {
    policies.count_fallback(failed);
}

/// The error of a body under `wrap_error`, where it made one.
#[inline]
pub fn plain_error_of<Out: Wrapped>(out: &Out) -> Option<&<Out::Plain as Outcome>::Error> {
    out.inner()
}

/// An answer of a fallback, which is no `Result`, perhaps. As with
/// [`Telling`](super::Telling), the compiler takes the method of [`MayFail`] where it is one.
#[derive(Debug)]
pub struct Answered<'o, Out>(pub &'o Out);

/// For answers that may be errors.
pub trait MayFail {
    /// Whether this one is.
    fn __breakerbox_failed(&self) -> bool;
}

/// For all others.
pub trait CannotFail {
    /// No.
    fn __breakerbox_failed(&self) -> bool;
}

impl<T, E> MayFail for &Answered<'_, Result<T, E>> {
    fn __breakerbox_failed(&self) -> bool {
        self.0.is_err()
    }
}

impl<Out> CannotFail for Answered<'_, Out> {
    fn __breakerbox_failed(&self) -> bool {
        false
    }
}
