//! The numbers of a retry.

use std::time::Duration;

use crate::policy::LimitError;

/// The numbers of a retry.
///
/// Plain data, built in `const` or at run time; [`check`](Self::check) judges it. The keys of
/// `#[retry]` have the same names and the same defaults.
///
/// ```
/// use std::time::Duration;
/// use breakerbox::RetryPolicy;
///
/// const STRIPE: RetryPolicy = RetryPolicy::new()
///     .attempts(4)
///     .delay(Duration::from_millis(50))
///     .max_elapsed(Duration::from_secs(5))
///     .budget(0.2);
/// assert!(STRIPE.check().is_ok());
/// assert!(STRIPE.attempts(0).check().is_err());
/// ```
///
/// Two policies are equal where their effective numbers are.
#[derive(Clone, Copy, Debug)]
#[must_use = "a policy does nothing until a retry has it"]
pub struct RetryPolicy {
    attempts: u32,
    delay: Duration,
    factor: f64,
    max_delay: Option<Duration>,
    jitter: bool,
    max_elapsed: Option<Duration>,
    budget: Option<f64>,
    wait_for_circuit: bool,
}

impl RetryPolicy {
    /// Three attempts in total, with full jitter around 100 ms and then 200 ms between them.
    pub const fn new() -> Self {
        Self {
            attempts: 3,
            delay: Duration::from_millis(100),
            factor: 2.0,
            max_delay: None,
            jitter: true,
            max_elapsed: None,
            budget: None,
            wait_for_circuit: false,
        }
    }

    /// Makes the call this often at most, the first attempt among them. Default 3; 1 never
    /// makes it again.
    pub const fn attempts(mut self, in_total: u32) -> Self {
        self.attempts = in_total;
        self
    }

    /// Waits this long before the second attempt. Default 100 ms; zero tries again at once,
    /// each time.
    pub const fn delay(mut self, duration: Duration) -> Self {
        self.delay = duration;
        self
    }

    /// Each further delay is so many times longer than the one before, up to `max_delay`.
    /// From 1, default 2. It is kept in single precision: after 40 delays by a factor of 1.1
    /// they are exact to a millionth, and by one such as 1.5 or 2 to the nanosecond.
    pub const fn factor(mut self, factor: f64) -> Self {
        self.factor = factor;
        self
    }

    /// No delay of this policy is longer, whatever `factor` and `jitter` make of it. Default
    /// 10 s, or `delay` where that is longer. A service that asks for a longer wait, by
    /// [`Verdict::RetryAfter`](crate::Verdict::RetryAfter), gets it.
    pub const fn max_delay(mut self, duration: Duration) -> Self {
        self.max_delay = Some(duration);
        self
    }

    /// Full jitter: each delay is drawn evenly from above zero to its full length, half of it
    /// on average, so that callers who failed together do not come back together. Default
    /// true.
    pub const fn jitter(mut self, jitter: bool) -> Self {
        self.jitter = jitter;
        self
    }

    /// Within so long of the beginning of the first attempt, all others begin: none begins at
    /// that instant or later, and no delay is waited for that cannot end before it. It cuts no
    /// attempt short; that is what a timeout does. Default: no limit.
    pub const fn max_elapsed(mut self, duration: Duration) -> Self {
        self.max_elapsed = Some(duration);
        self
    }

    /// Of the calls to the service in the last ten seconds, at most this share is made again,
    /// or one call where that would be none: from above 0 to 1, `0.2` is one in five. Default:
    /// no limit.
    ///
    /// The budget belongs to the service and the process: the calls and the retries of all
    /// functions that name the service and have a budget are counted together, and each
    /// function keeps to its own share. A guarded call inside another is a call of its own:
    /// it counts for its own service, and where that is the same one, both count. A retry
    /// counts when its delay begins, also where it is dropped or rejected then.
    pub const fn budget(mut self, share: f64) -> Self {
        self.budget = Some(share);
        self
    }

    /// Where the circuit is open, waits once for the time that is left of the opening, if that
    /// ends in time, and asks again. After [`Verdict::OpenFor`](crate::Verdict::OpenFor) the next
    /// attempt begins when that time is over. Default: a rejection is handed on at once, and a
    /// call that led to such a verdict is not made again.
    pub const fn wait_for_circuit(mut self) -> Self {
        self.wait_for_circuit = true;
        self
    }

    /// The attempts in total.
    #[must_use]
    pub const fn get_attempts(&self) -> u32 {
        self.attempts
    }

    /// The delay before the second attempt, without jitter.
    #[must_use]
    pub const fn get_delay(&self) -> Duration {
        self.delay
    }

    /// How many times longer each further delay is.
    #[must_use]
    pub const fn get_factor(&self) -> f64 {
        self.factor
    }

    /// The longest delay.
    #[must_use]
    pub const fn get_max_delay(&self) -> Duration {
        const DEFAULT: Duration = Duration::from_secs(10);
        match self.max_delay {
            Some(duration) => duration,
            None if self.delay.as_nanos() > DEFAULT.as_nanos() => self.delay,
            None => DEFAULT,
        }
    }

    /// Whether delays are drawn.
    #[must_use]
    pub const fn get_jitter(&self) -> bool {
        self.jitter
    }

    /// The time in which all attempts begin.
    #[must_use]
    pub const fn get_max_elapsed(&self) -> Option<Duration> {
        self.max_elapsed
    }

    /// The share of calls that may be made again.
    #[must_use]
    pub const fn get_budget(&self) -> Option<f64> {
        self.budget
    }

    /// Whether it waits for an open circuit.
    #[must_use]
    pub const fn get_wait_for_circuit(&self) -> bool {
        self.wait_for_circuit
    }

    /// Says whether a retry can work with these numbers.
    ///
    /// # Errors
    ///
    /// The first key that is wrong, and what to write instead.
    pub const fn check(&self) -> Result<(), LimitError> {
        // The comparisons of floats are written so that NaN is wrong, too.
        let (key, message) = if self.attempts == 0 {
            (
                "attempts",
                "`attempts = 0` would never make the call: use 1 or more",
            )
        } else if !(self.factor >= 1.0 && self.factor.is_finite()) {
            ("factor", "`factor` is a number from 1, such as 2")
        } else if self.get_max_delay().as_nanos() < self.delay.as_nanos() {
            ("max_delay", "`max_delay` is shorter than `delay`")
        } else if !is_share(self.budget) {
            (
                "budget",
                "`budget` is a share above 0 and up to 1, such as 0.2",
            )
        } else if let Some(Duration::ZERO) = self.max_elapsed {
            ("max_elapsed", "`max_elapsed` must be longer than zero")
        } else if self.is_over_before_the_first_delay() {
            (
                "max_elapsed",
                "`max_elapsed` is over before the first `delay` is, so no call would ever be \
                 made again: shorten `delay`",
            )
        } else {
            return Ok(());
        };
        Err(LimitError::new(key, message))
    }

    /// With jitter a delay may be short enough.
    const fn is_over_before_the_first_delay(&self) -> bool {
        match self.max_elapsed {
            Some(max_elapsed) if self.attempts > 1 && !self.jitter => {
                self.delay.as_nanos() >= max_elapsed.as_nanos()
            }
            Some(_) | None => false,
        }
    }
}

/// Above 0 and up to 1, or not written. Not a number is neither.
const fn is_share(share: Option<f64>) -> bool {
    match share {
        None => true,
        Some(share) => share > 0.0 && share <= 1.0,
    }
}

impl PartialEq for RetryPolicy {
    fn eq(&self, other: &Self) -> bool {
        self.attempts == other.attempts
            && self.delay == other.delay
            && self.factor == other.factor
            && self.get_max_delay() == other.get_max_delay()
            && self.jitter == other.jitter
            && self.max_elapsed == other.max_elapsed
            && self.budget == other.budget
            && self.wait_for_circuit == other.wait_for_circuit
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: RetryPolicy = RetryPolicy::new();

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[track_caller]
    fn is_refused(policy: RetryPolicy, key: &str) {
        let error = policy.check().expect_err("refused");
        assert_eq!(error.key(), key);
        assert!(error.message().contains(&format!("`{key}")), "{error}");
        assert_eq!(error.to_string(), error.message());
    }

    #[test]
    fn policies_are_equal_where_their_effective_numbers_are() {
        assert_eq!(POLICY.max_delay(seconds(10)).attempts(3), POLICY);
        for other in [
            POLICY.attempts(4),
            POLICY.delay(seconds(1)),
            POLICY.factor(3.0),
            POLICY.max_delay(seconds(11)),
            POLICY.jitter(false),
            POLICY.max_elapsed(seconds(1)),
            POLICY.budget(0.5),
            POLICY.wait_for_circuit(),
        ] {
            assert_ne!(other, POLICY);
        }
    }

    #[test]
    fn the_defaults_are_as_documented() {
        assert_eq!(POLICY.get_attempts(), 3);
        assert_eq!(POLICY.get_delay(), Duration::from_millis(100));
        assert_eq!(POLICY.get_factor(), 2.0);
        assert_eq!(POLICY.get_max_delay(), seconds(10));
        assert!(POLICY.get_jitter());
        assert_eq!(POLICY.get_max_elapsed(), None);
        assert_eq!(POLICY.get_budget(), None);
        assert!(!POLICY.get_wait_for_circuit());
        assert_eq!(POLICY.check(), Ok(()));
        assert_eq!(RetryPolicy::default(), POLICY);
    }

    #[test]
    fn what_is_written_is_read() {
        const WRITTEN: RetryPolicy = POLICY
            .attempts(7)
            .delay(seconds(2))
            .factor(1.5)
            .max_delay(seconds(3))
            .jitter(false)
            .max_elapsed(seconds(60))
            .budget(0.1)
            .wait_for_circuit();
        assert_eq!(WRITTEN.get_attempts(), 7);
        assert_eq!(WRITTEN.get_delay(), seconds(2));
        assert_eq!(WRITTEN.get_factor(), 1.5);
        assert_eq!(WRITTEN.get_max_delay(), seconds(3));
        assert!(!WRITTEN.get_jitter());
        assert_eq!(WRITTEN.get_max_elapsed(), Some(seconds(60)));
        assert_eq!(WRITTEN.get_budget(), Some(0.1));
        assert!(WRITTEN.get_wait_for_circuit());
        assert_eq!(WRITTEN.check(), Ok(()));
    }

    /// B096
    #[test]
    fn no_attempts_are_refused() {
        is_refused(POLICY.attempts(0), "attempts");
        assert_eq!(POLICY.attempts(1).check(), Ok(()));
    }

    /// B090
    #[test]
    fn a_longest_delay_below_the_first_is_refused() {
        let policy = POLICY.delay(seconds(5));
        is_refused(policy.max_delay(seconds(1)), "max_delay");
        assert_eq!(policy.max_delay(seconds(5)).check(), Ok(()));
    }

    #[test]
    fn a_long_delay_is_its_own_longest_one() {
        let policy = POLICY.delay(seconds(11));
        assert_eq!(policy.get_max_delay(), seconds(11));
        assert_eq!(policy.check(), Ok(()));
    }

    /// B093
    #[test]
    fn a_delay_of_zero_is_asked_for() {
        assert_eq!(POLICY.delay(Duration::ZERO).check(), Ok(()));
    }

    #[test]
    fn a_factor_that_shrinks_or_is_no_number_is_refused() {
        for factor in [0.0, -2.0, 0.999, f64::NAN, f64::INFINITY] {
            is_refused(POLICY.factor(factor), "factor");
        }
        assert_eq!(POLICY.factor(1.0).check(), Ok(()));
    }

    #[test]
    fn a_budget_that_is_no_share_is_refused() {
        for share in [0.0, -0.1, 1.001, f64::NAN, f64::INFINITY] {
            is_refused(POLICY.budget(share), "budget");
        }
        assert_eq!(POLICY.budget(1.0).check(), Ok(()));
    }

    #[test]
    fn a_total_in_which_nothing_can_be_made_again_is_refused() {
        is_refused(POLICY.max_elapsed(Duration::ZERO), "max_elapsed");
        let policy = POLICY.max_elapsed(POLICY.get_delay());
        is_refused(policy.jitter(false), "max_elapsed");
        assert_eq!(policy.check(), Ok(()));
        assert_eq!(policy.jitter(false).attempts(1).check(), Ok(()));
    }
}
