//! A half-open round: who may probe, and what the probes decide.

use breakerbox::Reason;
use breakerbox::RejectedKind;

use super::Call;
use super::Fault;
use super::Law;
use super::Logged;
use super::Mode;
use super::Ramp;
use super::Refused;
use super::Said;
use super::Way;
use super::number;
use crate::scenarios::notation::Ending;

/// What the votes of a round decide.
enum Decision {
    Close(Reason),
    Open(Reason),
}

impl Law {
    /// A call comes and wants to be a probe.
    pub(super) fn admit_probe(&mut self) -> Result<Way, Refused> {
        let hung = self.hung_probes();
        if self.are_too_many(hung) {
            self.reopen(hung);
            return Err(self.refuse_open());
        }
        // The numbers may have changed since the last vote.
        match self.decide() {
            Some(Decision::Close(reason)) => {
                self.close(reason);
                return self.admit_closed();
            }
            Some(Decision::Open(reason)) => {
                self.trip(None, reason);
                return Err(self.refuse_open());
            }
            None => {}
        }
        let running = self.running_probes();
        let voted = self.successes() + self.failures();
        if running >= self.numbers.probe_concurrency() || running + voted >= self.numbers.probes() {
            return Err(self.refuse(RejectedKind::ProbesBusy));
        }
        Ok(Way::Admitted)
    }

    /// A probe has ended.
    pub(super) fn judge_probe(&mut self, id: usize) {
        let call = self.calls[id];
        let Some(end) = call.end else {
            return;
        };
        if matches!(end.how, Ending::OpenFor(_)) {
            self.trip(Some(end.how), Reason::OpenFor);
            return;
        }
        if end.said == Said::Nothing {
            let hung = self.hung_probes();
            if self.are_too_many(hung) {
                self.reopen(hung);
            }
            return;
        }
        if self.failed(&call) && self.numbers.probe_failure_rate.is_none() {
            let why = match end.said {
                Said::Success => Reason::ProbeSlow,
                Said::Failure | Said::Nothing => Reason::ProbeFailed,
            };
            self.trip(Some(end.how), why);
            return;
        }
        match self.decide() {
            Some(Decision::Close(reason)) => self.close(reason),
            Some(Decision::Open(reason)) => self.trip(Some(end.how), reason),
            None => {}
        }
    }

    /// What is settled, whatever the votes to come say.
    fn decide(&self) -> Option<Decision> {
        let successes = self.successes();
        let close = Decision::Close(Reason::ProbesSucceeded {
            successes: number(successes),
        });
        if successes >= self.numbers.close_after() {
            return Some(close);
        }
        let limit = self.numbers.probe_failure_rate?;
        let probes = self.numbers.probes();
        let failed = self.failures();
        if successes + failed < probes && self.goes_wrong(Fault::ShareIsNotSettledEarly) {
            return None;
        }
        let share = |failed: usize| f64::from(number(failed)) / f64::from(number(probes));
        if share(failed) >= limit {
            return Some(Decision::Open(Reason::ProbeFailureRate {
                failed: number(failed),
                probes: number(probes),
                limit,
            }));
        }
        // If all others failed.
        (share(probes.saturating_sub(successes)) < limit).then_some(close)
    }

    fn close(&mut self, why: Reason) {
        let ramp = self.numbers.ramp.map(|_| Ramp {
            began: self.now,
            rate: self.rate_before(),
        });
        self.enter(Mode::Closed { ramp }, why);
        if !self.goes_wrong(Fault::CloseKeepsWindow) {
            self.log.push(Logged::Emptied);
        }
        // A ramp forgives when it is over.
        if ramp.is_none() && !self.goes_wrong(Fault::CloseKeepsTrips) {
            self.log.push(Logged::Forgiven);
        }
    }

    fn reopen(&mut self, hung: usize) {
        let hung = number(hung);
        self.trip(None, Reason::ProbesHung { hung });
    }

    fn successes(&self) -> usize {
        self.calls_of_now()
            .filter(|call| self.voted(call) && !self.failed(call))
            .count()
    }

    fn failures(&self) -> usize {
        self.calls_of_now().filter(|call| self.failed(call)).count()
    }

    fn voted(&self, call: &Call) -> bool {
        call.end.is_some_and(|end| end.said != Said::Nothing)
    }

    /// Where slow calls can open the circuit, a slow probe has failed.
    fn failed(&self, call: &Call) -> bool {
        let slow_fails =
            self.numbers.slow_call_rate().is_some() && !self.goes_wrong(Fault::SlowProbePasses);
        call.end.is_some_and(|end| match end.said {
            Said::Failure => true,
            Said::Success => end.is_slow && slow_fails,
            Said::Nothing => false,
        })
    }

    /// Probes that hold a place: they run, and are younger than the timeout.
    fn running_probes(&self) -> usize {
        let keeps = self.goes_wrong(Fault::PlaceIsKept);
        self.calls_of_now()
            .filter(|call| match call.end {
                None => !self.was_too_long(call),
                Some(end) => keeps && end.said == Said::Nothing,
            })
            .count()
    }

    /// Probes that took as long as the timeout and gave no vote.
    fn hung_probes(&self) -> usize {
        self.calls_of_now()
            .filter(|call| !self.voted(call) && self.was_too_long(call))
            .count()
    }

    fn are_too_many(&self, hung: usize) -> bool {
        hung >= self.numbers.probes().max(2)
    }

    fn was_too_long(&self, call: &Call) -> bool {
        let end = call.end.map_or(self.now, |end| end.at);
        end - call.began >= self.numbers.probe_timeout()
    }
}
