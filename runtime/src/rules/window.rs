//! Windows: how time is cut, and what their sums decide.

use crate::clock::Tick;
use crate::clock::nanos;
use crate::policy::Policy;
use crate::policy::Window;
use crate::reason::Reason;

/// How time is cut into buckets. They are anchored at the start of the clock, so that
/// all threads agree on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Time {
    /// The length of a bucket, in nanoseconds.
    width: u64,
    /// A call that began in the bucket `b` is older than `slow_call` when the bucket
    /// `b + aged` begins, wherever in its bucket it began.
    aged: u64,
}

/// What the window of a circuit holds at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) calls: u64,
    pub(crate) failures: u64,
    pub(crate) slow: u64,
    /// Calls that have not ended and are older than `slow_call`.
    pub(crate) hung: u64,
}

/// What the law may ask about the calls of a closed circuit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Observed {
    pub(crate) sums: Sums,
    /// Calls a second that came, of late.
    pub(crate) arrivals: f64,
}

impl Time {
    /// A window moves on in so many steps.
    pub(crate) const BUCKETS: u64 = 10;

    /// Where no window says how time is cut, arrivals are counted by the second.
    const SECOND: u64 = 1_000_000_000;

    pub(crate) fn of(policy: &Policy) -> Self {
        let width = match policy.get_window() {
            Some(Window::Time(window)) => nanos(window).div_ceil(Self::BUCKETS),
            Some(Window::Calls(_)) | None => Self::SECOND,
        };
        let slow = policy.get_slow_call().map_or(0, nanos);
        Self {
            width,
            aged: slow.div_ceil(width).saturating_add(1),
        }
    }

    pub(crate) const fn bucket(self, now: Tick) -> u64 {
        now.0 / self.width
    }

    /// The first instant of a bucket.
    pub(crate) const fn begin(self, bucket: u64) -> Tick {
        Tick(bucket.saturating_mul(self.width))
    }

    /// The oldest bucket that a window still holds in the bucket `now`.
    pub(crate) const fn oldest(now: u64) -> u64 {
        (now + 1).saturating_sub(Self::BUCKETS)
    }

    /// Before this bucket began every call that hangs in the bucket `now`.
    pub(crate) const fn hung_before(self, now: u64) -> u64 {
        (now + 1).saturating_sub(self.aged)
    }

    /// The seconds over which arrivals are counted in a circuit that is closed since
    /// `began`: those of all buckets, or less while it is young, but never of less than
    /// one.
    pub(crate) fn seconds(self, began: Tick, now: Tick) -> f64 {
        let all = self.width.saturating_mul(Self::BUCKETS);
        let counted = now.0.saturating_sub(began.0).clamp(self.width, all);
        float(counted) / 1e9
    }
}

impl Sums {
    /// The share of failures, once enough calls have ended.
    pub(crate) fn failure_rate(&self, policy: &Policy) -> Option<f64> {
        policy.get_failure_rate()?;
        share(self.failures, self.calls, policy)
    }

    /// The share of slow calls, those that hang among them.
    pub(crate) fn slow_call_rate(&self, policy: &Policy) -> Option<f64> {
        policy.get_slow_call_rate()?;
        share(self.slow + self.hung, self.calls + self.hung, policy)
    }

    /// The rule that an outcome has met, of several the first.
    pub(super) fn judge(&self, policy: &Policy) -> Option<Reason> {
        policy.get_window()?;
        self.reaches_threshold(policy)
            .or_else(|| self.reaches_failure_rate(policy))
            .or_else(|| self.reaches_slow_call_rate(policy))
    }

    fn reaches_threshold(&self, policy: &Policy) -> Option<Reason> {
        let threshold = policy.get_threshold()?;
        (self.failures >= u64::from(threshold)).then_some(Reason::FailuresInWindow {
            failures: number(self.failures),
            threshold,
        })
    }

    fn reaches_failure_rate(&self, policy: &Policy) -> Option<Reason> {
        let limit = policy.get_failure_rate()?;
        let enough = self.failures >= u64::from(policy.get_min_failures());
        let reached = self.failure_rate(policy).is_some_and(|rate| rate >= limit);
        (enough && reached).then_some(Reason::FailureRate {
            failures: number(self.failures),
            calls: number(self.calls),
            limit,
        })
    }

    fn reaches_slow_call_rate(&self, policy: &Policy) -> Option<Reason> {
        let limit = policy.get_slow_call_rate()?;
        let reached = self
            .slow_call_rate(policy)
            .is_some_and(|rate| rate >= limit);
        reached.then_some(Reason::SlowCallRate {
            slow: number(self.slow + self.hung),
            calls: number(self.calls + self.hung),
            limit,
        })
    }

    /// The rule that calls without an end have met.
    pub(super) fn hangs(&self, policy: &Policy) -> Option<Reason> {
        if self.hung == 0 {
            return None;
        }
        self.reaches_slow_call_rate(policy)
    }

    /// Whether a success could still open the circuit: it does so where it is the one
    /// that makes the calls enough.
    pub(crate) const fn awaits_calls(&self, policy: &Policy) -> bool {
        !self.is_clean() && self.calls < policy.get_min_calls() as u64
    }

    pub(crate) const fn is_clean(&self) -> bool {
        self.failures + self.slow + self.hung == 0
    }
}

/// A rate is a quotient: 3 of 30 meets 0.1. It needs one call at least.
fn share(part: u64, calls: u64, policy: &Policy) -> Option<f64> {
    (calls >= u64::from(policy.get_min_calls())).then(|| float(part) / float(calls))
}

/// Exact for all counts that occur.
#[allow(clippy::cast_precision_loss)]
const fn float(count: u64) -> f64 {
    count as f64
}

fn number(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const RATE: Policy = Policy::new()
        .window(Window::Calls(100))
        .failure_rate(0.1)
        .min_calls(10);

    const fn sums(calls: u64, failures: u64) -> Sums {
        Sums {
            calls,
            failures,
            slow: 0,
            hung: 0,
        }
    }

    /// A14
    #[test]
    fn a_rate_is_met_at_its_quotient_and_with_enough_calls() {
        let opens = |calls, failures| sums(calls, failures).judge(&RATE).is_some();
        assert!(!opens(10, 0));
        assert!(opens(10, 1));
        assert!(opens(10, 2));
        assert!(opens(11, 2));
        assert!(!opens(9, 1));
        assert!(opens(30, 3));
    }

    #[test]
    fn min_failures_gates_the_failure_rate_and_nothing_else() {
        let gated = RATE.min_failures(3);
        assert_eq!(sums(10, 2).judge(&gated), None);
        assert!(sums(10, 3).judge(&gated).is_some());
        let threshold = gated.threshold(2);
        let reason = sums(2, 2).judge(&threshold);
        let numbers = Reason::FailuresInWindow {
            failures: 2,
            threshold: 2,
        };
        assert_eq!(reason, Some(numbers));
    }

    #[test]
    fn calls_that_hang_are_calls_and_are_slow() {
        let policy = Policy::new()
            .window(Window::Time(Duration::from_secs(10)))
            .slow_call(Duration::from_secs(1))
            .slow_call_rate(0.5)
            .min_calls(4);
        let hung = |calls, hung| Sums {
            hung,
            ..sums(calls, 0)
        };
        assert_eq!(hung(1, 2).judge(&policy), None);
        assert_eq!(hung(3, 2).judge(&policy), None);
        let reason = Reason::SlowCallRate {
            slow: 2,
            calls: 4,
            limit: 0.5,
        };
        assert_eq!(hung(2, 2).judge(&policy), Some(reason));
    }

    /// Whoever waits for no calls judges a success only as often as a window moves on.
    #[test]
    fn a_success_can_open_while_calls_are_missing_and_one_of_them_was_no_success() {
        assert!(sums(9, 1).awaits_calls(&RATE));
        assert!(!sums(10, 1).awaits_calls(&RATE));
        assert!(!sums(11, 1).awaits_calls(&RATE));
        assert!(!sums(9, 0).awaits_calls(&RATE));
    }

    #[test]
    fn a_window_is_clean_where_all_calls_were_quick_successes() {
        let clean = sums(9, 0);
        assert!(clean.is_clean());
        assert!(!Sums { slow: 1, ..clean }.is_clean());
        assert!(!Sums { hung: 1, ..clean }.is_clean());
        assert!(!sums(9, 1).is_clean());
    }

    #[test]
    fn a_call_hangs_when_all_of_its_bucket_is_older_than_slow_call() {
        let policy = Policy::new().window(Window::Time(Duration::from_secs(10)));
        let time = |slow| Time::of(&policy.slow_call(Duration::from_millis(slow)));
        // Buckets of a second: what began in bucket 0 is older than 2 s in bucket 3.
        assert_eq!(time(2_000).hung_before(2), 0);
        assert_eq!(time(2_000).hung_before(3), 1);
        assert_eq!(time(2_001).hung_before(3), 0);
        assert_eq!(time(2_001).hung_before(4), 1);
        assert_eq!(time(1).hung_before(2), 1);
    }

    #[test]
    fn a_window_holds_ten_buckets() {
        assert_eq!(Time::oldest(3), 0);
        assert_eq!(Time::oldest(9), 0);
        assert_eq!(Time::oldest(10), 1);
    }
}
