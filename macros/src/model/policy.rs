//! Judges the numbers of a breaker, as far as they are known before the compiler knows.

mod contradictions;

use std::time::Duration;

use proc_macro2::Span;
use syn::Expr;
use syn::ExprLit;
use syn::Ident;
use syn::Lit;
use syn::spanned::Spanned;

use crate::args::Args;
use crate::args::Given;
use crate::args::OnCancel;
use crate::args::Switch;
use crate::errors::Errors;
use crate::share::factor;
use crate::share::share;
use crate::value::Value;
use crate::value::bare;
use crate::value::duration;
use crate::value::number;

use contradictions::Known;

/// What the runtime's `Policy` accepts at most; it checks numbers behind code itself.
const MAX_THRESHOLD: u32 = 524_287;
const MAX_PROBES: u32 = MAX_THRESHOLD / 2;
const MAX_WINDOW_CALLS: u32 = 1_000_000;
const MAX_KEYS: u32 = 1_000_000;
const MAX_BACKOFF: f64 = 1_000.0;

/// One call of a setter of `Policy`.
pub(crate) struct Setting {
    pub(crate) setter: Ident,
    pub(crate) value: SettingValue,
}

pub(crate) enum SettingValue {
    Number(u32, Span),
    Share(f64, Span),
    Duration(Duration, Span),
    Window(Window),
    Switch(bool),
    Code(Expr),
    OnCancel(CancelRule),
}

/// A window that is known here.
#[derive(Clone, Copy)]
pub(crate) enum Window {
    Time(Duration, Span),
    Calls(u32, Span),
}

pub(crate) enum CancelRule {
    Ignore,
    Failure,
    After(Value<Duration>),
}

impl Setting {
    /// Where a value stands that only the compiler knows.
    pub(crate) fn code_span(&self) -> Option<Span> {
        match &self.value {
            SettingValue::Code(code)
            | SettingValue::OnCancel(CancelRule::After(Value::Code(code))) => Some(code.span()),
            _ => None,
        }
    }
}

/// The settings that the attribute asks for.
pub(super) fn judge(args: &mut Args, errors: &mut Errors) -> Vec<Setting> {
    let mut settings = Settings {
        settings: Vec::new(),
        errors,
    };
    let threshold = settings.take_number(
        args.threshold.take(),
        "`threshold = 0` would open the circuit before any call: use 1 or more",
        MAX_THRESHOLD,
    );
    let window = settings.take_window(args.window.take());
    let failure_rate = settings.take_rate(args.failure_rate.take());
    let min_calls = settings.take_number(
        args.min_calls.take(),
        "`min_calls` must be at least 1",
        u32::MAX,
    );
    let min_failures = settings.take_number(
        args.min_failures.take(),
        "`min_failures` must be at least 1",
        u32::MAX,
    );
    let slow_call = settings.take_duration(args.slow_call.take());
    let slow_call_rate = settings.take_rate(args.slow_call_rate.take());
    let cooldown = settings.take_duration(args.cooldown.take());
    settings.take_backoff(args.backoff.take());
    let max_cooldown = settings.take_duration(args.max_cooldown.take());
    settings.take_jitter(args.jitter.take());
    let probes = settings.take_number(
        args.probes.take(),
        "`probes = 0` would keep the circuit open for ever: use 1 or more",
        MAX_PROBES,
    );
    let probe_concurrency = settings.take_number(
        args.probe_concurrency.take(),
        "`probe_concurrency = 0` would admit no probe: use 1 or more",
        u32::MAX,
    );
    let close_after = settings.take_number(
        args.close_after.take(),
        "`close_after = 0` would close the circuit without a probe: use 1 or more",
        MAX_PROBES,
    );
    settings.take_rate(args.probe_failure_rate.take());
    settings.take_duration(args.probe_timeout.take());
    settings.take_duration(args.max_open_for.take());
    settings.take_duration(args.ramp.take());
    settings.take_on_cancel(args.on_cancel.take());
    settings.take_shadow(args.shadow.take());
    let has_keys = args.by_key.is_some();
    if let (Some(max), false) = (&args.max_keys, has_keys) {
        settings.errors.at(
            max.key.span(),
            "`max_keys` needs `key`: say what tells the breakers apart",
        );
    }
    settings.take_number(
        args.max_keys.take(),
        "`max_keys` must be at least 1",
        MAX_KEYS,
    );
    Known {
        threshold,
        window,
        failure_rate,
        min_calls,
        min_failures,
        slow_call,
        slow_call_rate,
        cooldown,
        max_cooldown,
        probes,
        probe_concurrency,
        close_after,
    }
    .judge(settings.errors);
    settings.settings
}

/// Collects the calls of the setters of `Policy`, as far as the values are known checked.
struct Settings<'e> {
    settings: Vec<Setting>,
    errors: &'e mut Errors,
}

/// What an attribute says of one key: nothing, a value that is known where it is written, or
/// one that is wrong or behind code.
#[derive(Clone, Copy)]
enum Said<T> {
    Nothing,
    Known(T, Span),
    Unknown(Span),
}

impl Settings<'_> {
    fn take_number(&mut self, given: Option<Given<Expr>>, zero: &str, most: u32) -> Said<u32> {
        let Some(Given { key, value }) = given else {
            return Said::Nothing;
        };
        let at = key.span();
        match self.errors.keep(number(&key.to_string(), value)) {
            Some(Value::Known(0, span)) => self.errors.at(span, zero),
            Some(Value::Known(number, span)) if number > most => {
                self.errors
                    .at(span, format!("`{key}` can be at most {most}"));
            }
            Some(Value::Known(number, span)) => {
                self.set(key, SettingValue::Number(number, span));
                return Said::Known(number, span);
            }
            Some(Value::Code(code)) => self.set(key, SettingValue::Code(code)),
            None => {}
        }
        Said::Unknown(at)
    }

    fn take_rate(&mut self, given: Option<Given<Expr>>) -> Said<f64> {
        self.take_share(
            given,
            |rate| rate > 0.0 && rate <= 1.0,
            "above 0 and up to 1",
        )
    }

    fn take_jitter(&mut self, given: Option<Given<Expr>>) {
        self.take_share(given, |share| (0.0..=1.0).contains(&share), "from 0 to 1");
    }

    fn take_share(
        &mut self,
        given: Option<Given<Expr>>,
        can_be: impl Fn(f64) -> bool,
        range: &str,
    ) -> Said<f64> {
        let Some(Given { key, value }) = given else {
            return Said::Nothing;
        };
        let at = key.span();
        match self.errors.keep(share(&key.to_string(), value)) {
            Some(Value::Known(share, span)) if !can_be(share) => {
                self.errors
                    .at(span, format!("`{key}` is a share {range}, such as 0.5"));
            }
            Some(Value::Known(share, span)) => {
                self.set(key, SettingValue::Share(share, span));
                return Said::Known(share, span);
            }
            Some(Value::Code(code)) => self.set(key, SettingValue::Code(code)),
            None => {}
        }
        Said::Unknown(at)
    }

    fn take_backoff(&mut self, given: Option<Given<Expr>>) {
        let Some(Given { key, value }) = given else {
            return;
        };
        match self.errors.keep(factor(&key.to_string(), value)) {
            Some(Value::Known(factor, span)) if !(1.0..=MAX_BACKOFF).contains(&factor) => {
                self.errors
                    .at(span, "`backoff` is a factor from 1 to 1000, such as 2");
            }
            Some(Value::Known(factor, span)) => self.set(key, SettingValue::Share(factor, span)),
            Some(Value::Code(code)) => self.set(key, SettingValue::Code(code)),
            None => {}
        }
    }

    /// Quotes make it a time, a bare number so many calls.
    fn take_window(&mut self, given: Option<Given<Expr>>) -> Said<Window> {
        let Some(Given { key, value }) = given else {
            return Said::Nothing;
        };
        let at = key.span();
        let value = bare(value);
        let is_time = matches!(
            &value,
            Expr::Lit(ExprLit {
                lit: Lit::Str(_),
                ..
            })
        );
        let is_number = matches!(
            &value,
            Expr::Lit(ExprLit {
                lit: Lit::Int(_),
                ..
            })
        );
        let window = if is_time {
            match self.duration(&key, value) {
                Some(Value::Known(duration, span)) => Some((Window::Time(duration, span), span)),
                _ => None,
            }
        } else if is_number {
            match self.errors.keep(number("window", value)) {
                Some(Value::Known(0, span)) => {
                    self.errors.at(span, "`window = 0` looks back on nothing");
                    None
                }
                Some(Value::Known(calls, span)) if calls > MAX_WINDOW_CALLS => {
                    let message = format!("`window` can be at most {MAX_WINDOW_CALLS} calls");
                    self.errors.at(span, message);
                    None
                }
                Some(Value::Known(calls, span)) => Some((Window::Calls(calls, span), span)),
                _ => None,
            }
        } else if matches!(value, Expr::Lit(_) | Expr::Unary(_)) {
            self.errors.at(
                value.span(),
                "`window` is a time, `window = \"60s\"`, or so many calls, `window = 100`",
            );
            None
        } else {
            self.set(key, SettingValue::Code(value));
            return Said::Unknown(at);
        };
        match window {
            None => Said::Unknown(at),
            Some((window, span)) => {
                self.set(key, SettingValue::Window(window));
                Said::Known(window, span)
            }
        }
    }

    fn take_duration(&mut self, given: Option<Given<Expr>>) -> Said<Duration> {
        let Some(Given { key, value }) = given else {
            return Said::Nothing;
        };
        let at = key.span();
        match self.duration(&key, value) {
            Some(Value::Known(duration, span)) => {
                self.set(key, SettingValue::Duration(duration, span));
                Said::Known(duration, span)
            }
            Some(Value::Code(code)) => {
                self.set(key, SettingValue::Code(code));
                Said::Unknown(at)
            }
            None => Said::Unknown(at),
        }
    }

    fn take_shadow(&mut self, given: Option<Given<Switch>>) {
        let Some(Given { key, value }) = given else {
            return;
        };
        self.set(
            key,
            match value {
                Switch::Literal(value) => SettingValue::Switch(value),
                Switch::Code(code) => SettingValue::Code(code),
            },
        );
    }

    fn take_on_cancel(&mut self, given: Option<Given<OnCancel>>) {
        let Some(Given { key, value }) = given else {
            return;
        };
        let rule = match value {
            OnCancel::Ignore => CancelRule::Ignore,
            OnCancel::Failure => CancelRule::Failure,
            OnCancel::After(after) => match self.errors.keep(duration("after", after)) {
                Some(Value::Known(Duration::ZERO, span)) => {
                    self.errors.at(
                        span,
                        "`after` must be longer than zero: or use `on_cancel = failure`",
                    );
                    return;
                }
                Some(after) => CancelRule::After(after),
                None => return,
            },
        };
        self.set(key, SettingValue::OnCancel(rule));
    }

    fn duration(&mut self, key: &Ident, value: Expr) -> Option<Value<Duration>> {
        let value = self.errors.keep(duration(&key.to_string(), value))?;
        match value {
            Value::Known(Duration::ZERO, span) => {
                self.errors
                    .at(span, format!("`{key}` must be longer than zero"));
                None
            }
            value => Some(value),
        }
    }

    fn set(&mut self, setter: Ident, value: SettingValue) {
        self.settings.push(Setting { setter, value });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_are_those_of_the_runtime() {
        assert_eq!(MAX_THRESHOLD, breakerbox::Policy::MAX_THRESHOLD);
        assert_eq!(MAX_PROBES, breakerbox::Policy::MAX_PROBES);
        assert_eq!(MAX_WINDOW_CALLS, breakerbox::Policy::MAX_WINDOW_CALLS);
        assert_eq!(MAX_KEYS, breakerbox::Policy::MAX_KEYS);
    }
}
