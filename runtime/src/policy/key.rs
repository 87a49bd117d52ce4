//! The keys of a policy, by name: what places that speak about one service are compared
//! and put together by.

use std::fmt;

use crate::policy::OnCancel;
use crate::policy::Policy;
use crate::policy::Window;

/// Names each key once, with its variant.
macro_rules! keys {
    ($($variant:ident $name:ident)+) => {
        /// One number of a [`Policy`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        #[allow(missing_docs)] // Each is a method of `Policy`, and explained there.
        pub enum Key {
            $($variant,)+
        }

        impl Key {
            /// All keys.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The key as it is written in an attribute or a file.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($name),)+
                }
            }
        }

        impl Policy {
            /// Whether the key is written, and does not only have its default.
            #[must_use]
            pub const fn writes(&self, key: Key) -> bool {
                match key {
                    $(Key::$variant => self.$name.is_some(),)+
                }
            }

            /// Takes what `other` says of one key, also where it says nothing.
            pub(crate) const fn copy(&mut self, key: Key, other: &Self) {
                match key {
                    $(Key::$variant => self.$name = other.$name,)+
                }
            }

            /// Whether both write the same of one key, or both nothing.
            pub(crate) fn same(&self, key: Key, other: &Self) -> bool {
                match key {
                    $(Key::$variant => self.$name == other.$name,)+
                }
            }
        }
    };
}

keys! {
    Threshold threshold
    Window window
    FailureRate failure_rate
    MinCalls min_calls
    MinFailures min_failures
    SlowCall slow_call
    SlowCallRate slow_call_rate
    Cooldown cooldown
    Backoff backoff
    MaxCooldown max_cooldown
    Jitter jitter
    MaxOpenFor max_open_for
    Probes probes
    ProbeConcurrency probe_concurrency
    CloseAfter close_after
    ProbeFailureRate probe_failure_rate
    ProbeTimeout probe_timeout
    Ramp ramp
    OnCancel on_cancel
    Shadow shadow
    MaxKeys max_keys
    MinInstances min_instances
    ProbeWait probe_wait
}

impl Policy {
    /// These numbers, and those of `lower` for the keys that these do not write.
    pub fn over(mut self, lower: Self) -> Self {
        for &key in Key::ALL {
            if !self.writes(key) {
                self.copy(key, &lower);
            }
        }
        self
    }

    /// The effective value of a key, as a person writes it; none for a rule that does not
    /// stand.
    #[must_use]
    pub fn value(&self, key: Key) -> Option<String> {
        match key {
            Key::Threshold => text(self.get_threshold()),
            Key::Window => text(self.get_window()),
            Key::FailureRate => text(self.get_failure_rate()),
            Key::MinCalls => self.get_window().map(|_| self.get_min_calls().to_string()),
            Key::MinFailures => {
                let gated = self.get_failure_rate();
                gated.map(|_| self.get_min_failures().to_string())
            }
            Key::SlowCall => self.get_slow_call().map(|slow| format!("{slow:?}")),
            Key::SlowCallRate => text(self.get_slow_call_rate()),
            Key::Cooldown => Some(format!("{:?}", self.get_cooldown())),
            Key::Backoff => text(Some(self.get_backoff())),
            Key::MaxCooldown => Some(format!("{:?}", self.get_max_cooldown())),
            Key::Jitter => text(Some(self.get_jitter())),
            Key::MaxOpenFor => Some(format!("{:?}", self.get_max_open_for())),
            Key::Probes => text(Some(self.get_probes())),
            Key::ProbeConcurrency => text(Some(self.get_probe_concurrency())),
            Key::CloseAfter => text(Some(self.get_close_after())),
            Key::ProbeFailureRate => text(self.get_probe_failure_rate()),
            Key::ProbeTimeout => Some(format!("{:?}", self.get_probe_timeout())),
            Key::Ramp => self.get_ramp().map(|ramp| format!("{ramp:?}")),
            Key::OnCancel => text(Some(self.get_on_cancel())),
            Key::Shadow => text(Some(self.get_shadow())),
            Key::MaxKeys => text(Some(self.get_max_keys())),
            Key::MinInstances => text(Some(self.get_min_instances())),
            Key::ProbeWait => Some(format!("{:?}", self.get_probe_wait())),
        }
    }

    /// Every key that stands, with its effective value as a person writes it.
    ///
    /// ```
    /// let policy = breakerbox::Policy::new().close_after(2);
    /// assert!(policy.effective().any(|(key, value)| key.name() == "probes" && value == "2"));
    /// ```
    pub fn effective(&self) -> impl Iterator<Item = (Key, String)> + use<> {
        let policy = *self;
        let keys = Key::ALL.iter().copied();
        keys.filter_map(move |key| Some((key, policy.value(key)?)))
    }
}

fn text(value: Option<impl fmt::Display>) -> Option<String> {
    value.map(|value| value.to_string())
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(duration) => write!(f, "{duration:?}"),
            Self::Calls(calls) => write!(f, "{calls}"),
        }
    }
}

impl fmt::Display for OnCancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ignore => f.write_str("ignore"),
            Self::Failure => f.write_str("failure"),
            Self::After(limit) => write!(f, "after({limit:?})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_above_comes_before_what_is_written_below() {
        let above = Policy::new().threshold(3);
        let below = Policy::new().threshold(9).close_after(2);
        let both = above.over(below);
        assert_eq!(both.get_threshold(), Some(3));
        assert_eq!(both.get_close_after(), 2);
        assert!(both.writes(Key::CloseAfter) && !both.writes(Key::Probes));
    }

    #[test]
    fn a_rule_that_does_not_stand_has_no_value() {
        let policy = Policy::new();
        assert_eq!(policy.value(Key::FailureRate), None);
        assert_eq!(policy.value(Key::Threshold).as_deref(), Some("5"));
        assert_eq!(policy.value(Key::Cooldown).as_deref(), Some("60s"));
    }
}
