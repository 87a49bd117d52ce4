//! The numbers of one rate limit.

use std::fmt;
use std::time::Duration;

use crate::policy::LimitError;

/// The numbers of one rate limit: a bucket of tokens, one for each call.
///
/// Plain data, built in `const` or at run time; [`check`](Self::check) judges it. The
/// attribute's keys have the same names and the same defaults.
///
/// ```
/// use std::time::Duration;
/// use breakerbox::RatePolicy;
///
/// // A hundred a second, of which twenty may come at once.
/// const MAIL: RatePolicy = RatePolicy::new(100, Duration::from_secs(1)).burst(20);
/// assert!(MAIL.check().is_ok());
/// assert_eq!(MAIL.get_interval(), Duration::from_millis(10));
///
/// assert!(RatePolicy::new(0, Duration::from_secs(1)).check().is_err());
/// ```
///
/// # What is promised
///
/// The bucket holds `burst` tokens, is full at first, and gets one back every `per / number`
/// until it is full again. So a stretch of time sees at most `burst` calls and one more for
/// every `per / number` of it: up to `burst + number` in `per`, which with the default burst
/// is twice the `number`. Only `burst = 1` spaces calls evenly and keeps any `per` to `number`
/// calls, as far as a timer that wakes late lets it reach them.
///
/// Two policies are equal where their effective numbers are.
#[derive(Clone, Copy, Debug)]
#[must_use = "a policy does nothing until a rate limiter has it"]
pub struct RatePolicy {
    number: u32,
    per: Duration,
    burst: Option<u32>,
    max_wait: Duration,
}

impl RatePolicy {
    /// The longest that an empty bucket can take to fill.
    pub const MAX_FILL: Duration = Duration::from_secs(100 * 365 * 86_400);

    /// The longest that a call can wait.
    pub const MAX_WAIT: Duration = Duration::from_secs(86_400);

    /// So many calls in so much time, and nobody waits. There is no number for "unlimited":
    /// leave the rate limit out.
    pub const fn new(number: u32, per: Duration) -> Self {
        Self {
            number,
            per,
            burst: None,
            max_wait: Duration::ZERO,
        }
    }

    /// So many calls may come at once after a pause. Default: the number of the rate.
    pub const fn burst(mut self, calls: u32) -> Self {
        self.burst = Some(calls);
        self
    }

    /// A call that finds no token waits for one in turn, at most so long; who could not get one
    /// by then, with those ahead counted in, is refused at once. Default 0: nobody waits.
    pub const fn max_wait(mut self, duration: Duration) -> Self {
        self.max_wait = duration;
        self
    }

    /// The calls that [`get_per`](Self::get_per) brings tokens for.
    #[must_use]
    pub const fn get_number(&self) -> u32 {
        self.number
    }

    /// The time in which the bucket gets `number` tokens.
    #[must_use]
    pub const fn get_per(&self) -> Duration {
        self.per
    }

    /// The tokens that the bucket holds.
    #[must_use]
    pub const fn get_burst(&self) -> u32 {
        match self.burst {
            Some(calls) => calls,
            None => self.number,
        }
    }

    /// How long a call waits at most.
    #[must_use]
    pub const fn get_max_wait(&self) -> Duration {
        self.max_wait
    }

    /// How long one token takes: `per / number`, and up to a nanosecond longer, so that the
    /// rate is never exceeded.
    #[must_use]
    pub const fn get_interval(&self) -> Duration {
        if self.number == 0 {
            return Duration::MAX;
        }
        let nanos = self.per.as_nanos().div_ceil(self.number as u128);
        if nanos > u64::MAX as u128 {
            return Duration::MAX;
        }
        Duration::from_nanos(nanos as u64)
    }

    /// Says whether a rate limiter can work with these numbers.
    ///
    /// # Errors
    ///
    /// The first key that is wrong, and what to write instead.
    pub const fn check(&self) -> Result<(), LimitError> {
        let (key, message) = if self.number == 0 {
            (
                "rate",
                "a rate of 0 would refuse every call: use 1 or more, or leave the rate limit out \
                 for no limit",
            )
        } else if self.per.is_zero() {
            (
                "rate",
                "the time of a rate must be longer than zero: write a rate such as \"100/s\"",
            )
        } else if self.number as u128 > self.per.as_nanos() {
            (
                "rate",
                "a rate can be at most one call a nanosecond: leave the rate limit out for no \
                 limit",
            )
        } else if self.get_burst() == 0 {
            (
                "burst",
                "`burst = 0` would refuse every call: use 1 or more",
            )
        } else if self.nanos_to_fill() > Self::MAX_FILL.as_nanos() {
            (
                "burst",
                "the bucket would take more than 100 years to fill: use a smaller `burst` or a \
                 higher rate",
            )
        } else if self.max_wait.as_nanos() > Self::MAX_WAIT.as_nanos() {
            ("max_wait", "`max_wait` can be at most 24 hours")
        } else {
            return Ok(());
        };
        Err(LimitError::new(key, message))
    }

    /// Cannot overflow: both factors are below 2^64, or the interval is the longest duration
    /// there is, of 2^94 ns.
    const fn nanos_to_fill(&self) -> u128 {
        self.get_interval().as_nanos() * self.get_burst() as u128
    }
}

impl PartialEq for RatePolicy {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
            && self.per == other.per
            && self.get_burst() == other.get_burst()
            && self.max_wait == other.max_wait
    }
}

impl Eq for RatePolicy {}

/// As it is written in the attribute, with the defaults.
impl fmt::Display for RatePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.number;
        match (self.per.as_secs(), self.per.subsec_nanos()) {
            (1, 0) => write!(f, "\"{number}/s\"")?,
            (60, 0) => write!(f, "\"{number}/min\"")?,
            (3_600, 0) => write!(f, "\"{number}/h\"")?,
            _ => write!(f, "\"{number}/{:?}\"", self.per)?,
        }
        write!(f, ", burst = {}", self.get_burst())?;
        if self.max_wait.is_zero() {
            Ok(())
        } else {
            write!(f, ", max_wait = \"{:?}\"", self.max_wait)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn wrong_key(policy: RatePolicy) -> Option<&'static str> {
        policy.check().err().map(|error| error.key())
    }

    /// B110
    #[test]
    fn a_rate_of_none_is_refused_and_says_what_to_write() {
        let error = RatePolicy::new(0, SECOND).check().unwrap_err();
        assert_eq!(
            error.to_string(),
            "a rate of 0 would refuse every call: use 1 or more, or leave the rate limit out for \
             no limit"
        );
        assert_eq!(wrong_key(RatePolicy::new(1, Duration::ZERO)), Some("rate"));
        assert_eq!(
            wrong_key(RatePolicy::new(1, SECOND).burst(0)),
            Some("burst")
        );
    }

    #[test]
    fn a_rate_that_nanoseconds_cannot_tell_is_refused() {
        let per = Duration::from_nanos(1_000);
        assert_eq!(wrong_key(RatePolicy::new(1_000, per)), None);
        assert_eq!(wrong_key(RatePolicy::new(1_001, per)), Some("rate"));
    }

    #[test]
    fn a_bucket_that_nobody_sees_full_is_refused() {
        let century = RatePolicy::new(1, RatePolicy::MAX_FILL);
        assert_eq!(wrong_key(century), None);
        assert_eq!(wrong_key(century.burst(2)), Some("burst"));
        let longest = RatePolicy::new(1, Duration::MAX);
        assert_eq!(wrong_key(longest), Some("burst"));
        assert_eq!(wrong_key(longest.burst(u32::MAX)), Some("burst"));
        let largest = RatePolicy::new(u32::MAX, Duration::MAX);
        assert_eq!(wrong_key(largest), Some("burst"));
    }

    #[test]
    fn an_endless_wait_is_refused() {
        let rate = RatePolicy::new(1, SECOND);
        assert_eq!(wrong_key(rate.max_wait(RatePolicy::MAX_WAIT)), None);
        assert_eq!(wrong_key(rate.max_wait(Duration::MAX)), Some("max_wait"));
    }

    #[test]
    fn an_interval_that_does_not_come_out_even_is_the_longer_one() {
        let third = RatePolicy::new(3, SECOND * 10).get_interval();
        assert_eq!(third, Duration::from_nanos(3_333_333_334));
        let even = RatePolicy::new(100, SECOND).get_interval();
        assert_eq!(even, Duration::from_millis(10));
    }

    #[test]
    fn policies_are_equal_where_their_numbers_are() {
        let rate = RatePolicy::new(100, SECOND);
        assert_eq!(rate, rate.burst(100));
        assert_ne!(rate, rate.burst(20));
        assert_ne!(rate, RatePolicy::new(200, SECOND * 2));
        assert_ne!(rate, rate.max_wait(SECOND));
    }

    #[test]
    fn a_policy_reads_as_in_the_attribute() {
        let rate = RatePolicy::new(100, SECOND);
        assert_eq!(rate.to_string(), "\"100/s\", burst = 100");
        let rate = RatePolicy::new(3, SECOND * 10);
        assert_eq!(
            rate.burst(1).max_wait(SECOND).to_string(),
            "\"3/10s\", burst = 1, max_wait = \"1s\""
        );
        let minute = RatePolicy::new(9, SECOND * 60);
        assert_eq!(minute.to_string(), "\"9/min\", burst = 9");
    }
}
