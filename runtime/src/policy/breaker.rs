//! The numbers of one circuit breaker.

use std::time::Duration;

/// The numbers of one circuit breaker.
///
/// Plain data, built in `const` or at run time; [`check`](Self::check) judges it.
/// The attribute's keys have the same names and the same defaults.
///
/// ```
/// use std::time::Duration;
/// use breakerbox::Policy;
///
/// const STRIPE: Policy = Policy::new().threshold(3).cooldown(Duration::from_secs(20));
/// assert!(STRIPE.check().is_ok());
/// assert!(STRIPE.threshold(0).check().is_err());
/// ```
///
/// Two policies are equal where their effective numbers are.
#[derive(Clone, Copy, Debug)]
#[must_use = "a policy does nothing until a breaker has it"]
pub struct Policy {
    threshold: u32,
    cooldown: Duration,
    probes: Option<u32>,
    probe_concurrency: Option<u32>,
    close_after: Option<u32>,
    probe_timeout: Duration,
    max_open_for: Duration,
    on_cancel: OnCancel,
}

/// What a call counts as whose future was dropped before it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnCancel {
    /// Nothing: it neither counts nor resets.
    #[default]
    Ignore,
    /// A failure.
    Failure,
    /// A failure if it ran strictly longer than this, else nothing.
    After(Duration),
}

/// A number that no breaker can work with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PolicyError {
    key: &'static str,
    message: &'static str,
}

impl PolicyError {
    /// The key to change.
    #[must_use]
    pub const fn key(&self) -> &'static str {
        self.key
    }

    /// What is wrong and what to write.
    #[must_use]
    pub const fn message(&self) -> &'static str {
        self.message
    }
}

impl Policy {
    /// The largest threshold: what the bits of the packed word can count.
    pub const MAX_THRESHOLD: u32 = (1 << 19) - 1;

    /// The most probes that a round can have.
    pub const MAX_PROBES: u32 = Self::MAX_THRESHOLD / 2;

    /// The defaults: opens at the 5th failure in a row, for 60 s, then one probe.
    pub const fn new() -> Self {
        Self {
            threshold: 5,
            cooldown: Duration::from_secs(60),
            probes: None,
            probe_concurrency: None,
            close_after: None,
            probe_timeout: Duration::from_secs(30),
            max_open_for: Duration::from_secs(3600),
            on_cancel: OnCancel::Ignore,
        }
    }

    /// Opens at this many failures in a row. Default 5.
    pub const fn threshold(mut self, failures: u32) -> Self {
        self.threshold = failures;
        self
    }

    /// Stays open this long. Default 60 s.
    pub const fn cooldown(mut self, duration: Duration) -> Self {
        self.cooldown = duration;
        self
    }

    /// A half-open round admits this many calls in total. Default 1, or
    /// `close_after` where only that is given.
    pub const fn probes(mut self, calls: u32) -> Self {
        self.probes = Some(calls);
        self
    }

    /// So many probes of a round may be in flight at a time. Default: all of the round.
    /// Probes of an earlier round that are still out are not counted.
    pub const fn probe_concurrency(mut self, calls: u32) -> Self {
        self.probe_concurrency = Some(calls);
        self
    }

    /// So many successful probes close the circuit. Default: all of the round.
    pub const fn close_after(mut self, successes: u32) -> Self {
        self.close_after = Some(successes);
        self
    }

    /// A probe of this age frees its place for another. Default 30 s.
    ///
    /// It ends no call: a late probe still votes while its round lasts. When
    /// `max(2, probes)` probes of a round have hung without a vote, the circuit opens
    /// again, as soon as a call comes or one of them is dropped.
    pub const fn probe_timeout(mut self, duration: Duration) -> Self {
        self.probe_timeout = duration;
        self
    }

    /// The longest opening that [`Verdict::RetryAfter`](crate::Verdict::RetryAfter)
    /// and [`Verdict::OpenFor`](crate::Verdict::OpenFor) can ask for. Default 1 h.
    pub const fn max_open_for(mut self, duration: Duration) -> Self {
        self.max_open_for = duration;
        self
    }

    /// What a dropped call counts as. Default: nothing.
    pub const fn on_cancel(mut self, on_cancel: OnCancel) -> Self {
        self.on_cancel = on_cancel;
        self
    }

    /// Says whether a breaker can work with these numbers.
    ///
    /// # Errors
    ///
    /// The first key that is wrong, and what to write instead.
    pub const fn check(&self) -> Result<(), PolicyError> {
        let (key, message) = if self.threshold == 0 {
            (
                "threshold",
                "`threshold = 0` would open the circuit before any call: use 1 or more",
            )
        } else if self.threshold > Self::MAX_THRESHOLD {
            ("threshold", "`threshold` can be at most 524287")
        } else if self.cooldown.is_zero() {
            ("cooldown", "`cooldown` must be longer than zero")
        } else if matches!(self.probes, Some(0)) {
            (
                "probes",
                "`probes = 0` would keep the circuit open for ever: use 1 or more",
            )
        } else if self.get_probes() > Self::MAX_PROBES {
            ("probes", "`probes` can be at most 262143")
        } else if matches!(self.close_after, Some(0)) {
            (
                "close_after",
                "`close_after = 0` would close the circuit without a probe: use 1 or more",
            )
        } else if self.get_close_after() > self.get_probes() {
            (
                "close_after",
                "`close_after` is larger than `probes`, so a round could never close the circuit",
            )
        } else if matches!(self.probe_concurrency, Some(0)) {
            (
                "probe_concurrency",
                "`probe_concurrency = 0` would admit no probe: use 1 or more",
            )
        } else if self.get_probe_concurrency() > self.get_probes() {
            (
                "probe_concurrency",
                "`probe_concurrency` is larger than `probes`: a round never has that many",
            )
        } else if self.probe_timeout.is_zero() {
            ("probe_timeout", "`probe_timeout` must be longer than zero")
        } else if self.max_open_for.is_zero() {
            ("max_open_for", "`max_open_for` must be longer than zero")
        } else {
            return Ok(());
        };
        Err(PolicyError { key, message })
    }

    /// The failures in a row at which it opens.
    #[must_use]
    pub const fn get_threshold(&self) -> u32 {
        self.threshold
    }

    /// How long it stays open.
    #[must_use]
    pub const fn get_cooldown(&self) -> Duration {
        self.cooldown
    }

    /// The calls that a half-open round admits in total.
    #[must_use]
    pub const fn get_probes(&self) -> u32 {
        match (self.probes, self.close_after) {
            (Some(probes), _) => probes,
            (None, Some(successes)) => successes,
            (None, None) => 1,
        }
    }

    /// How many of them at a time.
    #[must_use]
    pub const fn get_probe_concurrency(&self) -> u32 {
        match self.probe_concurrency {
            Some(calls) => calls,
            None => self.get_probes(),
        }
    }

    /// How many successes close it.
    #[must_use]
    pub const fn get_close_after(&self) -> u32 {
        match self.close_after {
            Some(successes) => successes,
            None => self.get_probes(),
        }
    }

    /// The age at which a probe frees its place.
    #[must_use]
    pub const fn get_probe_timeout(&self) -> Duration {
        self.probe_timeout
    }

    /// The longest opening that a verdict can ask for.
    #[must_use]
    pub const fn get_max_open_for(&self) -> Duration {
        self.max_open_for
    }

    /// What a dropped call counts as.
    #[must_use]
    pub const fn get_on_cancel(&self) -> OnCancel {
        self.on_cancel
    }

    /// Every key with its effective value, as a person writes it.
    ///
    /// ```
    /// let policy = breakerbox::Policy::new().close_after(2);
    /// assert!(policy.effective().any(|(key, value)| key == "probes" && value == "2"));
    /// ```
    pub fn effective(&self) -> impl Iterator<Item = (&'static str, String)> + use<> {
        [
            ("threshold", self.threshold.to_string()),
            ("cooldown", format!("{:?}", self.cooldown)),
            ("probes", self.get_probes().to_string()),
            (
                "probe_concurrency",
                self.get_probe_concurrency().to_string(),
            ),
            ("close_after", self.get_close_after().to_string()),
            ("probe_timeout", format!("{:?}", self.probe_timeout)),
            ("max_open_for", format!("{:?}", self.max_open_for)),
            ("on_cancel", format!("{:?}", self.on_cancel).to_lowercase()),
        ]
        .into_iter()
    }
}

impl PartialEq for Policy {
    fn eq(&self, other: &Self) -> bool {
        let numbers = |policy: &Self| {
            (
                policy.threshold,
                policy.cooldown,
                policy.get_probes(),
                policy.get_probe_concurrency(),
                policy.get_close_after(),
                policy.probe_timeout,
                policy.max_open_for,
                policy.on_cancel,
            )
        };
        numbers(self) == numbers(other)
    }
}

impl Eq for Policy {}

impl Default for Policy {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(policy: Policy) -> &'static str {
        policy.check().unwrap_err().key()
    }

    /// K8
    #[test]
    fn numbers_that_no_breaker_can_work_with_are_refused() {
        let policy = Policy::new();
        assert_eq!(refused(policy.threshold(0)), "threshold");
        assert_eq!(refused(policy.threshold(u32::MAX)), "threshold");
        assert_eq!(refused(policy.cooldown(Duration::ZERO)), "cooldown");
        assert_eq!(refused(policy.probes(0)), "probes");
        assert_eq!(refused(policy.probes(u32::MAX)), "probes");
        assert_eq!(refused(policy.close_after(0)), "close_after");
        assert_eq!(refused(policy.probes(2).close_after(3)), "close_after");
        assert_eq!(refused(policy.probe_concurrency(0)), "probe_concurrency");
        assert_eq!(refused(policy.probe_concurrency(2)), "probe_concurrency");
        assert_eq!(
            refused(policy.probe_timeout(Duration::ZERO)),
            "probe_timeout"
        );
        assert_eq!(refused(policy.max_open_for(Duration::ZERO)), "max_open_for");
    }

    #[test]
    fn close_after_written_alone_raises_the_probes() {
        let policy = Policy::new().close_after(3);
        assert_eq!(policy.check(), Ok(()));
        assert_eq!(policy.get_probes(), 3);
        assert_eq!(policy.get_probe_concurrency(), 3);
    }

    #[test]
    fn policies_with_the_same_effective_numbers_are_equal() {
        let policy = Policy::new();
        assert_eq!(policy, policy.probes(1).close_after(1).probe_concurrency(1));
        assert_ne!(policy, policy.close_after(2));
    }

    /// K11
    #[test]
    fn the_longest_cooldown_is_accepted() {
        assert_eq!(Policy::new().cooldown(Duration::MAX).check(), Ok(()));
    }
}
