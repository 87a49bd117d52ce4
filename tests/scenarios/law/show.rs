//! What a breaker that obeys shows, and has told.

use breakerbox::State;

use super::End;
use super::Law;
use super::Logged;
use super::Mode;
use super::Way;
use crate::scenarios::notation::Ending;
use crate::scenarios::seen::Counts;
use crate::scenarios::seen::Told;
use crate::scenarios::seen::View;

impl Law {
    /// What a breaker that obeys shows now: what is true, though nobody has noticed it.
    pub(crate) fn view(&self) -> View {
        let mut now = self.clone();
        now.expire();
        now.look()
    }

    fn look(&self) -> View {
        let beneath = self.present().beneath;
        let is_closed = matches!(beneath, Mode::Closed { .. });
        let window = match beneath {
            Mode::Closed { .. } => self.window(),
            Mode::Open(opening) => self.numbers.window.map(|_| opening.held),
            Mode::HalfOpen => None,
        };
        let over = self.present().over.and_then(|over| over.until);
        View {
            state: self.state(),
            beneath: self.beneath(),
            forced: over.map(|until| until.saturating_sub(self.now)),
            generation: self.periods.len() as u64 - 1,
            count: if is_closed && self.numbers.window.is_none() {
                self.failures_in_a_row() as u64
            } else {
                0
            },
            window,
            failure_rate: window.and_then(|held| self.failure_rate(&held)),
            slow_call_rate: window.and_then(|held| self.slow_call_rate(&held)),
            trips: self.trips() as u64,
            why: self.opened_by().filter(|_| !is_closed),
            left: match (beneath, self.state()) {
                (Mode::Open(opening), State::Open) => Some(opening.until.saturating_sub(self.now)),
                _ => None,
            },
            calls: self.counts(),
            would_reject: self.number_of(|call| call.way == Way::Spared),
            in_flight: self.number_of(|call| call.end.is_none()),
        }
    }

    fn number_of(&self, of: impl Fn(&super::Call) -> bool) -> u64 {
        self.calls.iter().filter(|call| of(call)).count() as u64
    }

    /// One label a call: late, else panicked, cancelled or ignored, else slow or not.
    fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for logged in &self.log {
            let ended = match logged {
                Logged::Refused => {
                    counts.rejected += 1;
                    continue;
                }
                Logged::Ended(call) => self.calls[*call].end,
                _ => None,
            };
            let Some(End {
                how,
                is_slow,
                is_late,
                ..
            }) = ended
            else {
                continue;
            };
            let count = match (how, is_slow) {
                _ if is_late => &mut counts.late,
                (Ending::Panic, _) => &mut counts.panicked,
                (Ending::Drop, _) => &mut counts.cancelled,
                (Ending::Ignored, _) => &mut counts.ignored,
                (Ending::Success | Ending::NotAFailure, false) => &mut counts.success,
                (Ending::Success | Ending::NotAFailure, true) => &mut counts.slow_success,
                (_, false) => &mut counts.failure,
                (_, true) => &mut counts.slow_failure,
            };
            *count += 1;
        }
        counts
    }

    /// What listeners have been told, oldest first.
    pub(crate) fn told(&self) -> impl Iterator<Item = Told> {
        self.log.iter().filter_map(|logged| match logged {
            Logged::Told(told) => Some(*told),
            _ => None,
        })
    }
}
