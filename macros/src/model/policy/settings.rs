//! Judges each number for itself, and makes a call of its setter of it.

use std::time::Duration;

use proc_macro2::Span;
use quote::ToTokens;
use syn::Expr;
use syn::ExprLit;
use syn::ExprUnary;
use syn::Ident;
use syn::Lit;
use syn::UnOp;

use super::CancelRule;
use super::MAX_BACKOFF;
use super::MAX_WINDOW_CALLS;
use super::Setting;
use super::SettingValue;
use super::Window;
use crate::args::Flag;
use crate::args::Given;
use crate::args::OnCancel;
use crate::args::Switch;
use crate::errors::Errors;
use crate::share::Share;
use crate::share::factor;
use crate::share::share;
use crate::value::Value;
use crate::value::bare;
use crate::value::duration;
use crate::value::number;
use crate::value::parse_duration;

/// What an attribute says of one key: nothing, a value that is known where it is written, or
/// one that is wrong or behind code.
#[derive(Clone, Copy)]
pub(in crate::model) enum Said<T> {
    Nothing,
    Known(T, Span),
    Unknown(Span),
}

impl<T: Copy> Said<T> {
    /// Where it is written, if it is.
    pub(in crate::model) const fn span(&self) -> Option<Span> {
        match self {
            Self::Nothing => None,
            Self::Known(_, span) | Self::Unknown(span) => Some(*span),
        }
    }

    pub(in crate::model) const fn is_written(&self) -> bool {
        !matches!(self, Self::Nothing)
    }

    pub(in crate::model) const fn known(&self) -> Option<(T, Span)> {
        match self {
            Self::Known(value, span) => Some((*value, *span)),
            Self::Nothing | Self::Unknown(_) => None,
        }
    }

    /// What holds, if that is known here.
    pub(in crate::model) const fn or(&self, default: T) -> Option<T> {
        match self {
            Self::Nothing => Some(default),
            Self::Known(value, _) => Some(*value),
            Self::Unknown(_) => None,
        }
    }
}

/// Collects the calls of the setters of `Policy`, as far as the values are known checked.
pub(in crate::model) struct Settings<'e> {
    settings: Vec<Setting>,
    errors: &'e mut Errors,
}

impl<'e> Settings<'e> {
    pub(in crate::model) const fn new(errors: &'e mut Errors) -> Self {
        Self {
            settings: Vec::new(),
            errors,
        }
    }

    pub(in crate::model) fn into_settings(self) -> Vec<Setting> {
        self.settings
    }

    pub(in crate::model) fn take_number(
        &mut self,
        given: Option<Given<Expr>>,
        zero: &str,
        most: u32,
    ) -> Said<u32> {
        self.take(given, SettingValue::Number, |key, value| {
            match number(key, value)? {
                Value::Known(0, span) => Err(syn::Error::new(span, zero)),
                Value::Known(number, span) if number > most => {
                    let message = format!("`{key}` can be at most {most}");
                    Err(syn::Error::new(span, message))
                }
                value => Ok(value),
            }
        })
    }

    /// A number that may be none.
    pub(in crate::model) fn take_amount(&mut self, given: Option<Given<Expr>>) -> Said<u32> {
        self.take(given, SettingValue::Number, number)
    }

    pub(in crate::model) fn take_share(
        &mut self,
        given: Option<Given<Expr>>,
        kind: Share,
    ) -> Said<f64> {
        self.take(given, SettingValue::Float, |key, value| {
            share(key, value, kind)
        })
    }

    pub(in crate::model) fn take_factor(&mut self, given: Option<Given<Expr>>) -> Said<f64> {
        self.take(given, SettingValue::Float, |key, value| {
            match factor(key, value)? {
                Value::Known(factor, span) if !(1.0..=MAX_BACKOFF).contains(&factor) => {
                    let message = format!("`{key}` is a factor from 1 to {MAX_BACKOFF}, such as 2");
                    Err(syn::Error::new(span, message))
                }
                value => Ok(value),
            }
        })
    }

    pub(in crate::model) fn take_duration(&mut self, given: Option<Given<Expr>>) -> Said<Duration> {
        self.take(given, SettingValue::Duration, |key, value| {
            longer_than_zero(key, value, "")
        })
    }

    /// A duration that may be none.
    pub(in crate::model) fn take_wait(&mut self, given: Option<Given<Expr>>) -> Said<Duration> {
        self.take(given, SettingValue::Duration, duration)
    }

    pub(in crate::model) fn take_window(&mut self, given: Option<Given<Expr>>) -> Said<Window> {
        self.take(given, SettingValue::Window, window)
    }

    pub(in crate::model) fn take_switch(&mut self, given: Option<Given<Switch>>) {
        if let Some(Given { key, value }) = given {
            let value = match value {
                Switch::Literal(value) => SettingValue::Switch(value),
                Switch::Code(code) => SettingValue::Code(code),
            };
            self.set(key, value);
        }
    }

    pub(in crate::model) fn take_flag(&mut self, given: Option<Given<Flag>>) {
        if let Some(Given { key, value: Flag }) = given {
            self.set(key, SettingValue::Nothing);
        }
    }

    pub(in crate::model) fn take_on_cancel(&mut self, given: Option<Given<OnCancel>>) {
        let Some(Given { key, value }) = given else {
            return;
        };
        let rule = match value {
            OnCancel::Ignore => CancelRule::Ignore,
            OnCancel::Failure => CancelRule::Failure,
            OnCancel::After(after) => {
                let after = longer_than_zero("after", after, ": or use `on_cancel = failure`");
                match self.errors.keep(after) {
                    Some(after) => CancelRule::After {
                        after,
                        before: None,
                    },
                    None => return,
                }
            }
        };
        self.set(key, SettingValue::OnCancel(rule));
    }

    /// Reads one value and keeps it as the call of its setter.
    fn take<T: Copy>(
        &mut self,
        given: Option<Given<Expr>>,
        known: impl FnOnce(T, Span) -> SettingValue,
        read: impl FnOnce(&str, Expr) -> syn::Result<Value<T>>,
    ) -> Said<T> {
        let Some(Given { key, value }) = given else {
            return Said::Nothing;
        };
        let at = key.span();
        let read = read(&key.to_string(), value);
        match self.errors.keep(read) {
            Some(Value::Known(value, span)) => {
                self.set(key, known(value, span));
                return Said::Known(value, span);
            }
            Some(Value::Code(code)) => self.set(key, SettingValue::Code(code)),
            None => {}
        }
        Said::Unknown(at)
    }

    fn set(&mut self, setter: Ident, value: SettingValue) {
        self.settings.push(Setting { setter, value });
    }
}

pub(in crate::model) fn longer_than_zero(
    key: &str,
    value: Expr,
    or_else: &str,
) -> syn::Result<Value<Duration>> {
    match duration(key, value)? {
        Value::Known(Duration::ZERO, span) => {
            let message = format!("`{key}` must be longer than zero{or_else}");
            Err(syn::Error::new(span, message))
        }
        value => Ok(value),
    }
}

/// Quotes make it a time, a bare number so many calls.
fn window(key: &str, value: Expr) -> syn::Result<Value<Window>> {
    let value = bare(value);
    let lit = match &value {
        Expr::Lit(ExprLit { lit, .. }) => lit,
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(minus),
            expr,
            ..
        }) if matches!(**expr, Expr::Lit(_)) => {
            let message = format!("`{key}` cannot be negative");
            return Err(syn::Error::new(minus.span, message));
        }
        _ => return Ok(Value::Code(value)),
    };
    let written = lit.to_token_stream().to_string();
    match lit {
        Lit::Str(text) if text.value().parse::<u32>().is_ok() => {
            let digits = text.value();
            let message = format!(
                "`{digits}` has no unit: did you mean `\"{digits}s\"`, or `{key} = {digits}` \
                 for so many calls?"
            );
            Err(syn::Error::new(text.span(), message))
        }
        Lit::Int(_) if parse_duration(&written).is_err() => calls(key, value),
        Lit::Str(_) | Lit::Int(_) => Ok(match longer_than_zero(key, value, "")? {
            Value::Known(time, span) => Value::Known(Window::Time(time), span),
            Value::Code(code) => Value::Code(code),
        }),
        _ => Err(syn::Error::new(
            lit.span(),
            format!("`{key}` is a time, `{key} = \"60s\"`, or so many calls, `{key} = 100`"),
        )),
    }
}

fn calls(key: &str, value: Expr) -> syn::Result<Value<Window>> {
    match number(key, value)? {
        Value::Known(0, span) => Err(syn::Error::new(
            span,
            format!("`{key} = 0` looks back on nothing: use 1 or more"),
        )),
        Value::Known(calls, span) if calls > MAX_WINDOW_CALLS => Err(syn::Error::new(
            span,
            format!("`{key}` can be at most {MAX_WINDOW_CALLS} calls"),
        )),
        Value::Known(calls, span) => Ok(Value::Known(Window::Calls(calls), span)),
        Value::Code(code) => Ok(Value::Code(code)),
    }
}
