//! The error that a fallback was to answer for, kept where the fallback has failed, too.

use std::error::Error;
use std::fmt;

use crate::rejected::Rejected;

/// The error that a fallback was to answer for, as the source of the fallback's own.
///
/// It shows itself as that error. What it was is in [`get`](Self::get).
///
/// [`Rejected::find`] does not see a rejection in here, since it would be taken for that of the
/// whole call: nothing was sent to the first service, but what the fallback has sent elsewhere
/// may have been carried out. A [`TimedOut`](crate::TimedOut) is found: then nobody knows.
///
/// [`KeepsFirst`] has one for a fallback that is an expression; a closure, which is given the
/// error, makes one of it:
///
/// ```
/// use breakerbox::FirstError;
/// use breakerbox::circuit_breaker;
/// use breakerbox::fallback;
///
/// # async fn ask_another() -> Result<u64, QuoteError> { Err(QuoteError::Unreadable) }
/// #[derive(Debug, thiserror::Error)]
/// enum QuoteError {
///     #[error(transparent)]
///     Rejected(#[from] breakerbox::Rejected),
///     #[error("the answer was no quote")]
///     Unreadable,
///     #[error("nor did another one answer")]
///     NorAnother(#[source] FirstError),
/// }
///
/// #[fallback(
///     |error| ask_another().await.map_err(|_| QuoteError::NorAnother(FirstError::new(error))),
///     when = any
/// )]
/// #[circuit_breaker(service = "quotes")]
/// async fn quote() -> Result<u64, QuoteError> {
///     // ... the request ...
/// #   Err(QuoteError::Unreadable)
/// }
/// ```
pub struct FirstError(Kept);

/// A rejection is the usual one, and needs no place on the heap.
enum Kept {
    Rejected(Rejected),
    Other(Box<dyn Error + Send + Sync>),
}

/// An error that a fallback may end with, and that keeps the one that was to be answered for.
///
/// Where the error type of a function implements it, a [`#[fallback(..)]`](macro@crate::fallback)
/// that is an expression and ends with an error hands it the first one. A closure has been given
/// that one and keeps it itself, see [`FirstError`]. An answer of the fallback is the caller's as
/// it is, and so is the error where no fallback ran.
///
/// ```
/// use breakerbox::FirstError;
/// use breakerbox::KeepsFirst;
/// use breakerbox::circuit_breaker;
/// use breakerbox::fallback;
///
/// # async fn charge_elsewhere(_: u64) -> Result<String, PaymentError> { Err(PaymentError::Declined) }
/// #[derive(Debug, thiserror::Error)]
/// enum PaymentError {
///     #[error(transparent)]
///     Rejected(#[from] breakerbox::Rejected),
///     #[error("card declined")]
///     Declined,
///     #[error("{second}, after another provider")]
///     Second { second: Box<Self>, source: FirstError },
/// }
///
/// impl KeepsFirst for PaymentError {
///     fn keep_first(self, first: FirstError) -> Self {
///         Self::Second { second: Box::new(self), source: first }
///     }
/// }
///
/// #[fallback(charge_elsewhere(cents).await)]
/// #[circuit_breaker(service = "stripe")]
/// async fn charge(cents: u64) -> Result<String, PaymentError> {
///     // ... the request ...
/// #   let _ = cents;
/// #   Ok("receipt".to_owned())
/// }
/// ```
pub trait KeepsFirst: Error + Send + Sync + Sized + 'static {
    /// This error, which is the fallback's own, with `first` as its source.
    ///
    /// `self` may be a [`Rejected`] of what the fallback called. It is about that call alone, so
    /// show it and do not make it a source: then nobody finds it who asks about all of the call.
    #[must_use]
    fn keep_first(self, first: FirstError) -> Self;
}

impl FirstError {
    /// Keeps an error, which may be a [`Rejected`].
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Kept::Other(error.into()))
    }

    pub(crate) const fn rejected(rejected: Rejected) -> Self {
        Self(Kept::Rejected(rejected))
    }

    /// The error itself. `Rejected::find(first.get())` is about the first call alone.
    #[must_use]
    pub fn get(&self) -> &(dyn Error + 'static) {
        match &self.0 {
            Kept::Rejected(rejected) => rejected,
            Kept::Other(error) => &**error,
        }
    }
}

impl fmt::Display for FirstError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.get(), f)
    }
}

impl fmt::Debug for FirstError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FirstError").field(&self.get()).finish()
    }
}

impl Error for FirstError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let first = self.get();
        // Whoever finds a rejection among the sources takes all of the call for unsent.
        match Rejected::find(first) {
            Some(_) => None,
            None => first.source(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::time::Duration;

    use super::*;
    use crate::reason::Packed;
    use crate::rejected::RejectedKind;
    use crate::timed_out::TimedOut;

    const REJECTED: Rejected = Rejected::of_kind(&"first", RejectedKind::ForcedOpen, Packed::NONE);
    const TIMED_OUT: TimedOut = TimedOut::new(Some("first"), Duration::from_secs(2));

    #[derive(Debug, thiserror::Error)]
    enum Own {
        #[error(transparent)]
        Rejected(#[from] Rejected),
        #[error(transparent)]
        TimedOut(#[from] TimedOut),
        #[error("no connection")]
        Io(#[source] io::Error),
        #[error("declined")]
        Declined,
        #[error("{second}, too")]
        Both {
            second: Box<Self>,
            source: FirstError,
        },
        #[error(transparent)]
        Hidden(FirstError),
        #[error("odd")]
        Odd {
            #[source]
            nested: Rejected,
        },
    }

    impl KeepsFirst for Own {
        fn keep_first(self, first: FirstError) -> Self {
            Self::Both {
                second: Box::new(self),
                source: first,
            }
        }
    }

    /// I13: the fallback may have sent something.
    #[test]
    fn a_rejection_that_is_kept_is_not_the_rejection_of_the_call() {
        let kept = [
            FirstError::rejected(REJECTED),
            FirstError::new(REJECTED),
            FirstError::new(Own::Rejected(REJECTED)),
            FirstError::new(io::Error::from(REJECTED)),
            FirstError::new(Own::Odd { nested: REJECTED }),
            FirstError::new(anyhow::Error::from(REJECTED).context("paying")),
        ];
        for first in kept {
            assert_eq!(Rejected::find(first.get()), Some(REJECTED));
            let error = Own::Declined.keep_first(first);
            assert_eq!(Rejected::find(&error), None, "{error:?}");
            assert!(!Rejected::is_cause_of(&error));
            let source = error.source().unwrap();
            assert!(source.source().is_none(), "{error:?}");
            // Nor where it is kept once more, or shown as the error itself.
            let error = Own::Declined.keep_first(FirstError::new(error));
            assert_eq!(Rejected::find(&error), None, "{error:?}");
            let Own::Both { source, .. } = error else {
                panic!("{error:?}");
            };
            assert_eq!(Rejected::find(&Own::Hidden(source)), None);
        }
    }

    #[test]
    fn a_timeout_that_is_kept_is_found_since_nobody_knows() {
        let error = Own::Declined.keep_first(FirstError::new(TIMED_OUT));
        assert_eq!(TimedOut::find(&error), Some(TIMED_OUT));
        let first = FirstError::new(Own::TimedOut(TIMED_OUT));
        let error = Own::Rejected(REJECTED).keep_first(first);
        assert_eq!(TimedOut::find(&error), Some(TIMED_OUT));
        assert_eq!(Rejected::find(&error), None, "something was sent");
        // Also where it is kept once more.
        let error = Own::Declined.keep_first(FirstError::new(error));
        assert_eq!(TimedOut::find(&error), Some(TIMED_OUT));
    }

    #[test]
    fn what_is_kept_shows_itself_as_it_is() {
        let first = FirstError::rejected(REJECTED);
        assert_eq!(first.to_string(), REJECTED.to_string());
        assert_eq!(format!("{first:?}"), format!("FirstError({REJECTED:?})"));
        let first = FirstError::new(Own::Io(io::Error::other("reset")));
        assert_eq!(first.to_string(), "no connection");
        assert_eq!(first.source().unwrap().to_string(), "reset");
    }
}
