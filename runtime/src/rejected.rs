//! The answer to a call that was not made.

use std::error::Error;
use std::fmt;
use std::hint::black_box;
use std::io;
use std::time::Duration;

#[cfg(feature = "rate-limit")]
use crate::clock::nanos;
use crate::reason::Packed;
use crate::reason::Reason;

/// The call was not made: nothing of it left this process.
///
/// So another provider may be tried at once, also where money moves. It is small
/// and `Copy`, and making one allocates nothing.
///
/// The call is the one to [`service`](Self::service). A function that was called may
/// itself call other guarded functions, and where it passes on their rejection with `?`,
/// its caller gets that in the same variant: compare the service, or give the rejections
/// of inner calls a variant of their own.
///
/// An error type that can hold one needs one variant:
///
/// ```
/// #[derive(Debug, thiserror::Error)]
/// enum PaymentError {
///     #[error(transparent)]
///     Unavailable(#[from] breakerbox::Rejected),
///     #[error("card declined")]
///     Declined,
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Rejected {
    cause: NotSent,
}

/// Why a call was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RejectedKind {
    /// The circuit is open.
    Open,
    /// Somebody has forced the circuit open.
    ForcedOpen,
    /// The circuit is half-open and its probes are out.
    ProbesBusy,
    /// The circuit has closed again and does not admit all calls yet.
    Ramp,
    /// As many calls run and wait as the bulkhead admits, or none of them ended in time.
    BulkheadFull,
    /// The rate limit is used up, and there is no token in time.
    RateLimited,
    /// A timeout around the call struck while it waited for leave, or would have.
    Deadline,
}

/// What a [`Rejected`] holds, and also its `source`. A wrapper that shows itself as
/// transparent hides the error it wraps, but it cannot hide that error's source:
/// this is how [`Rejected::find`] sees through it.
///
/// It is as small as it can be, since a rejected call costs little more than to hand it on.
#[derive(Clone, Copy, PartialEq, Eq)]
struct NotSent {
    service: &'static &'static str,
    reason: Packed,
    answer: Answer,
}

/// The kind, in three bits, and the nanoseconds until a call is admitted above them.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Answer(u64);

impl Answer {
    const KIND_BITS: u32 = 3;

    /// Nobody can know.
    const UNKNOWN: u64 = u64::MAX >> Self::KIND_BITS;

    const fn new(kind: RejectedKind, left: u64) -> Self {
        // Beyond seventy years all waits are alike.
        let left = if left < Self::UNKNOWN {
            left
        } else {
            Self::UNKNOWN - 1
        };
        Self(left << Self::KIND_BITS | kind as u64)
    }

    const fn unknown(kind: RejectedKind) -> Self {
        Self(Self::UNKNOWN << Self::KIND_BITS | kind as u64)
    }

    const fn kind(self) -> RejectedKind {
        match self.0 & ((1 << Self::KIND_BITS) - 1) {
            0 => RejectedKind::Open,
            1 => RejectedKind::ForcedOpen,
            2 => RejectedKind::ProbesBusy,
            3 => RejectedKind::Ramp,
            4 => RejectedKind::BulkheadFull,
            5 => RejectedKind::RateLimited,
            _ => RejectedKind::Deadline,
        }
    }

    const fn left(self) -> Option<Duration> {
        match self.0 >> Self::KIND_BITS {
            Self::UNKNOWN => None,
            left => Some(Duration::from_nanos(left)),
        }
    }
}

impl Rejected {
    /// Open for so many nanoseconds.
    #[inline]
    pub(crate) const fn open(service: &'static &'static str, reason: Packed, left: u64) -> Self {
        let answer = Answer::new(RejectedKind::Open, left);
        Self {
            cause: NotSent {
                service,
                reason,
                answer,
            },
        }
    }

    /// For a time that nobody knows.
    pub(crate) const fn of_kind(
        service: &'static &'static str,
        kind: RejectedKind,
        reason: Packed,
    ) -> Self {
        Self {
            cause: NotSent {
                service,
                reason,
                answer: Answer::unknown(kind),
            },
        }
    }

    /// The same, put together from its words, each of which the compiler has to take alone.
    #[inline(always)]
    pub(crate) const fn in_words(self) -> Self {
        let NotSent {
            service,
            reason,
            answer,
        } = self.cause;
        Self {
            cause: NotSent {
                service,
                reason: Packed {
                    numbers: black_box(reason.numbers),
                    limit: black_box(reason.limit),
                },
                answer: Answer(black_box(answer.0)),
            },
        }
    }

    /// The bulkhead has no place, and nobody knows when the next call in it ends.
    pub(crate) const fn bulkhead_full(service: &'static &'static str) -> Self {
        Self::of_kind(service, RejectedKind::BulkheadFull, Packed::NONE)
    }

    /// There is a token after exactly so long.
    #[cfg(feature = "rate-limit")]
    pub(crate) fn rate_limited(service: &'static &'static str, wait: Duration) -> Self {
        Self::after(service, RejectedKind::RateLimited, wait)
    }

    /// A timeout struck while the call waited for something whose end nobody knows.
    pub(crate) const fn deadline(service: &'static &'static str) -> Self {
        Self::of_kind(service, RejectedKind::Deadline, Packed::NONE)
    }

    /// A timeout strikes before there is a token, which is after exactly so long.
    #[cfg(feature = "rate-limit")]
    pub(crate) fn deadline_before(service: &'static &'static str, wait: Duration) -> Self {
        Self::after(service, RejectedKind::Deadline, wait)
    }

    #[cfg(feature = "rate-limit")]
    fn after(service: &'static &'static str, kind: RejectedKind, wait: Duration) -> Self {
        Self {
            cause: NotSent {
                service,
                reason: Packed::NONE,
                answer: Answer::new(kind, nanos(wait)),
            },
        }
    }

    /// The service that was not called.
    #[must_use]
    pub const fn service(&self) -> &'static str {
        self.cause.service
    }

    /// Why the call was not made.
    #[must_use]
    pub const fn kind(&self) -> RejectedKind {
        self.cause.answer.kind()
    }

    /// How long, from the moment of the rejection, until a call is admitted. For an open
    /// circuit it is never too short, and up to 50 ms too long where a cheap clock answered;
    /// in tests it is exact. For a rate limit it is the time until there is a token, counted
    /// in those who wait for one before this call. `None` where nobody can know, since the
    /// circuit is forced open, ramps up, or has its probes out, or the bulkhead is full: a
    /// worker waits a short time with jitter then, say 100 ms.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        self.cause.answer.left()
    }

    /// The rule that opened the circuit, with the numbers it decided on.
    #[must_use]
    pub const fn reason(&self) -> Option<Reason> {
        self.cause.reason.unpack()
    }

    /// Finds a rejection in `error` or anywhere in the chain of its sources, also
    /// where a wrapper hides it: `#[error(transparent)]`, `io::Error`, `anyhow`.
    ///
    /// ```
    /// use breakerbox::Rejected;
    ///
    /// fn is_rejection(error: &anyhow::Error) -> bool {
    ///     Rejected::find(error.as_ref()).is_some()
    /// }
    /// ```
    #[must_use]
    pub fn find(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(rejected) = error.downcast_ref::<Self>() {
                return Some(*rejected);
            }
            if let Some(&cause) = error.downcast_ref::<NotSent>() {
                return Some(Self { cause });
            }
            next = error.source();
        }
        None
    }

    /// Whether a rejection is behind `error`: an open circuit deeper down, not an
    /// answer of the service called.
    ///
    /// Made for `ignores`, so that open circuits do not cascade:
    ///
    /// ```
    /// # use breakerbox::{circuit_breaker, Rejected};
    /// # #[derive(Debug, thiserror::Error)]
    /// # #[error(transparent)]
    /// # struct OrderError(#[from] Rejected);
    /// #[circuit_breaker(service = "orders", ignores = Rejected::is_cause_of)]
    /// async fn place_order() -> Result<(), OrderError> {
    ///     // calls other guarded functions
    /// #   Ok(())
    /// }
    /// ```
    ///
    /// It is for types that implement [`Error`]. `anyhow::Error` and boxed errors do not,
    /// and are asked for what is in them:
    ///
    /// ```
    /// # use breakerbox::{circuit_breaker, Rejected};
    /// #[circuit_breaker(service = "orders", ignores = |error| Rejected::find(error.as_ref()).is_some())]
    /// async fn place_order() -> anyhow::Result<()> {
    ///     // calls other guarded functions
    /// #   Ok(())
    /// }
    ///
    /// #[circuit_breaker(service = "orders", ignores = |error| Rejected::find(error.as_ref()).is_some())]
    /// async fn cancel_order() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    ///     // calls other guarded functions
    /// #   Ok(())
    /// }
    /// ```
    #[must_use]
    pub fn is_cause_of<E: Error + 'static>(error: &E) -> bool {
        Self::find(error).is_some()
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let service = self.service();
        match self.kind() {
            RejectedKind::Open => {
                write!(f, "circuit `{service}` is open")?;
                if let Some(reason) = self.reason() {
                    write!(f, " after {reason}")?;
                }
            }
            RejectedKind::ForcedOpen => write!(f, "circuit `{service}` is forced open")?,
            RejectedKind::ProbesBusy => write!(
                f,
                "circuit `{service}` is half-open and its probes are still out"
            )?,
            RejectedKind::Ramp => write!(
                f,
                "circuit `{service}` has closed again and does not admit all calls yet"
            )?,
            RejectedKind::BulkheadFull => write!(
                f,
                "bulkhead `{service}` is full: a call gets in when another has ended"
            )?,
            RejectedKind::RateLimited => write!(f, "rate limit of `{service}` is used up")?,
            RejectedKind::Deadline => write!(
                f,
                "timeout around the call to `{service}` left no time to make it"
            )?,
        }
        match self.retry_after() {
            Some(left) => write!(f, ", retry in {left:.1?}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rejected")
            .field("service", &self.service())
            .field("kind", &self.kind())
            .field("reason", &self.reason())
            .field("retry_after", &self.retry_after())
            .finish()
    }
}

impl Error for Rejected {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.cause)
    }
}

impl fmt::Display for NotSent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing of this call was sent")
    }
}

impl fmt::Debug for NotSent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NotSent")
    }
}

impl Error for NotSent {}

/// The kind is [`io::ErrorKind::Other`]: no kind of I/O error says that nothing was
/// tried, and some of the others make callers try again at once.
impl From<Rejected> for io::Error {
    fn from(rejected: Rejected) -> Self {
        Self::other(rejected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REASON: Reason = Reason::Threshold {
        failures: 5,
        threshold: 5,
    };
    const REJECTED: Rejected = Rejected::open(&"stripe", REASON.pack(), 59_800_000_000);

    #[derive(Debug, thiserror::Error)]
    enum Wrapper {
        #[error(transparent)]
        Transparent(#[from] Rejected),
        #[error("while paying")]
        Source(#[source] Rejected),
    }

    #[test]
    fn a_rejection_tells_a_person_what_to_do() {
        assert_eq!(
            REJECTED.to_string(),
            "circuit `stripe` is open after 5 failures in a row (threshold 5), retry in 59.8s"
        );
        assert_eq!(
            Rejected::of_kind(&"stripe", RejectedKind::ProbesBusy, Packed::NONE).to_string(),
            "circuit `stripe` is half-open and its probes are still out"
        );
        assert_eq!(
            Rejected::bulkhead_full(&"stripe").to_string(),
            "bulkhead `stripe` is full: a call gets in when another has ended"
        );
        assert_eq!(
            Rejected::deadline(&"stripe").to_string(),
            "timeout around the call to `stripe` left no time to make it"
        );
    }

    #[cfg(feature = "rate-limit")]
    #[test]
    fn a_rejection_by_a_rate_limit_says_when_to_retry() {
        let wait = Duration::from_millis(1_500);
        let limited = Rejected::rate_limited(&"stripe", wait);
        assert_eq!(limited.retry_after(), Some(wait));
        assert_eq!(
            limited.to_string(),
            "rate limit of `stripe` is used up, retry in 1.5s"
        );
        let struck = Rejected::deadline_before(&"stripe", wait);
        assert_eq!(struck.kind(), RejectedKind::Deadline);
        assert_eq!(struck.retry_after(), Some(wait));
    }

    /// B083
    #[test]
    fn a_rejection_is_found_behind_every_wrapper() {
        assert_eq!(Rejected::find(&REJECTED), Some(REJECTED));
        assert_eq!(
            Rejected::find(&Wrapper::Transparent(REJECTED)),
            Some(REJECTED)
        );
        assert_eq!(Rejected::find(&Wrapper::Source(REJECTED)), Some(REJECTED));
        assert_eq!(Rejected::find(&io::Error::from(REJECTED)), Some(REJECTED));
        let twice = io::Error::other(Wrapper::Transparent(REJECTED));
        assert_eq!(Rejected::find(&twice), Some(REJECTED));
        let boxed: Box<dyn Error + Send + Sync> = REJECTED.into();
        assert_eq!(Rejected::find(&*boxed), Some(REJECTED));
        let anyhow = anyhow::Error::from(Wrapper::Transparent(REJECTED)).context("paying");
        assert_eq!(Rejected::find(anyhow.as_ref()), Some(REJECTED));
        assert_eq!(Rejected::find(&io::Error::other("no")), None);
    }

    #[test]
    fn a_rejection_is_small_enough_to_copy() {
        assert_eq!(size_of::<Rejected>(), 32);
    }

    #[test]
    fn what_is_left_and_the_kind_share_a_word() {
        for kind in [
            RejectedKind::Open,
            RejectedKind::ForcedOpen,
            RejectedKind::ProbesBusy,
            RejectedKind::Ramp,
            RejectedKind::BulkheadFull,
            RejectedKind::RateLimited,
            RejectedKind::Deadline,
        ] {
            assert_eq!(Answer::unknown(kind).kind(), kind);
            assert_eq!(Answer::unknown(kind).left(), None);
            let longest = Answer::new(kind, u64::MAX);
            assert_eq!(longest.kind(), kind);
            assert!(longest.left() > Some(Duration::from_secs(70 * 365 * 86_400)));
            let left = Answer::new(kind, 7).left();
            assert_eq!(left, Some(Duration::from_nanos(7)));
        }
    }
}
