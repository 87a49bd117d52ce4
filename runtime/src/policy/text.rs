//! The written keys of a policy as one short text, which another process reads back as the same
//! numbers: `threshold=3 cooldown=20000000000`.
//!
//! Durations are nanoseconds, rates the shortest text that reads back as the same number. What
//! a later version writes and this one cannot read is kept as it is, so that it is still there
//! for others when this one writes the text anew.

use std::str::FromStr;
use std::time::Duration;

use crate::policy::Key;
use crate::policy::OnCancel;
use crate::policy::Policy;
use crate::policy::Window;

/// A policy with what could not be read.
#[derive(Clone, Debug, Default)]
pub(crate) struct PolicyText {
    pub(crate) policy: Policy,
    /// Words that mean nothing to this version, as they were written.
    unread: Vec<String>,
}

impl PolicyText {
    /// No text is longer, in bytes: words that cannot be read are dropped before it is.
    pub(crate) const LONGEST: usize = 1_024;

    /// Of a key that is written twice, the last word counts.
    pub(crate) fn read(text: &str) -> Self {
        let mut read = Self::default();
        let mut length = 0;
        for word in text.split_ascii_whitespace() {
            length += word.len() + 1;
            if read.read_word(word).is_none() && length <= Self::LONGEST {
                read.unread.push(word.to_owned());
            }
        }
        read
    }

    /// The words that mean nothing to this version, by what stands before their `=`.
    pub(crate) fn unread(&self) -> impl Iterator<Item = &str> {
        self.unread.iter().map(|word| name(word))
    }

    /// Puts what `changed` writes in place of what was written before.
    pub(crate) fn put(&mut self, changed: Policy) {
        self.policy = changed.over(self.policy);
        // A word of this name that only a later version could read has had its time.
        self.unread
            .retain(|word| !written(&changed).any(|key| key.name() == name(word)));
    }

    pub(crate) fn write(&self) -> String {
        let mut text = String::new();
        let words = written(&self.policy).filter_map(|key| {
            let value = write_value(&self.policy, key)?;
            Some(format!("{key}={value}"))
        });
        for word in words.chain(self.unread.iter().cloned()) {
            if text.len() + 1 + word.len() > Self::LONGEST {
                continue;
            }
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&word);
        }
        text
    }

    fn read_word(&mut self, word: &str) -> Option<()> {
        let (name, value) = word.split_once('=')?;
        let key = Key::ALL.iter().find(|key| key.name() == name)?;
        let read = read_value(*key, value)?;
        self.policy.copy(*key, &read);
        Some(())
    }
}

/// The keys that a policy writes.
pub(crate) fn written(policy: &Policy) -> impl Iterator<Item = Key> + use<> {
    let policy = *policy;
    let keys = Key::ALL.iter().copied();
    keys.filter(move |key| policy.writes(*key))
}

fn name(word: &str) -> &str {
    word.split('=').next().unwrap_or(word)
}

/// The policy that writes this key alone.
fn read_value(key: Key, value: &str) -> Option<Policy> {
    let new = Policy::new();
    Some(match key {
        Key::Threshold => new.threshold(number(value)?),
        Key::Window => new.window(window(value)?),
        Key::FailureRate => new.failure_rate(number(value)?),
        Key::MinCalls => new.min_calls(number(value)?),
        Key::MinFailures => new.min_failures(number(value)?),
        Key::SlowCall => new.slow_call(duration(value)?),
        Key::SlowCallRate => new.slow_call_rate(number(value)?),
        Key::Cooldown => new.cooldown(duration(value)?),
        Key::Backoff => new.backoff(number(value)?),
        Key::MaxCooldown => new.max_cooldown(duration(value)?),
        Key::Jitter => new.jitter(number(value)?),
        Key::MaxOpenFor => new.max_open_for(duration(value)?),
        Key::Probes => new.probes(number(value)?),
        Key::ProbeConcurrency => new.probe_concurrency(number(value)?),
        Key::CloseAfter => new.close_after(number(value)?),
        Key::ProbeFailureRate => new.probe_failure_rate(number(value)?),
        Key::ProbeTimeout => new.probe_timeout(duration(value)?),
        Key::Ramp => new.ramp(duration(value)?),
        Key::OnCancel => new.on_cancel(on_cancel(value)?),
        Key::Shadow => new.shadow(number(value)?),
        Key::MaxKeys => new.max_keys(number(value)?),
        Key::MinInstances => new.min_instances(number(value)?),
        Key::ProbeWait => new.probe_wait(duration(value)?),
    })
}

fn write_value(policy: &Policy, key: Key) -> Option<String> {
    match key {
        Key::Threshold => policy.threshold.map(text),
        Key::Window => policy.window.map(|window| match window {
            Window::Time(duration) => format!("time:{}", nanos(duration)),
            Window::Calls(calls) => format!("calls:{calls}"),
        }),
        Key::FailureRate => policy.failure_rate.map(rate),
        Key::MinCalls => policy.min_calls.map(text),
        Key::MinFailures => policy.min_failures.map(text),
        Key::SlowCall => policy.slow_call.map(nanos),
        Key::SlowCallRate => policy.slow_call_rate.map(rate),
        Key::Cooldown => policy.cooldown.map(nanos),
        Key::Backoff => policy.backoff.map(rate),
        Key::MaxCooldown => policy.max_cooldown.map(nanos),
        Key::Jitter => policy.jitter.map(rate),
        Key::MaxOpenFor => policy.max_open_for.map(nanos),
        Key::Probes => policy.probes.map(text),
        Key::ProbeConcurrency => policy.probe_concurrency.map(text),
        Key::CloseAfter => policy.close_after.map(text),
        Key::ProbeFailureRate => policy.probe_failure_rate.map(rate),
        Key::ProbeTimeout => policy.probe_timeout.map(nanos),
        Key::Ramp => policy.ramp.map(nanos),
        Key::OnCancel => policy.on_cancel.map(|on_cancel| match on_cancel {
            OnCancel::Ignore => "ignore".to_owned(),
            OnCancel::Failure => "failure".to_owned(),
            OnCancel::After(limit) => format!("after:{}", nanos(limit)),
        }),
        Key::Shadow => policy.shadow.map(text),
        Key::MaxKeys => policy.max_keys.map(text),
        Key::MinInstances => policy.min_instances.map(text),
        Key::ProbeWait => policy.probe_wait.map(nanos),
    }
}

fn text(value: impl Copy + ToString) -> String {
    value.to_string()
}

fn nanos(duration: Duration) -> String {
    duration.as_nanos().to_string()
}

/// With an exponent where it would be long without one.
fn rate(value: f64) -> String {
    format!("{value:?}")
}

fn number<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

fn duration(text: &str) -> Option<Duration> {
    const SECOND: u128 = 1_000_000_000;
    let nanos: u128 = number(text)?;
    let seconds = u64::try_from(nanos / SECOND).ok()?;
    let rest = u32::try_from(nanos % SECOND).ok()?;
    Some(Duration::new(seconds, rest))
}

fn window(text: &str) -> Option<Window> {
    Some(match text.split_once(':')? {
        ("time", time) => Window::Time(duration(time)?),
        ("calls", calls) => Window::Calls(number(calls)?),
        _ => return None,
    })
}

fn on_cancel(text: &str) -> Option<OnCancel> {
    Some(match text {
        "ignore" => OnCancel::Ignore,
        "failure" => OnCancel::Failure,
        _ => OnCancel::After(duration(text.strip_prefix("after:")?)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(policy: Policy) -> PolicyText {
        let unread = Vec::new();
        PolicyText { policy, unread }
    }

    /// The longest numbers that there are.
    const LONGEST: Policy = Policy::new()
        .threshold(u32::MAX)
        .window(Window::Time(Duration::MAX))
        .failure_rate(-1.234_567_890_123_456_7e-300)
        .min_calls(u32::MAX)
        .min_failures(u32::MAX)
        .slow_call(Duration::MAX)
        .slow_call_rate(-1.234_567_890_123_456_7e-300)
        .cooldown(Duration::MAX)
        .backoff(-1.234_567_890_123_456_7e-300)
        .max_cooldown(Duration::MAX)
        .jitter(-1.234_567_890_123_456_7e-300)
        .max_open_for(Duration::MAX)
        .probes(u32::MAX)
        .probe_concurrency(u32::MAX)
        .close_after(u32::MAX)
        .probe_failure_rate(-1.234_567_890_123_456_7e-300)
        .probe_timeout(Duration::MAX)
        .ramp(Duration::MAX)
        .on_cancel(OnCancel::After(Duration::MAX))
        .shadow(false)
        .max_keys(u32::MAX)
        .min_instances(u32::MAX)
        .probe_wait(Duration::MAX);

    fn assert_reads_back(policy: Policy) {
        let text = text_of(policy).write();
        let read = PolicyText::read(&text);
        assert_eq!(read.unread().count(), 0, "{text}");
        for key in Key::ALL {
            assert!(read.policy.same(*key, &policy), "{key}: {text}");
            assert_eq!(read.policy.writes(*key), policy.writes(*key), "{text}");
        }
        assert_eq!(read.write(), text);
    }

    #[test]
    fn every_key_reads_back_alone_and_all_together() {
        assert_reads_back(Policy::new());
        for key in Key::ALL {
            assert!(LONGEST.writes(*key), "{key}");
            let mut alone = Policy::new();
            alone.copy(*key, &LONGEST);
            assert_reads_back(alone);
        }
        assert_reads_back(LONGEST);
        let length = text_of(LONGEST).write().len();
        assert!(length <= PolicyText::LONGEST, "{length}");
    }

    #[test]
    fn every_kind_of_a_value_reads_back() {
        for policy in [
            Policy::new().window(Window::Calls(7)).shadow(true),
            Policy::new().on_cancel(OnCancel::Ignore),
            Policy::new().on_cancel(OnCancel::Failure),
            Policy::new().cooldown(Duration::ZERO).jitter(0.0),
            Policy::new().backoff(f64::MAX).failure_rate(f64::INFINITY),
        ] {
            assert_reads_back(policy);
        }
    }

    #[test]
    fn a_random_policy_reads_back() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..5_000 {
            let drawn = Policy::new()
                .threshold(random.u32(..))
                .window(Window::Time(time(&mut random)))
                .failure_rate(random.f64())
                .min_calls(random.u32(..))
                .slow_call(time(&mut random))
                .slow_call_rate(f64::from_bits(random.u64(..0x7ff0_0000_0000_0000)))
                .cooldown(time(&mut random))
                .backoff(1.0 / f64::from(random.u32(1..9)))
                .jitter(f64::from_bits(random.u64(..0x7ff0_0000_0000_0000)))
                .probes(random.u32(..))
                .on_cancel(OnCancel::After(time(&mut random)))
                .shadow(random.bool())
                .probe_wait(time(&mut random));
            let mut policy = Policy::new();
            for key in Key::ALL.iter().filter(|_| random.bool()) {
                policy.copy(*key, &drawn);
            }
            assert_reads_back(policy);
        }
    }

    fn time(random: &mut fastrand::Rng) -> Duration {
        Duration::new(random.u64(..), random.u32(..1_000_000_000))
    }

    #[test]
    fn the_text_is_the_documented_one() {
        let policy = Policy::new()
            .threshold(3)
            .window(Window::Time(Duration::from_secs(60)))
            .failure_rate(0.5);
        let text = "threshold=3 window=time:60000000000 failure_rate=0.5";
        assert_eq!(text_of(policy).write(), text);
    }

    #[test]
    fn what_a_later_version_writes_is_left_out_and_stays_where_it_is() {
        let text = "threshold=3 mood=good window=phase:moon";
        let mut read = PolicyText::read(text);
        assert_eq!(read.policy, Policy::new().threshold(3));
        assert!(!read.policy.writes(Key::Window));
        assert_eq!(read.unread().collect::<Vec<_>>(), ["mood", "window"]);
        read.put(Policy::new().threshold(4));
        assert_eq!(read.write(), "threshold=4 mood=good window=phase:moon");
        read.put(Policy::new().window(Window::Calls(9)));
        assert_eq!(read.write(), "threshold=4 window=calls:9 mood=good");
    }

    #[test]
    fn garbage_is_no_policy_and_no_panic() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..5_000 {
            let garbage: String = (0..random.usize(..60))
                .map(|_| match random.u8(..4) {
                    0 => random.char(..),
                    1 => random.choice([' ', '=', ':', '9', '-', 'e']).unwrap_or(' '),
                    _ => random.alphanumeric(),
                })
                .collect();
            let read = PolicyText::read(&garbage);
            assert_eq!(written(&read.policy).count(), 0, "{garbage}");
            assert!(read.write().len() <= PolicyText::LONGEST);
        }
        for broken in [
            "threshold",
            "threshold=",
            "threshold=-1",
            "threshold=4294967296",
            "threshold=3.0",
            "cooldown=99999999999999999999999999999999999999999",
            "cooldown=18446744073709551616000000000",
            "window=7",
            "window=calls:",
            "on_cancel=after",
            "shadow=1",
            "=3",
        ] {
            let read = PolicyText::read(broken);
            assert_eq!(written(&read.policy).count(), 0, "{broken}");
            assert_eq!(read.unread().count(), 1, "{broken}");
        }
    }

    #[test]
    fn a_text_that_is_too_long_is_cut_to_what_this_version_can_read() {
        let many = "x=1 ".repeat(5_000) + "threshold=3";
        let read = PolicyText::read(&many);
        assert_eq!(read.policy, Policy::new().threshold(3));
        let text = read.write();
        assert!(text.len() <= PolicyText::LONGEST, "{}", text.len());
        assert!(text.starts_with("threshold=3 x=1 x=1"));
    }
}
