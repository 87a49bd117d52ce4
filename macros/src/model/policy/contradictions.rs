//! Numbers that contradict each other, said at the one to change. The runtime's `Policy`
//! judges by the same rules what is behind code.

use std::time::Duration;

use proc_macro2::Span;

use super::Said;
use super::Window;
use crate::errors::Errors;

/// What is known of the numbers that depend on each other.
pub(super) struct Known {
    pub(super) threshold: Said<u32>,
    pub(super) window: Said<Window>,
    pub(super) failure_rate: Said<f64>,
    pub(super) min_calls: Said<u32>,
    pub(super) min_failures: Said<u32>,
    pub(super) slow_call: Said<Duration>,
    pub(super) slow_call_rate: Said<f64>,
    pub(super) cooldown: Said<Duration>,
    pub(super) max_cooldown: Said<Duration>,
    pub(super) probes: Said<u32>,
    pub(super) probe_concurrency: Said<u32>,
    pub(super) close_after: Said<u32>,
}

impl<T: Copy> Said<T> {
    /// Where it is written, if it is.
    const fn span(&self) -> Option<Span> {
        match self {
            Self::Nothing => None,
            Self::Known(_, span) | Self::Unknown(span) => Some(*span),
        }
    }

    const fn is_written(&self) -> bool {
        !matches!(self, Self::Nothing)
    }

    const fn known(&self) -> Option<(T, Span)> {
        match self {
            Self::Known(value, span) => Some((*value, *span)),
            Self::Nothing | Self::Unknown(_) => None,
        }
    }
}

impl Known {
    pub(super) fn judge(&self, errors: &mut Errors) {
        self.rates_need_a_window(errors);
        self.gates_need_rates(errors);
        self.a_count_window_holds_no_more(errors);
        self.a_slow_call_fits_its_window(errors);
        self.cooldowns_grow(errors);
        self.a_round_has_so_many(errors);
    }

    fn rates_need_a_window(&self, errors: &mut Errors) {
        let add = "add `window = \"60s\"` or `window = 100`";
        if let (Some(span), false) = (self.slow_call_rate.span(), self.slow_call.is_written()) {
            errors.at(
                span,
                "`slow_call_rate` needs `slow_call`: say how long a slow call takes",
            );
        }
        if self.window.is_written() {
            return;
        }
        for (key, span) in [
            ("failure_rate", self.failure_rate.span()),
            ("slow_call_rate", self.slow_call_rate.span()),
        ] {
            if let Some(span) = span {
                errors.at(
                    span,
                    format!("`{key}` needs a window to look back on: {add}"),
                );
            }
        }
    }

    fn gates_need_rates(&self, errors: &mut Errors) {
        let has_slow_rule = self.window.is_written() && self.slow_call.is_written();
        if let Some(span) = self.min_calls.span()
            && !self.failure_rate.is_written()
            && !self.slow_call_rate.is_written()
            && !has_slow_rule
        {
            errors.at(
                span,
                "`min_calls` gates rates alone: add `failure_rate` or `slow_call`, or leave it out",
            );
        }
        if let Some(span) = self.min_failures.span()
            && !self.failure_rate.is_written()
        {
            errors.at(
                span,
                "`min_failures` gates `failure_rate` alone: add that, or leave it out",
            );
        }
    }

    fn a_count_window_holds_no_more(&self, errors: &mut Errors) {
        let Some((Window::Calls(window, _), _)) = self.window.known() else {
            return;
        };
        for (key, said) in [
            ("threshold", self.threshold),
            ("min_calls", self.min_calls),
            ("min_failures", self.min_failures),
        ] {
            if let Some((number, span)) = said.known()
                && number > window
            {
                errors.at(
                    span,
                    format!(
                        "`{key} = {number}` is more than the window of {window} calls can hold"
                    ),
                );
            }
        }
    }

    fn a_slow_call_fits_its_window(&self, errors: &mut Errors) {
        if let (Some((Window::Time(window, _), _)), Some((slow, span))) =
            (self.window.known(), self.slow_call.known())
            && slow > window
        {
            errors.at(
                span,
                "`slow_call` is longer than `window`: look back at least as long as a slow call takes",
            );
        }
    }

    fn cooldowns_grow(&self, errors: &mut Errors) {
        let cooldown = match self.cooldown {
            Said::Nothing => Some(Duration::from_secs(60)),
            said => said.known().map(|(cooldown, _)| cooldown),
        };
        if let (Some(cooldown), Some((longest, span))) = (cooldown, self.max_cooldown.known())
            && longest < cooldown
        {
            errors.at(
                span,
                format!("`max_cooldown` is shorter than the cooldown of {cooldown:?}"),
            );
        }
    }

    fn a_round_has_so_many(&self, errors: &mut Errors) {
        // `close_after` without `probes` raises them; a number behind code is for the compiler.
        let round = match (self.probes, self.close_after) {
            (Said::Nothing, Said::Nothing) => Some(1),
            (Said::Nothing, said) | (said, _) => said.known().map(|(round, _)| round),
        };
        let Some(round) = round else { return };
        for (key, said) in [
            ("probe_concurrency", self.probe_concurrency),
            ("close_after", self.close_after),
        ] {
            if let Some((number, span)) = said.known()
                && number > round
            {
                errors.at(
                    span,
                    format!(
                        "`{key} = {number}` needs `probes = {number}` or more: a round has {round}"
                    ),
                );
            }
        }
    }
}
