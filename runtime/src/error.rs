//! An error for functions whose own error type cannot hold a rejection.

use crate::rejected::Rejected;
use crate::timed_out::TimedOut;

/// The call was not made, or it was given up, or it failed with its own error.
///
/// For error types of other crates, which have no place for a [`Rejected`]: declare
/// `Result<T, breakerbox::Error<E>>` and write `wrap_error` in the attribute. The
/// body is then written as if it returned `Result<T, E>`.
///
/// ```
/// # async fn get(_: &str) -> Result<String, std::fmt::Error> { Ok(String::new()) }
/// use breakerbox::circuit_breaker;
///
/// #[circuit_breaker(service = "rates", wrap_error)]
/// async fn rate(currency: &str) -> Result<String, breakerbox::Error<std::fmt::Error>> {
///     let text = get(currency).await?;
///     Ok(text)
/// }
/// ```
///
/// It is itself a [`std::error::Error`] where `E` is one. `anyhow::Error` and boxed
/// errors are not, and need none of this: they can be made from a [`Rejected`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error<E> {
    /// The call was not made.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    /// The call was made and given up; it may have been carried out.
    #[error(transparent)]
    TimedOut(#[from] TimedOut),
    /// The call was made and failed; this is its own error.
    #[error(transparent)]
    Inner(E),
}

impl<E> Error<E> {
    /// The rejection, where the call was not made.
    #[must_use]
    pub const fn rejected(&self) -> Option<&Rejected> {
        match self {
            Self::Rejected(rejected) => Some(rejected),
            Self::TimedOut(_) | Self::Inner(_) => None,
        }
    }

    /// The function's own error, where the call was made and ended.
    #[must_use]
    pub fn into_inner(self) -> Option<E> {
        match self {
            Self::Rejected(_) | Self::TimedOut(_) => None,
            Self::Inner(error) => Some(error),
        }
    }
}
