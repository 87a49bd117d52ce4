//! The numbers of one circuit breaker.

use std::time::Duration;

/// The numbers of one circuit breaker.
///
/// Plain data, built in `const` or at run time; [`check`](Self::check) judges it.
/// The attribute's keys have the same names and the same defaults.
///
/// ```
/// use std::time::Duration;
/// use breakerbox::{Policy, Window};
///
/// const STRIPE: Policy = Policy::new().threshold(3).cooldown(Duration::from_secs(20));
/// assert!(STRIPE.check().is_ok());
/// assert!(STRIPE.threshold(0).check().is_err());
///
/// // Half of the calls of a minute, once there are twenty.
/// const S3: Policy = Policy::new()
///     .window(Window::Time(Duration::from_secs(60)))
///     .failure_rate(0.5);
/// assert_eq!(S3.get_min_calls(), 20);
/// ```
///
/// It keeps apart what was written and what was not: where several places speak about one
/// service, each key comes from the place that comes first and has written it. Two policies
/// are equal where their effective numbers are.
#[derive(Clone, Copy, Debug)]
#[must_use = "a policy does nothing until a breaker has it"]
pub struct Policy {
    pub(super) threshold: Option<u32>,
    pub(super) window: Option<Window>,
    pub(super) failure_rate: Option<f64>,
    pub(super) min_calls: Option<u32>,
    pub(super) min_failures: Option<u32>,
    pub(super) slow_call: Option<Duration>,
    pub(super) slow_call_rate: Option<f64>,
    pub(super) cooldown: Option<Duration>,
    pub(super) backoff: Option<f64>,
    pub(super) max_cooldown: Option<Duration>,
    pub(super) jitter: Option<f64>,
    pub(super) max_open_for: Option<Duration>,
    pub(super) probes: Option<u32>,
    pub(super) probe_concurrency: Option<u32>,
    pub(super) close_after: Option<u32>,
    pub(super) probe_failure_rate: Option<f64>,
    pub(super) probe_timeout: Option<Duration>,
    pub(super) ramp: Option<Duration>,
    pub(super) on_cancel: Option<OnCancel>,
    pub(super) shadow: Option<bool>,
    pub(super) max_keys: Option<u32>,
    pub(super) min_instances: Option<u32>,
    pub(super) probe_wait: Option<Duration>,
}

/// The calls that rates and `threshold` look back on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Window {
    /// Those that ended in the last so long. It moves on in steps of a tenth.
    Time(Duration),
    /// The last so many that ended.
    Calls(u32),
}

/// What a call counts as whose future was dropped before it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnCancel {
    /// Nothing: it neither counts nor resets.
    Ignore,
    /// A failure.
    Failure,
    /// A failure if it ran strictly longer than this, else nothing.
    After(Duration),
}

impl Policy {
    /// The largest threshold: what the bits of the packed word can count.
    pub const MAX_THRESHOLD: u32 = (1 << 19) - 1;

    /// The most processes that can be asked for.
    pub const MAX_INSTANCES: u32 = 64;

    /// The most probes that a round can have.
    pub const MAX_PROBES: u32 = Self::MAX_THRESHOLD / 2;

    /// The most calls that a count window can hold.
    pub const MAX_WINDOW_CALLS: u32 = 1_000_000;

    /// The most keys that one service can have.
    pub const MAX_KEYS: u32 = 1_000_000;

    /// Nothing written, so all defaults: opens at the 5th failure in a row, for 60 s, then
    /// one probe.
    pub const fn new() -> Self {
        Self {
            threshold: None,
            window: None,
            failure_rate: None,
            min_calls: None,
            min_failures: None,
            slow_call: None,
            slow_call_rate: None,
            cooldown: None,
            backoff: None,
            max_cooldown: None,
            jitter: None,
            max_open_for: None,
            probes: None,
            probe_concurrency: None,
            close_after: None,
            probe_failure_rate: None,
            probe_timeout: None,
            ramp: None,
            on_cancel: None,
            shadow: None,
            max_keys: None,
            min_instances: None,
            probe_wait: None,
        }
    }

    /// Opens at this many failures: in a row, or with a [`window`](Self::window) at so
    /// many inside it, whatever succeeds between them. Default 5 where no rate is written.
    pub const fn threshold(mut self, failures: u32) -> Self {
        self.threshold = Some(failures);
        self
    }

    /// The calls to look back on. Default: none, so that `threshold` counts failures in a
    /// row and there are no rates.
    pub const fn window(mut self, window: Window) -> Self {
        self.window = Some(window);
        self
    }

    /// Opens when this share of the calls in the window failed, or more: from above 0 to
    /// 1. Needs a window, `min_calls` in it and `min_failures`. Default: no such rule.
    pub const fn failure_rate(mut self, rate: f64) -> Self {
        self.failure_rate = Some(rate);
        self
    }

    /// No rate is judged before the window holds so many calls. Default 20, or the whole of
    /// a smaller count window. It does not gate `threshold`.
    pub const fn min_calls(mut self, calls: u32) -> Self {
        self.min_calls = Some(calls);
        self
    }

    /// `failure_rate` opens only with so many failures in the window. Default 1. It gates
    /// neither `threshold` nor `slow_call_rate`.
    pub const fn min_failures(mut self, failures: u32) -> Self {
        self.min_failures = Some(failures);
        self
    }

    /// A call that takes strictly longer is slow. With a window it makes the rule of
    /// `slow_call_rate`, and a slow probe is a failed one; without one it only labels calls
    /// and says when a dropped call counts as a failure. Default: no call is slow.
    pub const fn slow_call(mut self, duration: Duration) -> Self {
        self.slow_call = Some(duration);
        self
    }

    /// Opens when this share of the calls in the window was slow, or more; calls that hang
    /// in a time window count while they do. Needs `slow_call` and a window. Default 1.
    pub const fn slow_call_rate(mut self, rate: f64) -> Self {
        self.slow_call_rate = Some(rate);
        self
    }

    /// Stays open this long, the first time. Default 60 s.
    pub const fn cooldown(mut self, duration: Duration) -> Self {
        self.cooldown = Some(duration);
        self
    }

    /// Each opening without a close in between is so many times longer than the last one, up
    /// to `max_cooldown`. Default 1: all last as long.
    pub const fn backoff(mut self, factor: f64) -> Self {
        self.backoff = Some(factor);
        self
    }

    /// The longest cooldown that `backoff` leads to. Default 10 min, or `cooldown` where that
    /// is longer.
    pub const fn max_cooldown(mut self, duration: Duration) -> Self {
        self.max_cooldown = Some(duration);
        self
    }

    /// Lengthens each cooldown by a random part of up to this share of it, so that many
    /// processes do not probe at one instant: `0.1` makes 60 s to at most 66 s. From 0 to 1,
    /// default 0. It comes after `max_cooldown`.
    pub const fn jitter(mut self, share: f64) -> Self {
        self.jitter = Some(share);
        self
    }

    /// The longest opening that [`Verdict::RetryAfter`](crate::Verdict::RetryAfter)
    /// and [`Verdict::OpenFor`](crate::Verdict::OpenFor) can ask for. Default 1 h.
    pub const fn max_open_for(mut self, duration: Duration) -> Self {
        self.max_open_for = Some(duration);
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

    /// Judges a round by the share of its `probes` that failed: it opens again as soon as
    /// that cannot stay below this rate, and closes as soon as it cannot reach it, or at a
    /// written `close_after`. Default: the first failed probe opens again.
    pub const fn probe_failure_rate(mut self, rate: f64) -> Self {
        self.probe_failure_rate = Some(rate);
        self
    }

    /// A probe of this age frees its place for another. Default 30 s.
    ///
    /// It ends no call: a late probe still votes while its round lasts. When
    /// `max(2, probes)` probes of a round have hung without a vote, the circuit opens
    /// again, as soon as a call comes or one of them is dropped.
    pub const fn probe_timeout(mut self, duration: Duration) -> Self {
        self.probe_timeout = Some(duration);
        self
    }

    /// After closing, admits only a share of the calls that came before the circuit opened:
    /// a tenth at first, all of them after so long. Default: none, all at once.
    pub const fn ramp(mut self, duration: Duration) -> Self {
        self.ramp = Some(duration);
        self
    }

    /// What a dropped call counts as. Default: a failure if it was slow, by `slow_call`,
    /// else nothing.
    pub const fn on_cancel(mut self, on_cancel: OnCancel) -> Self {
        self.on_cancel = Some(on_cancel);
        self
    }

    /// Rejects nobody and tells what it would have done: to try numbers out. Default false.
    pub const fn shadow(mut self, shadow: bool) -> Self {
        self.shadow = Some(shadow);
        self
    }

    /// How many keys one service has breakers of its own for; those beyond share one.
    /// Default 1,000.
    pub const fn max_keys(mut self, keys: u32) -> Self {
        self.max_keys = Some(keys);
        self
    }

    /// Where processes share the circuit through Redis (feature `redis`), so many of them
    /// must have seen failures before it opens for all: from 1 to 64. Default 1: what one has
    /// seen protects the others. One that sees the service fail by itself opens for itself.
    /// It does nothing where each process has a circuit of its own.
    pub const fn min_instances(mut self, instances: u32) -> Self {
        self.min_instances = Some(instances);
        self
    }

    /// Where processes share the circuit through Redis (feature `redis`), a call that would
    /// be rejected waits so long for leave to probe. Default 50 ms; zero waits for nothing.
    /// It does nothing where each process has a circuit of its own.
    pub const fn probe_wait(mut self, duration: Duration) -> Self {
        self.probe_wait = Some(duration);
        self
    }

    /// The failures at which it opens, if `threshold` is a rule.
    #[must_use]
    pub const fn get_threshold(&self) -> Option<u32> {
        match self.threshold {
            None if self.failure_rate.is_none() && self.slow_call_rate.is_none() => Some(5),
            written => written,
        }
    }

    /// The calls to look back on.
    #[must_use]
    pub const fn get_window(&self) -> Option<Window> {
        self.window
    }

    /// The share of failures at which it opens.
    #[must_use]
    pub const fn get_failure_rate(&self) -> Option<f64> {
        self.failure_rate
    }

    /// The calls that a window has to hold before rates are judged.
    #[must_use]
    pub const fn get_min_calls(&self) -> u32 {
        match (self.min_calls, self.window) {
            (Some(calls), _) => calls,
            (None, Some(Window::Calls(window))) if window < 20 => window,
            (None, _) => 20,
        }
    }

    /// The failures that `failure_rate` needs at least.
    #[must_use]
    pub const fn get_min_failures(&self) -> u32 {
        match self.min_failures {
            Some(failures) => failures,
            None => 1,
        }
    }

    /// The age beyond which a call is slow.
    #[must_use]
    pub const fn get_slow_call(&self) -> Option<Duration> {
        self.slow_call
    }

    /// The share of slow calls at which it opens, if that is a rule.
    #[must_use]
    pub const fn get_slow_call_rate(&self) -> Option<f64> {
        match (self.window, self.slow_call, self.slow_call_rate) {
            (Some(_), Some(_), Some(rate)) => Some(rate),
            (Some(_), Some(_), None) => Some(1.0),
            (None, _, _) | (_, None, _) => None,
        }
    }

    /// How long it stays open the first time.
    #[must_use]
    pub const fn get_cooldown(&self) -> Duration {
        match self.cooldown {
            Some(duration) => duration,
            None => Duration::from_secs(60),
        }
    }

    /// How many times longer each further opening is.
    #[must_use]
    pub const fn get_backoff(&self) -> f64 {
        match self.backoff {
            Some(factor) => factor,
            None => 1.0,
        }
    }

    /// The longest cooldown.
    #[must_use]
    pub const fn get_max_cooldown(&self) -> Duration {
        const DEFAULT: Duration = Duration::from_secs(600);
        match self.max_cooldown {
            Some(duration) => duration,
            None if self.get_cooldown().as_nanos() > DEFAULT.as_nanos() => self.get_cooldown(),
            None => DEFAULT,
        }
    }

    /// The share of a cooldown by which it may be longer.
    #[must_use]
    pub const fn get_jitter(&self) -> f64 {
        match self.jitter {
            Some(share) => share,
            None => 0.0,
        }
    }

    /// The longest opening that a verdict can ask for.
    #[must_use]
    pub const fn get_max_open_for(&self) -> Duration {
        match self.max_open_for {
            Some(duration) => duration,
            None => Duration::from_secs(3600),
        }
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

    /// The share of failed probes at which it opens again, if a round is judged by that.
    #[must_use]
    pub const fn get_probe_failure_rate(&self) -> Option<f64> {
        self.probe_failure_rate
    }

    /// The age at which a probe frees its place.
    #[must_use]
    pub const fn get_probe_timeout(&self) -> Duration {
        match self.probe_timeout {
            Some(duration) => duration,
            None => Duration::from_secs(30),
        }
    }

    /// How long it admits only a share of the calls after closing.
    #[must_use]
    pub const fn get_ramp(&self) -> Option<Duration> {
        self.ramp
    }

    /// What a dropped call counts as.
    #[must_use]
    pub const fn get_on_cancel(&self) -> OnCancel {
        match (self.on_cancel, self.slow_call) {
            (Some(on_cancel), _) => on_cancel,
            (None, Some(slow_call)) => OnCancel::After(slow_call),
            (None, None) => OnCancel::Ignore,
        }
    }

    /// Whether it only tells what it would have done.
    #[must_use]
    pub const fn get_shadow(&self) -> bool {
        matches!(self.shadow, Some(true))
    }

    /// How many keys have breakers of their own.
    #[must_use]
    pub const fn get_max_keys(&self) -> u32 {
        match self.max_keys {
            Some(keys) => keys,
            None => 1_000,
        }
    }

    /// How many processes must have seen failures before it opens for all.
    #[must_use]
    pub const fn get_min_instances(&self) -> u32 {
        match self.min_instances {
            Some(instances) => instances,
            None => 1,
        }
    }

    /// How long a call waits for leave to probe that the processes share.
    #[must_use]
    pub const fn get_probe_wait(&self) -> Duration {
        match self.probe_wait {
            Some(duration) => duration,
            None => Duration::from_millis(50),
        }
    }
}

impl PartialEq for Policy {
    fn eq(&self, other: &Self) -> bool {
        let rules = |policy: &Self| {
            let gates = policy.get_window().map(|_| policy.get_min_calls());
            let failures = policy.get_failure_rate().map(|_| policy.get_min_failures());
            (
                (policy.get_threshold(), policy.get_window()),
                (policy.get_failure_rate(), gates, failures),
                (policy.get_slow_call(), policy.get_slow_call_rate()),
                (policy.get_shadow(), policy.get_max_keys()),
            )
        };
        let opening = |policy: &Self| {
            (
                (policy.get_cooldown(), policy.get_max_cooldown()),
                (policy.get_backoff(), policy.get_jitter()),
                policy.get_max_open_for(),
            )
        };
        let round = |policy: &Self| {
            (
                (policy.get_probes(), policy.get_probe_concurrency()),
                (policy.get_close_after(), policy.get_probe_failure_rate()),
                (policy.get_probe_timeout(), policy.get_ramp()),
                policy.get_on_cancel(),
                (policy.get_min_instances(), policy.get_probe_wait()),
            )
        };
        rules(self) == rules(other)
            && opening(self) == opening(other)
            && round(self) == round(other)
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

    #[test]
    fn close_after_written_alone_raises_the_probes() {
        let policy = Policy::new().close_after(3);
        assert_eq!(policy.check(), Ok(()));
        assert_eq!(policy.get_probes(), 3);
        assert_eq!(policy.get_probe_concurrency(), 3);
    }

    /// Comparing allocates nothing, and so does not go through the texts.
    #[test]
    fn policies_are_equal_exactly_where_every_effective_value_is() {
        let second = Duration::from_secs(1);
        let policy = Policy::new();
        let rates = policy.window(Window::Calls(30)).failure_rate(0.5);
        let slow = rates.slow_call(second);
        let all = [
            policy,
            policy.threshold(4),
            policy.window(Window::Calls(30)),
            rates,
            rates.failure_rate(0.6),
            rates.min_calls(3),
            rates.min_failures(3),
            slow,
            slow.slow_call_rate(0.5),
            policy.cooldown(second),
            policy.backoff(2.0),
            policy.max_cooldown(Duration::from_secs(90)),
            policy.jitter(0.5),
            policy.max_open_for(second),
            policy.probes(3),
            policy.probes(3).probe_concurrency(2),
            policy.probes(3).close_after(2),
            policy.probe_failure_rate(0.5),
            policy.probe_timeout(second),
            policy.ramp(second),
            policy.on_cancel(OnCancel::Failure),
            policy.shadow(true),
            policy.max_keys(3),
            policy.min_instances(2),
            policy.probe_wait(second),
        ];
        for one in &all {
            for other in &all {
                let same_texts = one.effective().eq(other.effective());
                assert_eq!(one == other, same_texts, "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn policies_with_the_same_effective_numbers_are_equal() {
        let policy = Policy::new();
        assert_eq!(policy, policy.probes(1).close_after(1).probe_concurrency(1));
        assert_ne!(policy, policy.close_after(2));
    }

    /// A9, L3
    #[test]
    fn min_calls_is_by_default_the_smaller_of_twenty_and_the_count_window() {
        let min_calls = |window| Policy::new().window(window).get_min_calls();
        assert_eq!(min_calls(Window::Calls(10)), 10);
        assert_eq!(min_calls(Window::Calls(100)), 20);
        assert_eq!(min_calls(Window::Time(Duration::from_secs(60))), 20);
    }

    #[test]
    fn the_default_threshold_stands_only_where_no_rate_is_written() {
        let policy = Policy::new().window(Window::Calls(10));
        assert_eq!(policy.get_threshold(), Some(5));
        assert_eq!(policy.failure_rate(0.5).get_threshold(), None);
        assert_eq!(
            policy.failure_rate(0.5).threshold(7).get_threshold(),
            Some(7)
        );
        let slow = policy.slow_call(Duration::from_secs(1));
        assert_eq!(slow.get_threshold(), Some(5));
        assert_eq!(slow.get_slow_call_rate(), Some(1.0));
        assert_eq!(slow.slow_call_rate(0.5).get_threshold(), None);
    }

    #[test]
    fn slow_call_alone_says_when_a_dropped_call_is_a_failure() {
        let second = Duration::from_secs(1);
        let policy = Policy::new().slow_call(second);
        assert_eq!(policy.check(), Ok(()));
        assert_eq!(policy.get_slow_call_rate(), None);
        assert_eq!(policy.get_on_cancel(), OnCancel::After(second));
        let written = policy.on_cancel(OnCancel::Ignore);
        assert_eq!(written.get_on_cancel(), OnCancel::Ignore);
    }

    #[test]
    fn the_longest_cooldown_is_ten_minutes_or_the_first_one() {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        assert_eq!(Policy::new().get_max_cooldown(), minutes(10));
        assert_eq!(
            Policy::new().cooldown(minutes(20)).get_max_cooldown(),
            minutes(20)
        );
    }
}
