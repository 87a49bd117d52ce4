//! From a written value to the one key that it gives a policy.

use std::time::Duration;

use crate::config::duration;
use crate::policy::Key;
use crate::policy::OnCancel;
use crate::policy::Policy;
use crate::policy::Window;

/// A value as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Given<'t> {
    Text(&'t str),
    /// With a sign, if it has one; of any length.
    Whole {
        text: &'t str,
        radix: u32,
    },
    Fraction(&'t str),
    Truth(bool),
    /// A kind that no key has.
    Other(&'static str),
}

/// Where the value is written, which decides on quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Medium {
    Toml,
    Variable,
}

impl<'t> Given<'t> {
    /// A value without quotes, of which only its letters say what it is.
    pub(super) fn bare(text: &'t str) -> Self {
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let is_number =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match (text, unsigned.split_once('.')) {
            ("true", _) => Self::Truth(true),
            ("false", _) => Self::Truth(false),
            (_, None) if is_number(unsigned) => Self::Whole { text, radix: 10 },
            (_, Some((whole, part))) if is_number(whole) && is_number(part) => Self::Fraction(text),
            _ => Self::Text(text),
        }
    }
}

/// A policy that writes `key` and nothing else.
pub(super) fn read(key: Key, given: &Given<'_>, medium: Medium) -> Result<Policy, String> {
    let new = Policy::new();
    let reader = Reader {
        name: key.name(),
        given,
        medium,
    };
    let policy = match key {
        Key::Threshold => new.threshold(reader.count()?),
        Key::Window => new.window(reader.window()?),
        Key::FailureRate => new.failure_rate(reader.share()?),
        Key::MinCalls => new.min_calls(reader.count()?),
        Key::MinFailures => new.min_failures(reader.count()?),
        Key::SlowCall => new.slow_call(reader.duration()?),
        Key::SlowCallRate => new.slow_call_rate(reader.share()?),
        Key::Cooldown => new.cooldown(reader.duration()?),
        Key::Backoff => new.backoff(reader.factor()?),
        Key::MaxCooldown => new.max_cooldown(reader.duration()?),
        Key::Jitter => new.jitter(reader.share()?),
        Key::MaxOpenFor => new.max_open_for(reader.duration()?),
        Key::Probes => new.probes(reader.count()?),
        Key::ProbeConcurrency => new.probe_concurrency(reader.count()?),
        Key::CloseAfter => new.close_after(reader.count()?),
        Key::ProbeFailureRate => new.probe_failure_rate(reader.share()?),
        Key::ProbeTimeout => new.probe_timeout(reader.duration()?),
        Key::Ramp => new.ramp(reader.duration()?),
        Key::OnCancel => new.on_cancel(reader.on_cancel()?),
        Key::Shadow => new.shadow(reader.truth()?),
        Key::MaxKeys => new.max_keys(reader.count()?),
        Key::MinInstances => new.min_instances(reader.count()?),
        Key::ProbeWait => new.probe_wait(reader.duration()?),
    };
    // Beside these, every value is right that can be right at all.
    let beside = Policy::new()
        .window(Window::Time(Duration::MAX))
        .failure_rate(1.0)
        .slow_call(Duration::from_nanos(1))
        .slow_call_rate(1.0)
        .cooldown(Duration::from_nanos(1))
        .max_cooldown(Duration::MAX)
        .probes(Policy::MAX_PROBES);
    let judged = policy.over(beside).check();
    judged.map_err(|error| error.message().to_owned())?;
    Ok(policy)
}

struct Reader<'g, 't> {
    name: &'static str,
    given: &'g Given<'t>,
    medium: Medium,
}

impl Reader<'_, '_> {
    const fn quote(&self) -> &'static str {
        match self.medium {
            Medium::Toml => "\"",
            Medium::Variable => "",
        }
    }

    /// What a person is to write.
    fn write(&self, value: &str) -> String {
        match self.medium {
            Medium::Toml => format!("`{} = {value}`", self.name),
            Medium::Variable => format!("`{value}`"),
        }
    }

    fn quoted(&self, text: &str) -> String {
        let quote = self.quote();
        self.write(&format!("{quote}{text}{quote}"))
    }

    fn count(&self) -> Result<u32, String> {
        let name = self.name;
        match *self.given {
            Given::Whole { text, radix } => match u32::from_str_radix(text, radix) {
                Ok(count) => Ok(count),
                Err(_) if text.starts_with('-') => Err(format!("`{name}` cannot be negative")),
                Err(_) => Err(format!("`{text}` is too large for `{name}`")),
            },
            Given::Text(text) if text.parse::<u32>().is_ok() => Err(format!(
                "`{name}` is a number: write {} without quotes",
                self.write(text)
            )),
            Given::Fraction(_) => Err(format!("`{name}` is a whole number")),
            _ => Err(format!(
                "`{name}` is a whole number, such as {}",
                self.write("5")
            )),
        }
    }

    fn duration(&self) -> Result<Duration, String> {
        match *self.given {
            Given::Text(text) => duration::parse(text, self.quote()),
            Given::Whole { text, .. } | Given::Fraction(text) if text.starts_with('-') => {
                Err("a duration cannot be negative".to_owned())
            }
            Given::Whole { text, .. } => Err(format!(
                "`{text}` has no unit: did you mean {} or {}?",
                self.quoted(&format!("{text}s")),
                self.quoted(&format!("{text}ms"))
            )),
            _ => Err(format!(
                "`{}` is a duration, such as {} or {}",
                self.name,
                self.quoted("60s"),
                self.quoted("1m30s")
            )),
        }
    }

    fn window(&self) -> Result<Window, String> {
        match *self.given {
            Given::Whole { .. } => self.count().map(Window::Calls),
            Given::Text(text) if text.parse::<u32>().is_ok() => Err(format!(
                "a window in quotes has a unit: write {} for so many calls, or {}",
                self.write(text),
                self.quoted(&format!("{text}s"))
            )),
            Given::Text(text) => duration::parse(text, self.quote()).map(Window::Time),
            _ => Err(format!(
                "`window` is a duration or a number of calls, such as {} or {}",
                self.quoted("60s"),
                self.write("100")
            )),
        }
    }

    /// `0.5` or `"50%"`. A whole 1 could be meant as a hundredth.
    fn share(&self) -> Result<f64, String> {
        match *self.given {
            Given::Text(text) => {
                let percent = text.strip_suffix('%').map(Given::bare);
                match percent {
                    Some(Given::Whole { text, .. } | Given::Fraction(text)) => text
                        .parse()
                        .map_or_else(|_| self.no_share(), |percent: f64| Ok(percent / 100.0)),
                    _ if text.parse::<f64>().is_ok() => Err(format!(
                        "`{}` is a number: write {} without quotes",
                        self.name,
                        self.write(text)
                    )),
                    _ => self.no_share(),
                }
            }
            _ => match self.number() {
                Some(1.0) if matches!(self.given, Given::Whole { .. }) => Err(format!(
                    "`{}` is a share: write {} or {}",
                    self.name,
                    self.write("1.0"),
                    self.quoted("100%")
                )),
                Some(number) if number > 1.0 && number <= 100.0 => Err(format!(
                    "`{}` is a share up to 1: did you mean {}?",
                    self.name,
                    self.quoted(&format!("{number}%"))
                )),
                Some(number) => Ok(number),
                None => self.no_share(),
            },
        }
    }

    fn no_share(&self) -> Result<f64, String> {
        Err(format!(
            "`{}` is a share, such as {} or {}",
            self.name,
            self.write("0.5"),
            self.quoted("50%")
        ))
    }

    fn factor(&self) -> Result<f64, String> {
        let no_factor = || {
            let such = self.write("2");
            format!("`{}` is a factor, such as {such}", self.name)
        };
        self.number().ok_or_else(no_factor)
    }

    fn number(&self) -> Option<f64> {
        match *self.given {
            Given::Whole { text, radix: 10 } | Given::Fraction(text) => text.parse().ok(),
            Given::Whole { text, radix } => u32::from_str_radix(text, radix).ok().map(f64::from),
            Given::Text(_) | Given::Truth(_) | Given::Other(_) => None,
        }
    }

    fn truth(&self) -> Result<bool, String> {
        match *self.given {
            Given::Truth(truth) => Ok(truth),
            Given::Text("true" | "false") => {
                Err(format!("`{}` is true or false, without quotes", self.name))
            }
            _ => Err(format!("`{}` is true or false", self.name)),
        }
    }

    fn on_cancel(&self) -> Result<OnCancel, String> {
        match *self.given {
            Given::Text("ignore") => Ok(OnCancel::Ignore),
            Given::Text("failure") => Ok(OnCancel::Failure),
            Given::Text(text) => match text.strip_prefix("after ") {
                Some(limit) => duration::parse(limit, "").map(OnCancel::After),
                None => self.no_on_cancel(),
            },
            _ => self.no_on_cancel(),
        }
    }

    fn no_on_cancel(&self) -> Result<OnCancel, String> {
        Err(format!(
            "`{}` is one of {}, {} and {}",
            self.name,
            self.quoted("ignore"),
            self.quoted("failure"),
            self.quoted("after 2s")
        ))
    }
}
