//! The numbers of one bulkhead.

use std::fmt;
use std::time::Duration;

use crate::policy::LimitError;

/// The numbers of one bulkhead: how many calls run at a time, and how many wait for how long.
///
/// Plain data, built in `const` or at run time; [`check`](Self::check) judges it. The
/// attribute's keys have the same names and the same defaults.
///
/// ```
/// use std::time::Duration;
/// use breakerbox::BulkheadPolicy;
///
/// // Six at a time; who finds them all running is refused.
/// const S3: BulkheadPolicy = BulkheadPolicy::new(6);
/// assert!(S3.check().is_ok());
/// assert_eq!(S3.get_queue(), 0);
///
/// // Six more may wait, for up to 50 ms.
/// assert_eq!(S3.max_wait(Duration::from_millis(50)).get_queue(), 6);
///
/// assert!(BulkheadPolicy::new(0).check().is_err());
/// ```
///
/// Two policies are equal where their effective numbers are.
#[derive(Clone, Copy, Debug)]
#[must_use = "a policy does nothing until a bulkhead has it"]
pub struct BulkheadPolicy {
    max_concurrent: u32,
    queue: Option<u32>,
    max_wait: Option<Duration>,
}

impl BulkheadPolicy {
    /// The most calls that can be let in at a time.
    pub const MAX_CONCURRENT: u32 = 1_000_000;

    /// The most calls that can wait.
    pub const MAX_QUEUE: u32 = 1_000_000;

    /// The longest that a call can wait.
    pub const MAX_WAIT: Duration = Duration::from_secs(86_400);

    /// So many calls run at a time, and nobody waits: from 1 to
    /// [`MAX_CONCURRENT`](Self::MAX_CONCURRENT). There is no number for "unlimited": leave the
    /// bulkhead out.
    pub const fn new(max_concurrent: u32) -> Self {
        Self {
            max_concurrent,
            queue: None,
            max_wait: None,
        }
    }

    /// So many calls more wait until one ends. Default 0, or `max_concurrent` where
    /// [`max_wait`](Self::max_wait) is written.
    pub const fn queue(mut self, calls: u32) -> Self {
        self.queue = Some(calls);
        self
    }

    /// A call waits at most so long for its slot. Default 1 s, so that a call that needs a
    /// second slot while it holds the only one ends.
    pub const fn max_wait(mut self, duration: Duration) -> Self {
        self.max_wait = Some(duration);
        self
    }

    /// How many calls run at a time.
    #[must_use]
    pub const fn get_max_concurrent(&self) -> u32 {
        self.max_concurrent
    }

    /// How many calls more may wait.
    #[must_use]
    pub const fn get_queue(&self) -> u32 {
        match (self.queue, self.max_wait) {
            (Some(calls), _) => calls,
            (None, Some(_)) => self.max_concurrent,
            (None, None) => 0,
        }
    }

    /// How long a call waits at most; nobody does where the queue is 0.
    #[must_use]
    pub const fn get_max_wait(&self) -> Duration {
        match self.max_wait {
            Some(duration) => duration,
            None => Duration::from_secs(1),
        }
    }

    /// Says whether a bulkhead can work with these numbers.
    ///
    /// # Errors
    ///
    /// The first key that is wrong, and what to write instead.
    pub const fn check(&self) -> Result<(), LimitError> {
        let (key, message) = if self.max_concurrent == 0 {
            (
                "max_concurrent",
                "`max_concurrent = 0` would refuse every call: use 1 or more, or leave the \
                 bulkhead out for no limit",
            )
        } else if self.max_concurrent > Self::MAX_CONCURRENT {
            (
                "max_concurrent",
                "`max_concurrent` can be at most 1000000: leave the bulkhead out for no limit",
            )
        } else if self.get_queue() > Self::MAX_QUEUE {
            ("queue", "`queue` can be at most 1000000")
        } else if let Some(Duration::ZERO) = self.max_wait {
            (
                "max_wait",
                "`max_wait = 0` lets nobody wait: leave `max_wait` and `queue` out for that",
            )
        } else if self.max_wait.is_some() && self.get_queue() == 0 {
            (
                "queue",
                "`queue = 0` lets nobody wait: use 1 or more, or leave `max_wait` out",
            )
        } else if self.get_max_wait().as_nanos() > Self::MAX_WAIT.as_nanos() {
            ("max_wait", "`max_wait` can be at most 24 hours")
        } else {
            return Ok(());
        };
        Err(LimitError::new(key, message))
    }
}

impl PartialEq for BulkheadPolicy {
    fn eq(&self, other: &Self) -> bool {
        self.max_concurrent == other.max_concurrent
            && self.get_queue() == other.get_queue()
            && self.get_max_wait() == other.get_max_wait()
    }
}

impl Eq for BulkheadPolicy {}

/// As it is written in the attribute, with the defaults.
impl fmt::Display for BulkheadPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "max_concurrent = {}", self.max_concurrent)?;
        match self.get_queue() {
            0 => Ok(()),
            queue => write!(
                f,
                ", queue = {queue}, max_wait = \"{:?}\"",
                self.get_max_wait()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::Semaphore;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn wrong_key(policy: BulkheadPolicy) -> Option<&'static str> {
        policy.check().err().map(|error| error.key())
    }

    /// B110
    #[test]
    fn a_bulkhead_of_none_is_refused_and_says_what_to_write() {
        let error = BulkheadPolicy::new(0).check().unwrap_err();
        assert_eq!(error.key(), "max_concurrent");
        assert_eq!(
            error.to_string(),
            "`max_concurrent = 0` would refuse every call: use 1 or more, or leave the bulkhead \
             out for no limit"
        );
    }

    /// B110
    #[test]
    fn what_no_semaphore_can_count_is_refused() {
        const { assert!(BulkheadPolicy::MAX_CONCURRENT as usize <= Semaphore::MAX_PERMITS) };
        let most = BulkheadPolicy::new(BulkheadPolicy::MAX_CONCURRENT);
        assert_eq!(wrong_key(most.queue(BulkheadPolicy::MAX_QUEUE)), None);
        let more = BulkheadPolicy::new(BulkheadPolicy::MAX_CONCURRENT + 1);
        assert_eq!(wrong_key(more), Some("max_concurrent"));
        assert_eq!(
            wrong_key(BulkheadPolicy::new(u32::MAX)),
            Some("max_concurrent")
        );
        let queue = most.queue(BulkheadPolicy::MAX_QUEUE + 1);
        assert_eq!(wrong_key(queue), Some("queue"));
    }

    #[test]
    fn a_wait_that_is_none_or_endless_is_refused() {
        let six = BulkheadPolicy::new(6);
        assert_eq!(wrong_key(six.max_wait(Duration::ZERO)), Some("max_wait"));
        assert_eq!(wrong_key(six.max_wait(Duration::MAX)), Some("max_wait"));
        assert_eq!(wrong_key(six.max_wait(BulkheadPolicy::MAX_WAIT)), None);
        assert_eq!(wrong_key(six.queue(0).max_wait(SECOND)), Some("queue"));
        assert_eq!(wrong_key(six.queue(0)), None);
    }

    /// B111
    #[test]
    fn the_wait_is_finite_where_none_is_written() {
        assert_eq!(BulkheadPolicy::new(6).queue(1).get_max_wait(), SECOND);
    }

    #[test]
    fn a_written_wait_makes_a_queue_as_long_as_the_bulkhead() {
        let six = BulkheadPolicy::new(6);
        assert_eq!(six.get_queue(), 0);
        assert_eq!(six.max_wait(SECOND).get_queue(), 6);
        assert_eq!(six.max_wait(SECOND).queue(20).get_queue(), 20);
    }

    #[test]
    fn policies_are_equal_where_their_numbers_are() {
        let six = BulkheadPolicy::new(6);
        assert_eq!(six, six.queue(0));
        assert_eq!(six.queue(6), six.max_wait(SECOND));
        assert_ne!(six, six.queue(6));
        assert_ne!(six.queue(6), BulkheadPolicy::new(7).queue(6));
        assert_ne!(six.queue(6), six.queue(6).max_wait(SECOND * 2));
    }

    #[test]
    fn a_policy_reads_as_in_the_attribute() {
        let six = BulkheadPolicy::new(6);
        assert_eq!(six.to_string(), "max_concurrent = 6");
        assert_eq!(
            six.max_wait(Duration::from_millis(50)).to_string(),
            "max_concurrent = 6, queue = 6, max_wait = \"50ms\""
        );
    }
}
