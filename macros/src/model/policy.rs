//! Judges the numbers of a breaker, as far as they are known before the compiler knows.

use std::time::Duration;

use proc_macro2::Span;
use syn::Expr;
use syn::Ident;
use syn::spanned::Spanned;

use crate::args::Args;
use crate::args::Given;
use crate::args::OnCancel;
use crate::errors::Errors;
use crate::value::Value;
use crate::value::duration;
use crate::value::number;

/// What the runtime's `Policy` accepts at most; it checks numbers behind code itself.
const MAX_THRESHOLD: u32 = 524_287;
const MAX_PROBES: u32 = MAX_THRESHOLD / 2;

/// One call of a setter of `Policy`.
pub(crate) struct Setting {
    pub(crate) setter: Ident,
    pub(crate) value: SettingValue,
}

pub(crate) enum SettingValue {
    Number(u32, Span),
    Duration(Duration, Span),
    Code(Expr),
    OnCancel(CancelRule),
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
            SettingValue::Number(..) | SettingValue::Duration(..) | SettingValue::OnCancel(_) => {
                None
            }
        }
    }
}

/// The settings that the attribute asks for.
pub(super) fn judge(args: &mut Args, errors: &mut Errors) -> Vec<Setting> {
    let mut settings = Settings {
        settings: Vec::new(),
        errors,
    };
    let numbers = settings.take_numbers([
        (
            args.threshold.take(),
            "`threshold = 0` would open the circuit before any call: use 1 or more",
        ),
        (
            args.probes.take(),
            "`probes = 0` would keep the circuit open for ever: use 1 or more",
        ),
        (
            args.probe_concurrency.take(),
            "`probe_concurrency = 0` would admit no probe: use 1 or more",
        ),
        (
            args.close_after.take(),
            "`close_after = 0` would close the circuit without a probe: use 1 or more",
        ),
    ]);
    settings.compare(numbers);
    settings.take_durations([
        args.cooldown.take(),
        args.probe_timeout.take(),
        args.max_open_for.take(),
    ]);
    settings.take_on_cancel(args.on_cancel.take());
    settings.settings
}

/// Collects the calls of the setters of `Policy`, as far as the values are known checked.
struct Settings<'e> {
    settings: Vec<Setting>,
    errors: &'e mut Errors,
}

/// A number that is known, and where it is written.
type Known = Option<(u32, Span)>;

impl Settings<'_> {
    fn take_numbers<const N: usize>(
        &mut self,
        given: [(Option<Given<Expr>>, &str); N],
    ) -> [Option<Known>; N] {
        given.map(|(given, zero)| {
            let Given { key, value } = given?;
            match self.errors.keep(number(&key.to_string(), value)) {
                Some(Value::Known(0, span)) => {
                    self.errors.at(span, zero);
                    Some(None)
                }
                Some(Value::Known(number, span)) => {
                    self.set(key, SettingValue::Number(number, span));
                    Some(Some((number, span)))
                }
                Some(Value::Code(code)) => {
                    self.set(key, SettingValue::Code(code));
                    Some(None)
                }
                None => Some(None),
            }
        })
    }

    /// What `Policy` would refuse while compiling is said here at the number that is to be changed.
    fn compare(&mut self, [threshold, probes, concurrency, close_after]: [Option<Known>; 4]) {
        if let Some(Some((threshold, span))) = threshold
            && threshold > MAX_THRESHOLD
        {
            self.errors
                .at(span, format!("`threshold` can be at most {MAX_THRESHOLD}"));
        }
        for (key, number) in [("probes", probes), ("close_after", close_after)] {
            if let Some(Some((number, span))) = number
                && number > MAX_PROBES
            {
                self.errors
                    .at(span, format!("`{key}` can be at most {MAX_PROBES}"));
            }
        }
        // `close_after` without `probes` raises them; a number behind code is for the compiler.
        let round = match (probes, close_after) {
            (Some(known), _) | (None, Some(known)) => known.map(|(round, _)| round),
            (None, None) => Some(1),
        };
        let Some(round) = round else { return };
        if let Some(Some((concurrency, span))) = concurrency
            && concurrency > round
        {
            self.errors.at(
                span,
                format!("`probe_concurrency = {concurrency}` needs `probes = {concurrency}` or more: a round has {round}"),
            );
        }
        if let Some(Some((close_after, span))) = close_after
            && close_after > round
        {
            self.errors.at(
                span,
                format!("`close_after = {close_after}` needs `probes = {close_after}` or more: a round has {round}"),
            );
        }
    }

    fn take_durations<const N: usize>(&mut self, given: [Option<Given<Expr>>; N]) {
        for Given { key, value } in given.into_iter().flatten() {
            match self.duration(&key, value) {
                Some(Value::Known(duration, span)) => {
                    self.set(key, SettingValue::Duration(duration, span))
                }
                Some(Value::Code(code)) => self.set(key, SettingValue::Code(code)),
                None => {}
            }
        }
    }

    fn take_on_cancel(&mut self, given: Option<Given<OnCancel>>) {
        let Some(Given { key, value }) = given else {
            return;
        };
        let rule = match value {
            OnCancel::Ignore => CancelRule::Ignore,
            OnCancel::Failure => CancelRule::Failure,
            OnCancel::After(after) => match self.errors.keep(duration("after", after)) {
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
    }
}
