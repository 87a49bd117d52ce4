//! What a guarded function may return, and how a rejection or a struck timeout becomes its
//! error.

use crate::rejected::Rejected;
use crate::timed_out::TimedOut;

/// What a guarded function returns: a `Result`, by whatever name.
///
/// Functions that return something else say in the attribute what counts as a
/// failure and what to return for a call that is not made.
#[diagnostic::on_unimplemented(
    message = "a guarded function must return a `Result`, but this one returns `{Self}`",
    label = "not a `Result`",
    note = "or say what a failure is, `classify = |out| out.is_none()`, and what to return instead \
            of a call: `#[fallback(expr)]` above all policies"
)]
pub trait Outcome {
    /// The value of a success.
    type Ok;
    /// The error of a failure.
    type Error;

    /// The error, where there is one.
    fn error(&self) -> Option<&Self::Error>;

    /// The outcome that fails with `error`.
    fn from_error(error: Self::Error) -> Self;
}

impl<T, E> Outcome for Result<T, E> {
    type Ok = T;
    type Error = E;

    fn error(&self) -> Option<&E> {
        self.as_ref().err()
    }

    fn from_error(error: E) -> Self {
        Err(error)
    }
}

/// An error that a rejection can become: every `E: From<Rejected>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be made from `breakerbox::Rejected`, so this guarded function has \
               no error to return for a call that is not made",
    label = "needs `impl From<breakerbox::Rejected> for {Self}`",
    note = "with thiserror add a variant: `#[error(transparent)] Rejected(#[from] breakerbox::Rejected)`",
    note = "or say what to return: `map_rejected = |rejected| MyError::Unavailable` in the attribute, \
            `#[fallback(expr)]` above all policies, or `wrap_error` with `breakerbox::Error<{Self}>`"
)]
pub trait FromRejected {
    /// The error that says that the call was not made.
    fn from_rejected(rejected: Rejected) -> Self;
}

// Without this, rustc would name `From` alone, and the advice above would be lost.
#[diagnostic::do_not_recommend]
impl<E: From<Rejected>> FromRejected for E {
    fn from_rejected(rejected: Rejected) -> Self {
        Self::from(rejected)
    }
}

/// An error that a struck timeout can become: every `E: From<TimedOut>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be made from `breakerbox::TimedOut`, so this function has no error \
               to return when its timeout strikes",
    label = "needs `impl From<breakerbox::TimedOut> for {Self}`",
    note = "with thiserror add a variant: `#[error(transparent)] TimedOut(#[from] breakerbox::TimedOut)`",
    note = "or return `breakerbox::Error<{Self}>` and write `wrap_error`"
)]
pub trait FromTimedOut {
    /// The error that says that the call was given up, and may have been carried out.
    fn from_timed_out(timed_out: TimedOut) -> Self;
}

#[diagnostic::do_not_recommend]
impl<E: From<TimedOut>> FromTimedOut for E {
    fn from_timed_out(timed_out: TimedOut) -> Self {
        Self::from(timed_out)
    }
}
