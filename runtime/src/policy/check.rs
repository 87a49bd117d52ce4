//! Which numbers a breaker can work with.

use std::time::Duration;

use crate::policy::Key;
use crate::policy::OnCancel;
use crate::policy::Policy;
use crate::policy::Window;

/// A number that no breaker can work with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PolicyError {
    key: Key,
    message: &'static str,
}

impl PolicyError {
    /// The key to change.
    #[must_use]
    pub const fn key(&self) -> Key {
        self.key
    }

    /// What is wrong and what to write.
    #[must_use]
    pub const fn message(&self) -> &'static str {
        self.message
    }
}

/// What is wrong with one number, if anything is.
type Wrong = Option<(Key, &'static str)>;

impl Policy {
    /// Says whether a breaker can work with these numbers.
    ///
    /// # Errors
    ///
    /// The first key that is wrong, and what to write instead.
    pub const fn check(&self) -> Result<(), PolicyError> {
        let parts = [
            self.wrong_count(),
            self.wrong_duration(),
            self.wrong_share(),
            self.wrong_window(),
            self.wrong_gate(),
            self.wrong_opening(),
            self.wrong_round(),
        ];
        let mut part = 0;
        while part < parts.len() {
            if let Some((key, message)) = parts[part] {
                return Err(PolicyError { key, message });
            }
            part += 1;
        }
        Ok(())
    }

    const fn wrong_count(&self) -> Wrong {
        if let Some(0) = self.threshold {
            return Some((
                Key::Threshold,
                "`threshold = 0` would open the circuit before any call: use 1 or more",
            ));
        }
        if let Some(Self::TOO_HIGH..) = self.threshold {
            return Some((Key::Threshold, "`threshold` can be at most 524287"));
        }
        if let Some(0) = self.min_calls {
            return Some((Key::MinCalls, "`min_calls` must be at least 1"));
        }
        if let Some(0) = self.min_failures {
            return Some((Key::MinFailures, "`min_failures` must be at least 1"));
        }
        if let Some(0) = self.max_keys {
            return Some((Key::MaxKeys, "`max_keys` must be at least 1"));
        }
        if self.get_max_keys() > Self::MAX_KEYS {
            return Some((Key::MaxKeys, "`max_keys` can be at most 1000000"));
        }
        if let Some(0) = self.min_instances {
            return Some((Key::MinInstances, "`min_instances` must be at least 1"));
        }
        if self.get_min_instances() > Self::MAX_INSTANCES {
            return Some((Key::MinInstances, "`min_instances` can be at most 64"));
        }
        None
    }

    const TOO_HIGH: u32 = Self::MAX_THRESHOLD + 1;

    const fn wrong_duration(&self) -> Wrong {
        if is_zero(self.slow_call) {
            return Some((Key::SlowCall, "`slow_call` must be longer than zero"));
        }
        if is_zero(self.cooldown) {
            return Some((Key::Cooldown, "`cooldown` must be longer than zero"));
        }
        if is_zero(self.max_open_for) {
            return Some((Key::MaxOpenFor, "`max_open_for` must be longer than zero"));
        }
        if is_zero(self.probe_timeout) {
            return Some((
                Key::ProbeTimeout,
                "`probe_timeout` must be longer than zero",
            ));
        }
        if is_zero(self.ramp) {
            return Some((Key::Ramp, "`ramp` must be longer than zero"));
        }
        if let Some(OnCancel::After(Duration::ZERO)) = self.on_cancel {
            return Some((
                Key::OnCancel,
                "`after` must be longer than zero: or use `on_cancel = failure`",
            ));
        }
        None
    }

    const fn wrong_share(&self) -> Wrong {
        if !is_rate(self.failure_rate) {
            return Some((
                Key::FailureRate,
                "`failure_rate` is a share above 0 and up to 1, such as 0.5",
            ));
        }
        if !is_rate(self.slow_call_rate) {
            return Some((
                Key::SlowCallRate,
                "`slow_call_rate` is a share above 0 and up to 1, such as 0.5",
            ));
        }
        if !is_rate(self.probe_failure_rate) {
            return Some((
                Key::ProbeFailureRate,
                "`probe_failure_rate` is a share above 0 and up to 1, such as 0.5",
            ));
        }
        // Written so that NaN is wrong, too.
        if !(self.get_jitter() >= 0.0 && self.get_jitter() <= 1.0) {
            return Some((Key::Jitter, "`jitter` is a share from 0 to 1, such as 0.1"));
        }
        if !(self.get_backoff() >= 1.0 && self.get_backoff() <= 1_000.0) {
            return Some((
                Key::Backoff,
                "`backoff` is a factor from 1 to 1000, such as 2",
            ));
        }
        None
    }

    const fn wrong_window(&self) -> Wrong {
        match self.window {
            None => {}
            Some(Window::Time(duration)) => {
                if duration.is_zero() {
                    return Some((Key::Window, "`window` must be longer than zero"));
                }
                if let Some(slow_call) = self.slow_call
                    && slow_call.as_nanos() > duration.as_nanos()
                {
                    return Some((
                        Key::SlowCall,
                        "`slow_call` is longer than `window`: look back at least as long as a \
                         slow call takes",
                    ));
                }
                return None;
            }
            Some(Window::Calls(0)) => {
                return Some((Key::Window, "`window = 0` looks back on nothing"));
            }
            Some(Window::Calls(window)) => {
                if window > Self::MAX_WINDOW_CALLS {
                    return Some((Key::Window, "`window` can be at most 1000000 calls"));
                }
                if self.get_min_calls() > window {
                    return Some((
                        Key::MinCalls,
                        "`min_calls` is larger than the count window, so no rate could ever be judged",
                    ));
                }
                if let Some(threshold) = self.get_threshold()
                    && threshold > window
                {
                    return Some((
                        Key::Threshold,
                        "`threshold` is larger than the count window, so it could never be reached",
                    ));
                }
                if self.get_min_failures() > window {
                    return Some((
                        Key::MinFailures,
                        "`min_failures` is larger than the count window, so it could never be reached",
                    ));
                }
            }
        }
        None
    }

    /// Keys that do nothing without another one.
    const fn wrong_gate(&self) -> Wrong {
        if self.failure_rate.is_some() && self.window.is_none() {
            return Some((
                Key::FailureRate,
                "`failure_rate` needs a window to look back on: add `window = \"60s\"` or \
                 `window = 100`",
            ));
        }
        if self.slow_call_rate.is_some() && self.slow_call.is_none() {
            return Some((
                Key::SlowCallRate,
                "`slow_call_rate` needs `slow_call`: say how long a slow call takes",
            ));
        }
        if self.slow_call_rate.is_some() && self.window.is_none() {
            return Some((
                Key::SlowCallRate,
                "`slow_call_rate` needs a window to look back on: add `window = \"60s\"` or \
                 `window = 100`",
            ));
        }
        if self.min_calls.is_some()
            && self.failure_rate.is_none()
            && self.get_slow_call_rate().is_none()
        {
            return Some((
                Key::MinCalls,
                "`min_calls` gates rates alone: add `failure_rate` or `slow_call`, or leave it out",
            ));
        }
        if self.min_failures.is_some() && self.failure_rate.is_none() {
            return Some((
                Key::MinFailures,
                "`min_failures` gates `failure_rate` alone: add that, or leave it out",
            ));
        }
        None
    }

    const fn wrong_opening(&self) -> Wrong {
        if self.get_max_cooldown().as_nanos() < self.get_cooldown().as_nanos() {
            return Some((
                Key::MaxCooldown,
                "`max_cooldown` is shorter than `cooldown`",
            ));
        }
        None
    }

    const fn wrong_round(&self) -> Wrong {
        if let Some(0) = self.probes {
            return Some((
                Key::Probes,
                "`probes = 0` would keep the circuit open for ever: use 1 or more",
            ));
        }
        if self.get_probes() > Self::MAX_PROBES {
            return Some((Key::Probes, "`probes` can be at most 262143"));
        }
        if let Some(0) = self.close_after {
            return Some((
                Key::CloseAfter,
                "`close_after = 0` would close the circuit without a probe: use 1 or more",
            ));
        }
        if self.get_close_after() > self.get_probes() {
            return Some((
                Key::CloseAfter,
                "`close_after` is larger than `probes`, so a round could never close the circuit",
            ));
        }
        if let Some(0) = self.probe_concurrency {
            return Some((
                Key::ProbeConcurrency,
                "`probe_concurrency = 0` would admit no probe: use 1 or more",
            ));
        }
        if self.get_probe_concurrency() > self.get_probes() {
            return Some((
                Key::ProbeConcurrency,
                "`probe_concurrency` is larger than `probes`: a round never has that many",
            ));
        }
        None
    }
}

const fn is_zero(duration: Option<Duration>) -> bool {
    matches!(duration, Some(Duration::ZERO))
}

/// Above 0 and up to 1, or not written. Not a number is neither.
const fn is_rate(rate: Option<f64>) -> bool {
    match rate {
        None => true,
        Some(rate) => rate > 0.0 && rate <= 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOWED: Policy = Policy::new().window(Window::Calls(10));

    fn refused(policy: Policy) -> &'static str {
        policy.check().unwrap_err().key().name()
    }

    /// K8
    #[test]
    fn counts_that_no_breaker_can_work_with_are_refused() {
        let policy = Policy::new();
        assert_eq!(refused(policy.threshold(0)), "threshold");
        assert_eq!(refused(policy.threshold(u32::MAX)), "threshold");
        assert_eq!(
            refused(WINDOWED.min_calls(0).failure_rate(0.5)),
            "min_calls"
        );
        assert_eq!(
            refused(WINDOWED.min_failures(0).failure_rate(0.5)),
            "min_failures"
        );
        assert_eq!(refused(policy.max_keys(0)), "max_keys");
        assert_eq!(refused(policy.max_keys(u32::MAX)), "max_keys");
        assert_eq!(refused(policy.min_instances(0)), "min_instances");
        assert_eq!(refused(policy.min_instances(65)), "min_instances");
        assert_eq!(refused(policy.probes(0)), "probes");
        assert_eq!(refused(policy.probes(u32::MAX)), "probes");
        assert_eq!(refused(policy.close_after(0)), "close_after");
        assert_eq!(refused(policy.probes(2).close_after(3)), "close_after");
        assert_eq!(refused(policy.probe_concurrency(0)), "probe_concurrency");
        assert_eq!(refused(policy.probe_concurrency(2)), "probe_concurrency");
    }

    /// K8
    #[test]
    fn durations_of_zero_are_refused() {
        let policy = Policy::new();
        let zero = Duration::ZERO;
        assert_eq!(refused(policy.cooldown(zero)), "cooldown");
        assert_eq!(refused(policy.slow_call(zero)), "slow_call");
        assert_eq!(refused(policy.max_open_for(zero)), "max_open_for");
        assert_eq!(refused(policy.probe_timeout(zero)), "probe_timeout");
        assert_eq!(refused(policy.ramp(zero)), "ramp");
        assert_eq!(refused(policy.window(Window::Time(zero))), "window");
        assert_eq!(
            refused(policy.on_cancel(OnCancel::After(zero))),
            "on_cancel"
        );
    }

    /// K8
    #[test]
    fn shares_outside_of_what_can_be_are_refused() {
        for wrong in [0.0, -0.5, 1.01, 50.0, f64::NAN, f64::INFINITY] {
            assert_eq!(refused(WINDOWED.failure_rate(wrong)), "failure_rate");
            let slow = WINDOWED.slow_call(Duration::from_secs(1));
            assert_eq!(refused(slow.slow_call_rate(wrong)), "slow_call_rate");
            let probes = Policy::new().probe_failure_rate(wrong);
            assert_eq!(refused(probes), "probe_failure_rate");
        }
        for wrong in [-0.1, 1.1, f64::NAN] {
            assert_eq!(refused(Policy::new().jitter(wrong)), "jitter");
        }
        for wrong in [0.5, 0.0, -2.0, f64::NAN, f64::INFINITY] {
            assert_eq!(refused(Policy::new().backoff(wrong)), "backoff");
        }
    }

    /// K10, A9
    #[test]
    fn what_a_count_window_can_never_hold_is_refused() {
        let rate = WINDOWED.failure_rate(0.5);
        assert_eq!(refused(rate.min_calls(11)), "min_calls");
        assert_eq!(refused(rate.min_failures(11)), "min_failures");
        assert_eq!(refused(WINDOWED.threshold(11)), "threshold");
        assert_eq!(refused(WINDOWED.window(Window::Calls(0))), "window");
        assert_eq!(refused(WINDOWED.window(Window::Calls(u32::MAX))), "window");
        assert_eq!(rate.min_calls(10).check(), Ok(()));
    }

    #[test]
    fn keys_that_would_do_nothing_are_refused() {
        let policy = Policy::new();
        let second = Duration::from_secs(1);
        assert_eq!(refused(policy.failure_rate(0.5)), "failure_rate");
        assert_eq!(refused(WINDOWED.slow_call_rate(0.5)), "slow_call_rate");
        assert_eq!(
            refused(policy.slow_call(second).slow_call_rate(0.5)),
            "slow_call_rate"
        );
        assert_eq!(refused(WINDOWED.min_calls(3)), "min_calls");
        assert_eq!(
            refused(WINDOWED.slow_call(second).min_failures(3)),
            "min_failures"
        );
        assert_eq!(WINDOWED.slow_call(second).min_calls(3).check(), Ok(()));
        let short = policy.window(Window::Time(second));
        assert_eq!(refused(short.slow_call(2 * second)), "slow_call");
        assert_eq!(short.slow_call(second).check(), Ok(()));
        assert_eq!(refused(policy.max_cooldown(second)), "max_cooldown");
    }

    /// K11
    #[test]
    fn the_longest_durations_are_accepted() {
        let longest = Policy::new()
            .cooldown(Duration::MAX)
            .slow_call(Duration::MAX)
            .window(Window::Time(Duration::MAX));
        assert_eq!(longest.check(), Ok(()));
    }
}
