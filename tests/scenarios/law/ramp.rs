//! The ramp after a close: a growing share of the calls that came before the circuit
//! opened.
//!
//! With `d` for the length of the ramp, `t` for the time since it began, and `rate` for
//! the calls a second before:
//!
//! ```text
//! share(t)           = 0.1 + 0.9 * t / d
//! tokens(0)          = 1
//! refill from a to b = rate * (0.1 * (b - a) + 0.9 * (b * b - a * a) / (2 * d))
//! tokens(b)          = min(tokens(a) + refill, 1 + rate * share(b) * 1 s)
//! rate               = calls admitted in the last ten buckets of the closed period
//!                      / clamp(time since that began, one bucket, ten buckets)
//! ```

use std::time::Duration;

use breakerbox::RejectedKind;

use super::Call;
use super::Fault;
use super::Law;
use super::Logged;
use super::Mode;
use super::Refused;
use super::Way;

/// A ramp that began when the circuit closed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ramp {
    pub(super) began: Duration,
    /// Calls a second, before the circuit opened.
    pub(super) rate: f64,
}

/// Sums of fractions are not exact: so near to a whole token both answers are right.
const NEARLY: f64 = 1e-9;

impl Law {
    /// A ramp ends by itself, and is over when somebody comes.
    pub(super) fn notice_the_end_of_a_ramp(&mut self) {
        let Mode::Closed { ramp: Some(ramp) } = self.present().beneath else {
            return;
        };
        let lasts = self.numbers.ramp.unwrap_or_default();
        if self.now - ramp.began >= lasts {
            self.present_mut().beneath = Mode::Closed { ramp: None };
            if !self.goes_wrong(Fault::RampKeepsTrips) {
                self.log.push(Logged::Forgiven);
            }
        }
    }

    /// A call comes to a closed circuit, which may be ramping.
    pub(super) fn admit_in_ramp(&mut self) -> Result<Way, Refused> {
        let (Mode::Closed { ramp: Some(ramp) }, Some(length)) =
            (self.present().beneath, self.numbers.ramp)
        else {
            return Ok(Way::Admitted);
        };
        let tokens = self.tokens(ramp, length);
        let is_alone = !self.calls_of_now().any(|call| call.end.is_none());
        let admits_free = is_alone && !self.goes_wrong(Fault::RampAdmitsNobodyForFree);
        let pays = match self.hint.admitted {
            Some(admitted) if (tokens - 1.0).abs() < NEARLY && !is_alone => admitted,
            _ => tokens >= 1.0,
        };
        self.log.push(Logged::Asked {
            ramp: ramp.began,
            at: self.now,
            pays,
        });
        if pays || admits_free {
            Ok(Way::Admitted)
        } else {
            Err(self.refuse(RejectedKind::Ramp))
        }
    }

    /// The tokens there are now, in a ramp of this length.
    fn tokens(&self, ramp: Ramp, length: Duration) -> f64 {
        let length = length.as_secs_f64();
        let first = if self.goes_wrong(Fault::RampBeginsHigher) {
            0.2
        } else {
            0.1
        };
        let into = |at: Duration| (at - ramp.began).as_secs_f64();
        let filled = |tokens: f64, a: f64, b: f64| {
            let refill =
                ramp.rate * (first * (b - a) + (1.0 - first) * (b * b - a * a) / (2.0 * length));
            let share = first + (1.0 - first) * b / length;
            (tokens + refill).min(1.0 + ramp.rate * share)
        };
        let mut tokens = 1.0;
        let mut counted = 0.0;
        for logged in &self.log {
            if let Logged::Asked { ramp: of, at, pays } = *logged
                && of == ramp.began
            {
                tokens = filled(tokens, counted, into(at));
                tokens -= if pays { 1.0 } else { 0.0 };
                counted = into(at);
            }
        }
        filled(tokens, counted, into(self.now))
    }

    /// Calls a second, seen from a trip out of the closed period.
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn calls_per_second(&self) -> f64 {
        let recent = |call: &&Call| self.buckets_ago(call.began) < 10;
        let calls = self.calls_of_now().filter(recent).count();
        let width = self.numbers.width();
        let since = (self.now - self.present().began).as_nanos();
        calls as f64 / (since.clamp(width, 10 * width) as f64 / 1e9)
    }

    /// What was seen before the last trip out of a circuit that did not ramp.
    pub(super) fn rate_before(&self) -> f64 {
        let rates = self.log.iter().rev().find_map(|logged| match logged {
            Logged::Rate(rate) => Some(*rate),
            _ => None,
        });
        rates.unwrap_or(0.0)
    }
}
