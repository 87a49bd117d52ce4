//! What the outcome of one call says about the service behind it.

use std::time::Duration;

/// What the outcome of one call says about the service behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The service answered. A declined card and a 404 are answers, too.
    Success,
    /// The service failed.
    Failure,
    /// A failure that, if it opens the circuit, keeps it open for at least this
    /// long: what a `Retry-After` header asks for. Capped by `max_open_for`. A retry around it
    /// waits at least this long.
    RetryAfter(Duration),
    /// A failure that opens the circuit at once, whatever was counted before,
    /// for exactly this long: a ban. Capped by `max_open_for`. A retry around it does not try
    /// again, unless it waits for an open circuit.
    OpenFor(Duration),
    /// The outcome says nothing: it neither counts nor resets, and a probe that
    /// ends so gives its place back.
    Ignore,
}

/// An answer that a `classify` function may give.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say whether the call failed",
    label = "expected `bool` (true = failure) or `breakerbox::Verdict`"
)]
pub trait IntoVerdict {
    /// The verdict that the answer stands for.
    fn into_verdict(self) -> Verdict;
}

impl IntoVerdict for Verdict {
    fn into_verdict(self) -> Verdict {
        self
    }
}

/// `true` is a failure.
impl IntoVerdict for bool {
    fn into_verdict(self) -> Verdict {
        if self {
            Verdict::Failure
        } else {
            Verdict::Success
        }
    }
}
