//! The numbers of a breaker, with `None` for what is not written, and what holds then.

use std::time::Duration;

use breakerbox::Key;
use breakerbox::OnCancel;
use breakerbox::Policy;
use breakerbox::Window;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Numbers {
    pub(crate) threshold: Option<u32>,
    pub(crate) window: Option<Window>,
    pub(crate) failure_rate: Option<f64>,
    pub(crate) min_calls: Option<u32>,
    pub(crate) min_failures: Option<u32>,
    pub(crate) slow_call: Option<Duration>,
    pub(crate) slow_call_rate: Option<f64>,
    pub(crate) cooldown: Option<Duration>,
    pub(crate) backoff: Option<f64>,
    pub(crate) max_cooldown: Option<Duration>,
    pub(crate) jitter: Option<f64>,
    pub(crate) max_open_for: Option<Duration>,
    pub(crate) probes: Option<u32>,
    pub(crate) probe_concurrency: Option<u32>,
    pub(crate) close_after: Option<u32>,
    pub(crate) probe_failure_rate: Option<f64>,
    pub(crate) probe_timeout: Option<Duration>,
    pub(crate) ramp: Option<Duration>,
    pub(crate) on_cancel: Option<OnCancel>,
    pub(crate) shadow: Option<bool>,
}

/// Names each key once.
macro_rules! both_ways {
    ($($name:ident $get:ident $key:ident;)+) => {
        impl From<Policy> for Numbers {
            fn from(policy: Policy) -> Self {
                Self {
                    $($name: policy.writes(Key::$key).then(|| written(policy.$get())),)+
                }
            }
        }

        impl Numbers {
            pub(crate) const fn policy(&self) -> Policy {
                let mut policy = Policy::new();
                $(if let Some(value) = self.$name {
                    policy = policy.$name(value);
                })+
                policy
            }
        }
    };
}

both_ways! {
    threshold get_threshold Threshold;
    window get_window Window;
    failure_rate get_failure_rate FailureRate;
    min_calls get_min_calls MinCalls;
    min_failures get_min_failures MinFailures;
    slow_call get_slow_call SlowCall;
    slow_call_rate get_slow_call_rate SlowCallRate;
    cooldown get_cooldown Cooldown;
    backoff get_backoff Backoff;
    max_cooldown get_max_cooldown MaxCooldown;
    jitter get_jitter Jitter;
    max_open_for get_max_open_for MaxOpenFor;
    probes get_probes Probes;
    probe_concurrency get_probe_concurrency ProbeConcurrency;
    close_after get_close_after CloseAfter;
    probe_failure_rate get_probe_failure_rate ProbeFailureRate;
    probe_timeout get_probe_timeout ProbeTimeout;
    ramp get_ramp Ramp;
    on_cancel get_on_cancel OnCancel;
    shadow get_shadow Shadow;
}

/// Some of the keys have a value only where they are written, which these are.
fn written<T>(value: impl Into<Option<T>>) -> T {
    value.into().expect("it is written")
}

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

impl Numbers {
    pub(super) fn threshold(&self) -> Option<usize> {
        let has_rate = self.failure_rate.is_some() || self.slow_call_rate.is_some();
        match self.threshold {
            None if !has_rate => Some(5),
            written => written.map(|it| it as usize),
        }
    }

    pub(super) fn min_calls(&self) -> usize {
        let default = match self.window {
            Some(Window::Calls(calls)) => calls.min(20),
            _ => 20,
        };
        self.min_calls.unwrap_or(default) as usize
    }

    pub(super) fn min_failures(&self) -> usize {
        self.min_failures.unwrap_or(1) as usize
    }

    /// The slow rule stands where there is a window and it is said what slow is.
    pub(super) fn slow_call_rate(&self) -> Option<f64> {
        let stands = self.window.is_some() && self.slow_call.is_some();
        stands.then(|| self.slow_call_rate.unwrap_or(1.0))
    }

    pub(super) fn cooldown(&self) -> Duration {
        self.cooldown.unwrap_or(seconds(60))
    }

    pub(super) fn max_cooldown(&self) -> Duration {
        self.max_cooldown
            .unwrap_or_else(|| self.cooldown().max(seconds(600)))
    }

    pub(super) fn max_open_for(&self) -> Duration {
        self.max_open_for.unwrap_or(seconds(3600))
    }

    /// `close_after` written alone raises the probes.
    pub(super) fn probes(&self) -> usize {
        self.probes.or(self.close_after).unwrap_or(1) as usize
    }

    pub(super) fn probe_concurrency(&self) -> usize {
        self.probe_concurrency
            .map_or_else(|| self.probes(), |it| it as usize)
    }

    pub(super) fn close_after(&self) -> usize {
        self.close_after
            .map_or_else(|| self.probes(), |it| it as usize)
    }

    pub(super) fn probe_timeout(&self) -> Duration {
        self.probe_timeout.unwrap_or(seconds(30))
    }

    pub(super) fn on_cancel(&self) -> OnCancel {
        let default = self.slow_call.map_or(OnCancel::Ignore, OnCancel::After);
        self.on_cancel.unwrap_or(default)
    }

    /// The width of a bucket in nanoseconds: a tenth of a time window, rounded up; a
    /// second where no window says how time is cut.
    pub(crate) fn width(&self) -> u128 {
        match self.window {
            Some(Window::Time(window)) => window.as_nanos().div_ceil(10),
            _ => 1_000_000_000,
        }
    }

    /// Which bucket an instant is in, counted from the beginning of the clock.
    pub(crate) fn bucket(&self, at: Duration) -> u128 {
        at.as_nanos() / self.width()
    }
}

#[test]
fn numbers_are_a_policy_and_back() {
    let policy = Policy::new()
        .window(Window::Time(seconds(9)))
        .slow_call(seconds(2))
        .probes(3)
        .shadow(true);
    let numbers = Numbers::from(policy);
    assert_eq!(numbers.probes, Some(3));
    assert_eq!(numbers.close_after, None);
    assert_eq!(numbers.policy(), policy);
    assert_eq!(Numbers::from(Policy::new()), Numbers::default());
}
