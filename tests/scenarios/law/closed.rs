//! A closed circuit: the rules that open it, at an outcome and for calls that hang.

use breakerbox::Reason;

use super::Fault;
use super::Law;
use super::Logged;
use super::Refused;
use super::Said;
use super::Way;
use super::number;
use crate::scenarios::notation::Ending;
use crate::scenarios::seen::Held;

impl Law {
    /// A call comes to a closed circuit.
    pub(super) fn admit_closed(&mut self) -> Result<Way, Refused> {
        let looks =
            !self.has_come_in_this_bucket() && !self.goes_wrong(Fault::AdmissionDoesNotLook);
        self.log.push(Logged::Came {
            at: self.now,
            period: self.periods.len() - 1,
        });
        // Where nobody hangs, only outcomes are judged, whatever has left the window.
        if looks
            && let Some(held) = self.window()
            && held.hung > 0
            && let Some(reason) = self.meets_slow_call_rate(&held)
        {
            self.trip(None, reason);
            return Err(self.refuse_open());
        }
        self.admit_in_ramp()
    }

    /// Whether a call has come in this bucket to the circuit as it is.
    fn has_come_in_this_bucket(&self) -> bool {
        self.log.iter().any(|logged| match logged {
            Logged::Came { at, period } => {
                *period == self.periods.len() - 1 && self.buckets_ago(*at) == 0
            }
            _ => false,
        })
    }

    /// An outcome of a closed circuit. An ignored one is not judged.
    pub(super) fn judge(&mut self, how: Ending, said: Said) {
        if said == Said::Nothing {
            return;
        }
        if matches!(how, Ending::OpenFor(_)) {
            self.trip(Some(how), Reason::OpenFor);
            return;
        }
        if said == Said::Success && self.goes_wrong(Fault::SuccessIsNotJudged) {
            return;
        }
        if let Some(reason) = self.meets() {
            self.trip(Some(how), reason);
        }
    }

    /// The rule that is met, of several the first.
    fn meets(&self) -> Option<Reason> {
        let Some(held) = self.window() else {
            return self.meets_threshold_in_a_row();
        };
        let mut met = [
            self.meets_threshold(&held),
            self.meets_failure_rate(&held),
            self.meets_slow_call_rate(&held),
        ];
        if self.goes_wrong(Fault::RulesInAnotherOrder) {
            met.reverse();
        }
        met.into_iter().flatten().next()
    }

    fn meets_threshold_in_a_row(&self) -> Option<Reason> {
        let threshold = self.numbers.threshold()?;
        let failures = self.failures_in_a_row();
        (failures >= threshold).then(|| Reason::Threshold {
            failures: number(failures),
            threshold: number(threshold),
        })
    }

    /// No time limit, and only a success ends it.
    pub(super) fn failures_in_a_row(&self) -> usize {
        let failures = self.outcomes();
        failures.take_while(|end| end.said != Said::Success).count()
    }

    fn meets_threshold(&self, held: &Held) -> Option<Reason> {
        let threshold = self.numbers.threshold()?;
        (held.failures >= threshold as u64).then(|| Reason::FailuresInWindow {
            failures: small(held.failures),
            threshold: number(threshold),
        })
    }

    fn meets_failure_rate(&self, held: &Held) -> Option<Reason> {
        let limit = self.numbers.failure_rate?;
        let rate = self.failure_rate(held)?;
        let is_met =
            held.failures >= self.numbers.min_failures() as u64 && self.reaches(rate, limit);
        is_met.then(|| Reason::FailureRate {
            failures: small(held.failures),
            calls: small(held.calls),
            limit,
        })
    }

    fn meets_slow_call_rate(&self, held: &Held) -> Option<Reason> {
        let limit = self.numbers.slow_call_rate()?;
        let rate = self.slow_call_rate(held)?;
        self.reaches(rate, limit).then(|| Reason::SlowCallRate {
            slow: small(held.slow + held.hung),
            calls: small(held.calls + held.hung),
            limit,
        })
    }

    fn reaches(&self, rate: f64, limit: f64) -> bool {
        if self.goes_wrong(Fault::RateIsStrict) {
            rate > limit
        } else {
            rate >= limit
        }
    }
}

fn small(count: u64) -> u32 {
    u32::try_from(count).expect("a test has few calls")
}
