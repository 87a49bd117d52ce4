//! The answer to a call that was given up while it ran.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

/// The call was made and given up: what became of it is not known.
///
/// It is not a [`Rejected`](crate::Rejected), after which nothing has happened: the service
/// may have carried the call out, and may still do so. Where money moves, ask the same
/// service under the same idempotency key, and do not turn to another.
///
/// An error type that can hold one needs one variant:
///
/// ```
/// #[derive(Debug, thiserror::Error)]
/// enum PaymentError {
///     #[error(transparent)]
///     Unavailable(#[from] breakerbox::Rejected), // nothing was sent
///     #[error(transparent)]
///     Unknown(#[from] breakerbox::TimedOut), // keep it as pending, and ask
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TimedOut {
    cause: GivenUp,
}

/// What a [`TimedOut`] holds, and also its `source`, which a transparent wrapper cannot hide.
#[derive(Clone, Copy, PartialEq, Eq)]
struct GivenUp {
    service: Option<&'static str>,
    limit: Duration,
}

impl TimedOut {
    pub(crate) const fn new(service: Option<&'static str>, limit: Duration) -> Self {
        Self {
            cause: GivenUp { service, limit },
        }
    }

    /// The service that was called, where the function names one.
    #[must_use]
    pub const fn service(&self) -> Option<&'static str> {
        self.cause.service
    }

    /// How long it was waited for.
    #[must_use]
    pub const fn limit(&self) -> Duration {
        self.cause.limit
    }

    /// Finds a timeout of this crate in `error` or anywhere in the chain of its sources.
    ///
    /// ```
    /// use breakerbox::TimedOut;
    ///
    /// fn may_have_happened(error: &anyhow::Error) -> bool {
    ///     TimedOut::find(error.as_ref()).is_some()
    /// }
    /// ```
    #[must_use]
    pub fn find(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(timed_out) = error.downcast_ref::<Self>() {
                return Some(*timed_out);
            }
            if let Some(&cause) = error.downcast_ref::<GivenUp>() {
                return Some(Self { cause });
            }
            next = error.source();
        }
        None
    }
}

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = self.limit();
        match self.service() {
            Some(service) => write!(f, "`{service}` gave no answer within {limit:?}")?,
            None => write!(f, "no answer within {limit:?}")?,
        }
        f.write_str("; the call may have been carried out")
    }
}

impl fmt::Debug for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimedOut")
            .field("service", &self.service())
            .field("limit", &self.limit())
            .finish()
    }
}

impl Error for TimedOut {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.cause)
    }
}

impl fmt::Display for GivenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what became of the call is not known")
    }
}

impl fmt::Debug for GivenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GivenUp")
    }
}

impl Error for GivenUp {}

/// The kind is [`io::ErrorKind::TimedOut`].
impl From<TimedOut> for io::Error {
    fn from(timed_out: TimedOut) -> Self {
        Self::new(io::ErrorKind::TimedOut, timed_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMED_OUT: TimedOut = TimedOut::new(Some("stripe"), Duration::from_secs(8));

    #[derive(Debug, thiserror::Error)]
    #[error(transparent)]
    struct Transparent(#[from] TimedOut);

    #[test]
    fn a_timeout_says_that_the_call_may_have_been_carried_out() {
        assert_eq!(
            TIMED_OUT.to_string(),
            "`stripe` gave no answer within 8s; the call may have been carried out"
        );
        assert_eq!(
            TimedOut::new(None, Duration::from_millis(5)).to_string(),
            "no answer within 5ms; the call may have been carried out"
        );
    }

    #[test]
    fn a_timeout_is_found_behind_every_wrapper() {
        assert_eq!(TimedOut::find(&TIMED_OUT), Some(TIMED_OUT));
        assert_eq!(TimedOut::find(&Transparent(TIMED_OUT)), Some(TIMED_OUT));
        let io = io::Error::from(TIMED_OUT);
        assert_eq!(io.kind(), io::ErrorKind::TimedOut);
        assert_eq!(TimedOut::find(&io), Some(TIMED_OUT));
        let anyhow = anyhow::Error::from(Transparent(TIMED_OUT)).context("paying");
        assert_eq!(TimedOut::find(anyhow.as_ref()), Some(TIMED_OUT));
        assert_eq!(TimedOut::find(&io::Error::other("no")), None);
    }
}
