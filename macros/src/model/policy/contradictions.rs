//! Numbers that contradict each other, said at the one to change. The runtime's `Policy`
//! judges by the same rules what is behind code.

use std::time::Duration;

use super::COOLDOWN;
use super::THRESHOLD;
use super::Window;
use super::settings::Said;
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
    pub(super) max_keys: Said<u32>,
    /// Whether a breaker of its own is asked for each key, or for none by hand.
    pub(super) has_keys: bool,
}

/// The keys that others need, each as it is meant: written, or written in a way that could
/// not be read, of which something is said already.
struct Meant {
    threshold: bool,
    window: bool,
    failure_rate: bool,
    slow_call: bool,
    slow_call_rate: bool,
    keys: bool,
}

impl Known {
    pub(super) fn judge(&self, errors: &mut Errors) {
        let meant = Meant {
            threshold: self.threshold.is_written() || errors.mentions("threshold"),
            window: self.window.is_written() || errors.mentions("window"),
            failure_rate: self.failure_rate.is_written() || errors.mentions("failure_rate"),
            slow_call: self.slow_call.is_written() || errors.mentions("slow_call"),
            slow_call_rate: self.slow_call_rate.is_written() || errors.mentions("slow_call_rate"),
            keys: self.has_keys || errors.mentions("key"),
        };
        self.rates_need_a_window(&meant, errors);
        self.gates_need_rates(&meant, errors);
        self.a_count_window_holds_no_more(&meant, errors);
        self.a_slow_call_fits_its_window(errors);
        self.cooldowns_grow(errors);
        self.a_round_has_so_many(errors);
        if let (Some(span), false) = (self.max_keys.span(), meant.keys) {
            errors.at(
                span,
                "`max_keys` needs `key`: add what tells the breakers apart, such as `key = tenant`",
            );
        }
    }

    fn rates_need_a_window(&self, meant: &Meant, errors: &mut Errors) {
        let rates = [
            ("failure_rate", self.failure_rate.span()),
            ("slow_call_rate", self.slow_call_rate.span()),
        ];
        for (key, span) in rates {
            if let (Some(span), false) = (span, meant.window) {
                let message = format!(
                    "`{key}` needs a window to look back on: add `window = \"60s\"` or \
                     `window = 100`"
                );
                errors.at(span, message);
            }
        }
        if let (Some(span), false) = (self.slow_call_rate.span(), meant.slow_call) {
            errors.at(
                span,
                "`slow_call_rate` needs to know what is slow: add `slow_call = \"2s\"`",
            );
        }
    }

    fn gates_need_rates(&self, meant: &Meant, errors: &mut Errors) {
        let has_rate = meant.failure_rate || meant.slow_call_rate;
        let has_slow_rule = meant.window && meant.slow_call;
        if let (Some(span), false) = (self.min_calls.span(), has_rate || has_slow_rule) {
            let add = if meant.window {
                "add `failure_rate` or `slow_call`"
            } else {
                "add a `window` and `failure_rate` or `slow_call`"
            };
            let message = format!("`min_calls` gates rates alone: {add}, or leave it out");
            errors.at(span, message);
        }
        if let (Some(span), false) = (self.min_failures.span(), meant.failure_rate) {
            errors.at(
                span,
                "`min_failures` gates `failure_rate` alone: add that, or leave it out",
            );
        }
    }

    fn a_count_window_holds_no_more(&self, meant: &Meant, errors: &mut Errors) {
        let Some((Window::Calls(window), at)) = self.window.known() else {
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
                let message = format!(
                    "`{key} = {number}` is more than a window of {window} calls can hold: use \
                     {window} or less, or a larger window"
                );
                errors.at(span, message);
            }
        }
        let is_default = !(meant.threshold || meant.failure_rate || meant.slow_call_rate);
        if is_default && THRESHOLD > window {
            let message = format!(
                "`threshold` is {THRESHOLD} by default, more than a window of {window} calls can \
                 hold: add `threshold = {window}`, or use a larger window"
            );
            errors.at(at, message);
        }
    }

    fn a_slow_call_fits_its_window(&self, errors: &mut Errors) {
        if let (Some((Window::Time(window), _)), Some((slow, span))) =
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
        if let (Some(cooldown), Some((longest, span))) =
            (self.cooldown.or(COOLDOWN), self.max_cooldown.known())
            && longest < cooldown
        {
            let message = format!(
                "`max_cooldown` is shorter than the cooldown of {cooldown:?}: use that or more, \
                 or a shorter `cooldown`"
            );
            errors.at(span, message);
        }
    }

    fn a_round_has_so_many(&self, errors: &mut Errors) {
        // `close_after` without `probes` raises them; a number behind code is for the compiler.
        let round = match (self.probes, self.close_after) {
            (Said::Nothing, close_after) => close_after.or(1),
            (probes, _) => probes.or(1),
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
