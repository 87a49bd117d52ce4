//! Judges the numbers of a breaker, as far as they are known before the compiler knows.

mod contradictions;
pub(super) mod settings;
#[cfg(test)]
mod tests;

use std::time::Duration;

use proc_macro2::Span;
use syn::Expr;
use syn::Ident;
use syn::spanned::Spanned;

use crate::args::BreakerArgs;
use crate::errors::Errors;
use crate::share::Share;
use crate::value::Value;

use contradictions::Known;
use settings::Settings;

/// What the runtime's `Policy` accepts at most; it checks numbers behind code itself.
const MAX_THRESHOLD: u32 = 524_287;
const MAX_PROBES: u32 = MAX_THRESHOLD / 2;
const MAX_WINDOW_CALLS: u32 = 1_000_000;
const MAX_KEYS: u32 = 1_000_000;
const MAX_INSTANCES: u32 = 64;
const MAX_BACKOFF: f64 = 1_000.0;

/// What holds where nothing is written, as far as something can contradict it.
const THRESHOLD: u32 = 5;
const COOLDOWN: Duration = Duration::from_secs(60);

/// One call of a setter of `Policy`.
pub(crate) struct Setting {
    pub(crate) setter: Ident,
    pub(crate) value: SettingValue,
}

pub(crate) enum SettingValue {
    Number(u32, Span),
    Float(f64, Span),
    Duration(Duration, Span),
    Window(Window, Span),
    Switch(bool),
    /// The setter takes nothing.
    Nothing,
    Code(Expr),
    OnCancel(CancelRule),
}

/// A window that is known here.
#[derive(Clone, Copy)]
pub(crate) enum Window {
    Time(Duration),
    Calls(u32),
}

pub(crate) enum CancelRule {
    Ignore,
    Failure,
    After {
        after: Value<Duration>,
        /// The timeout around, before which it has to be.
        before: Option<Duration>,
    },
}

impl Setting {
    /// Where a value stands that only the compiler knows.
    pub(crate) fn code_span(&self) -> Option<Span> {
        match &self.value {
            SettingValue::Code(code)
            | SettingValue::OnCancel(CancelRule::After {
                after: Value::Code(code),
                ..
            }) => Some(code.span()),
            _ => None,
        }
    }
}

/// The settings that the attribute asks for.
pub(super) fn judge(args: &mut BreakerArgs, errors: &mut Errors) -> Vec<Setting> {
    let mut settings = Settings::new(errors);
    let threshold = settings.take_number(
        args.threshold.take(),
        "`threshold = 0` would open the circuit before any call: use 1 or more",
        MAX_THRESHOLD,
    );
    let window = settings.take_window(args.window.take());
    let failure_rate = settings.take_share(args.failure_rate.take(), Share::Rate);
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
    let slow_call_rate = settings.take_share(args.slow_call_rate.take(), Share::Rate);
    let cooldown = settings.take_duration(args.cooldown.take());
    settings.take_factor(args.backoff.take());
    let max_cooldown = settings.take_duration(args.max_cooldown.take());
    settings.take_share(args.jitter.take(), Share::Part);
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
    settings.take_share(args.probe_failure_rate.take(), Share::Rate);
    settings.take_duration(args.probe_timeout.take());
    settings.take_duration(args.max_open_for.take());
    settings.take_duration(args.ramp.take());
    settings.take_on_cancel(args.on_cancel.take());
    settings.take_switch(args.shadow.take());
    let max_keys = settings.take_number(
        args.max_keys.take(),
        "`max_keys` must be at least 1",
        MAX_KEYS,
    );
    settings.take_number(
        args.min_instances.take(),
        "`min_instances` must be at least 1",
        MAX_INSTANCES,
    );
    settings.take_wait(args.probe_wait.take());
    let known = Known {
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
        max_keys,
        has_keys: args.by_key.is_some() || args.handle.is_some(),
    };
    let settings = settings.into_settings();
    known.judge(errors);
    settings
}
