//! What somebody wants by hand, and numbers that change while the breaker runs.

use std::time::Duration;

use breakerbox::Policy;
use breakerbox::Reason;
use breakerbox::State;

use super::Fault;
use super::Law;
use super::Logged;
use super::Mode;
use super::Numbers;
use super::Over;
use super::Period;
use super::later;

/// What lies over a circuit while nobody forces anything.
pub(super) fn at_rest(numbers: &Numbers, began: Duration) -> Option<Over> {
    (numbers.shadow == Some(true)).then_some(Over {
        state: State::Shadow,
        began,
        until: None,
    })
}

impl Law {
    /// Somebody forces the circuit for so long.
    pub(crate) fn force(&mut self, state: State, lasts: Duration) {
        self.expire();
        let from = self.state();
        // An earlier one ends as it would have, but nobody is told of that.
        self.uncover(self.now);
        self.leave(self.now);
        self.present_mut().over = Some(Over {
            state,
            began: self.now,
            until: Some(later(self.now, lasts)),
        });
        if state == State::ForcedOpen && self.goes_wrong(Fault::ForcedOpenEmpties) {
            self.log.push(Logged::Emptied);
        }
        self.tell(from, state, Reason::Override, Some(lasts));
    }

    /// Ends what somebody has forced, and says whether there was something.
    pub(crate) fn clear(&mut self) -> bool {
        self.expire();
        let is_forced = self.present().over.is_some_and(|over| over.until.is_some());
        if is_forced {
            self.end_override(self.now);
        }
        is_forced
    }

    /// Closes what lies beneath, and forgets.
    pub(crate) fn reset(&mut self) {
        self.expire();
        let from = self.state();
        let over = self.present().over;
        if self.goes_wrong(Fault::ResetKeepsCounts) {
            self.periods.push(Period {
                began: self.now,
                beneath: Mode::Closed { ramp: None },
                over,
            });
        } else {
            self.start_afresh(self.now);
            self.present_mut().over = over;
        }
        let to = self.state();
        if to != from {
            self.tell(from, to, Reason::Reset, None);
        }
    }

    /// Other numbers are in force. State and counts stay, but another window begins
    /// empty, in a generation of its own; and a shadow begins or ends that they ask for,
    /// unless somebody has forced something.
    pub(crate) fn update(&mut self, change: impl FnOnce(Policy) -> Policy) {
        self.expire();
        let before = self.numbers;
        self.numbers = Numbers::from(change(before.policy()));
        if before.window != self.numbers.window {
            self.leave(self.now);
            self.log.push(Logged::Emptied);
        }
        let at_rest = at_rest(&self.numbers, self.now);
        match self.present().over {
            None if at_rest.is_some() => {
                let from = self.state();
                self.leave(self.now);
                self.present_mut().over = at_rest;
                self.tell(from, State::Shadow, Reason::Override, None);
            }
            Some(over) if over.until.is_none() && at_rest.is_none() => self.end_override(self.now),
            _ => {}
        }
    }

    /// An override whose time has passed has ended when it had.
    pub(super) fn expire(&mut self) {
        let over = self.present().over.and_then(|over| over.until);
        let Some(due) = over else {
            return;
        };
        let late = u64::from(self.goes_wrong(Fault::OverrideEndsAfterItsEnd));
        if self.now >= due + Duration::from_nanos(late) {
            self.end_override(due);
        }
    }

    fn end_override(&mut self, at: Duration) {
        let from = self.state();
        self.uncover(at);
        self.present_mut().over = at_rest(&self.numbers, at);
        let to = self.state();
        let lasts = match self.present().beneath {
            Mode::Open(opening) if to == State::Open => Some(opening.until.saturating_sub(at)),
            _ => None,
        };
        self.tell(from, to, Reason::OverrideEnded, lasts);
    }

    /// What an override leaves behind, if there is one.
    fn uncover(&mut self, at: Duration) {
        let Some(over) = self.present().over else {
            return;
        };
        if over.state != State::ForcedOpen {
            self.start_afresh(at);
            return;
        }
        self.leave(at);
        self.present_mut().over = None;
        // What was left of an opening when it was forced is left of it still.
        if let Mode::Open(opening) = &mut self.present_mut().beneath {
            let left = opening.until.saturating_sub(over.began);
            opening.until = later(at, left);
        }
        if self.goes_wrong(Fault::OpeningIsNotFrozen)
            && let Mode::Open(opening) = &mut self.present_mut().beneath
        {
            opening.until = opening.until.saturating_sub(at - over.began);
        }
    }

    /// Closed, with nothing counted and nothing over it.
    fn start_afresh(&mut self, at: Duration) {
        self.periods.push(Period {
            began: at,
            beneath: Mode::Closed { ramp: None },
            over: None,
        });
        self.log.push(Logged::Emptied);
        self.log.push(Logged::Forgiven);
    }

    /// A new generation of the same: the calls that are out are late, and so a
    /// half-open round is a fresh one.
    fn leave(&mut self, at: Duration) {
        let present = *self.present();
        self.periods.push(Period {
            began: at,
            ..present
        });
    }
}
