//! The law of the breaker once more, as naively as it can be written.
//!
//! It keeps a list of every call, of every period and of everything that happened, and
//! answers each question by going through them. Nothing is counted up, nothing is
//! forgotten, and nothing here is taken from the breaker but plain data.
//!
//! A [`Fault`] makes it go wrong in one way, so that whatever is held against it can
//! show that it would notice.

mod closed;
mod fault;
mod half_open;
mod numbers;
mod opening;
mod overrides;
mod ramp;
mod show;
mod window;

use std::time::Duration;

use breakerbox::OnCancel;
use breakerbox::Reason;
use breakerbox::RejectedKind;
use breakerbox::State;

use super::notation::Ending;
use super::seen::Refused;
use super::seen::Told;

pub(crate) use fault::Fault;
pub(crate) use numbers::Numbers;

use opening::Opening;
use ramp::Ramp;

#[derive(Clone, Debug)]
pub(crate) struct Law {
    pub(crate) numbers: Numbers,
    pub(crate) now: Duration,
    /// What only the breaker knows, of the step that comes.
    pub(crate) hint: Hint,
    fault: Option<Fault>,
    calls: Vec<Call>,
    /// From one generation to the next; the last one is the present.
    periods: Vec<Period>,
    /// All that happened, in its order.
    log: Vec<Logged>,
}

/// What a breaker may choose within bounds. It is told, and judged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hint {
    /// How long the circuit is open now, where jitter is drawn.
    pub(crate) left: Option<Duration>,
    /// Whether the call was admitted, where a ramp has all but one token.
    pub(crate) admitted: Option<bool>,
}

#[derive(Clone, Copy, Debug)]
struct Call {
    began: Duration,
    period: usize,
    way: Way,
    end: Option<End>,
}

/// By what a call was let through.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// The rules.
    Admitted,
    /// A forced-closed circuit.
    Forced,
    /// Shadow: the rules would have rejected it.
    Spared,
}

#[derive(Clone, Copy, Debug)]
struct End {
    at: Duration,
    how: Ending,
    said: Said,
    is_slow: bool,
    /// The circuit had moved since the call began.
    is_late: bool,
    /// It is an outcome of a closed circuit.
    counts: bool,
}

/// What a call says about the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Success,
    Failure,
    Nothing,
}

#[derive(Clone, Copy, Debug)]
struct Period {
    began: Duration,
    beneath: Mode,
    over: Option<Over>,
}

/// What the rules have made of the circuit.
#[derive(Clone, Copy, Debug)]
enum Mode {
    Closed { ramp: Option<Ramp> },
    Open(Opening),
    HalfOpen,
}

/// What somebody has laid over it.
#[derive(Clone, Copy, Debug)]
struct Over {
    state: State,
    began: Duration,
    /// None for the shadow that the numbers ask for.
    until: Option<Duration>,
}

#[derive(Clone, Copy, Debug)]
enum Logged {
    /// A call came to a closed circuit.
    Came {
        at: Duration,
        period: usize,
    },
    /// A call came in the ramp that began then, and took a token or not.
    Asked {
        ramp: Duration,
        at: Duration,
        pays: bool,
    },
    Refused,
    Ended(usize),
    /// Whatever was counted is forgotten.
    Emptied,
    Opened(Opening),
    /// Earlier openings make none longer any more.
    Forgiven,
    /// Calls a second, before the circuit opened.
    Rate(f64),
    Told(Told),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Answer {
    LetThrough(usize),
    Refused(Refused),
}

/// The end of time, as clocks count it.
const END_OF_TIME: Duration = Duration::from_nanos(u64::MAX);

/// Beyond seventy years all waits are told alike.
const LONGEST_WAIT: Duration = Duration::from_nanos((u64::MAX >> 3) - 1);

fn later(at: Duration, by: Duration) -> Duration {
    at.saturating_add(by).min(END_OF_TIME)
}

impl Law {
    pub(crate) fn new(numbers: Numbers) -> Self {
        Self {
            numbers,
            now: Duration::ZERO,
            hint: Hint::default(),
            fault: None,
            calls: Vec::new(),
            periods: vec![Period {
                began: Duration::ZERO,
                beneath: Mode::Closed { ramp: None },
                over: overrides::at_rest(&numbers, Duration::ZERO),
            }],
            log: Vec::new(),
        }
    }

    pub(crate) const fn with(mut self, fault: Option<Fault>) -> Self {
        self.fault = fault;
        self
    }

    fn goes_wrong(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    pub(crate) fn pass(&mut self, time: Duration) {
        self.now = later(self.now, time);
    }

    /// A call comes.
    pub(crate) fn begin(&mut self) -> Answer {
        self.expire();
        let way = match self.state() {
            State::ForcedOpen => Err(Refused {
                kind: RejectedKind::ForcedOpen,
                left: None,
                why: None,
            }),
            State::ForcedClosed => Ok(Way::Forced),
            State::Shadow => Ok(self.admit().unwrap_or(Way::Spared)),
            _ => self.admit(),
        };
        match way {
            Ok(way) => {
                self.calls.push(Call {
                    began: self.now,
                    period: self.periods.len() - 1,
                    way,
                    end: None,
                });
                Answer::LetThrough(self.calls.len() - 1)
            }
            Err(refused) => {
                self.log.push(Logged::Refused);
                Answer::Refused(refused)
            }
        }
    }

    /// What the rules say to a call that comes.
    fn admit(&mut self) -> Result<Way, Refused> {
        if let Mode::Open(opening) = self.present().beneath {
            let is_over = if self.goes_wrong(Fault::OpeningEndsAfterItsEnd) {
                self.now > opening.until
            } else {
                self.now >= opening.until
            };
            if !is_over {
                return Err(self.refuse_open());
            }
            self.enter(Mode::HalfOpen, Reason::CooldownOver);
        }
        self.notice_the_end_of_a_ramp();
        if matches!(self.present().beneath, Mode::HalfOpen) {
            self.admit_probe()
        } else {
            self.admit_closed()
        }
    }

    fn refuse_open(&self) -> Refused {
        let left = match self.present().beneath {
            Mode::Open(opening) => opening.until.saturating_sub(self.now),
            _ => Duration::ZERO,
        };
        Refused {
            kind: RejectedKind::Open,
            left: Some(left.min(LONGEST_WAIT)),
            why: self.opened_by(),
        }
    }

    /// For a time that nobody knows.
    fn refuse(&self, kind: RejectedKind) -> Refused {
        Refused {
            kind,
            left: None,
            why: self.opened_by(),
        }
    }

    /// A call ends.
    pub(crate) fn end(&mut self, id: usize, how: Ending) {
        self.expire();
        let call = self.calls[id];
        let is_late = call.period != self.periods.len() - 1 && !self.goes_wrong(Fault::LateCounts);
        let took = self.now - call.began;
        let said = self.said(how, took);
        let votes = !is_late
            && match call.way {
                Way::Admitted => true,
                Way::Forced => self.goes_wrong(Fault::ForcedClosedJudges),
                Way::Spared => self.goes_wrong(Fault::SparedVotes),
            };
        let is_closed = matches!(self.present().beneath, Mode::Closed { .. });
        let says_something = said != Said::Nothing
            || (how == Ending::Ignored && self.goes_wrong(Fault::IgnoredIsACall));
        self.calls[id].end = Some(End {
            at: self.now,
            how,
            said,
            is_slow: self.is_slow(took),
            is_late,
            counts: votes && is_closed && says_something,
        });
        self.log.push(Logged::Ended(id));
        if !votes {
            return;
        }
        self.notice_the_end_of_a_ramp();
        match self.present().beneath {
            Mode::Closed { .. } => self.judge(how, said),
            Mode::HalfOpen => self.judge_probe(id),
            Mode::Open(_) => {}
        }
    }

    /// Strictly longer.
    fn is_slow(&self, took: Duration) -> bool {
        self.numbers.slow_call.is_some_and(|limit| {
            took > limit || (took == limit && self.goes_wrong(Fault::SlowAtTheLimit))
        })
    }

    fn said(&self, how: Ending, took: Duration) -> Said {
        match how {
            Ending::Success | Ending::NotAFailure => Said::Success,
            Ending::Failure | Ending::Panic | Ending::RetryAfter(_) | Ending::OpenFor(_) => {
                Said::Failure
            }
            Ending::Ignored => Said::Nothing,
            Ending::Drop => match self.numbers.on_cancel() {
                OnCancel::Failure => Said::Failure,
                OnCancel::After(limit) if took > limit => Said::Failure,
                _ => Said::Nothing,
            },
        }
    }

    fn present(&self) -> &Period {
        self.periods.last().expect("there is always a present")
    }

    fn present_mut(&mut self) -> &mut Period {
        self.periods.last_mut().expect("there is always a present")
    }

    /// What everybody sees.
    fn state(&self) -> State {
        match self.present().over {
            Some(over) => over.state,
            None => self.beneath(),
        }
    }

    fn beneath(&self) -> State {
        match self.present().beneath {
            Mode::Closed { .. } => State::Closed,
            Mode::Open(_) => State::Open,
            Mode::HalfOpen => State::HalfOpen,
        }
    }

    /// The calls that the rules have let through in the present period.
    fn calls_of_now(&self) -> impl Iterator<Item = &Call> {
        self.calls
            .iter()
            .filter(|call| call.period == self.periods.len() - 1 && call.way == Way::Admitted)
    }

    /// Why it opened last.
    fn opened_by(&self) -> Option<Reason> {
        self.log.iter().rev().find_map(|logged| match logged {
            Logged::Opened(opening) => Some(opening.why),
            _ => None,
        })
    }

    /// The rules move the circuit.
    fn enter(&mut self, beneath: Mode, why: Reason) {
        let from = self.beneath();
        let over = self.present().over;
        self.periods.push(Period {
            began: self.now,
            beneath,
            over,
        });
        let lasts = match beneath {
            Mode::Open(opening) => Some(opening.until - self.now),
            Mode::Closed { .. } | Mode::HalfOpen => None,
        };
        match (over, lasts) {
            (None, lasts) => {
                let to = self.beneath();
                self.tell(from, to, why, lasts);
            }
            (Some(_), Some(lasts)) => {
                self.log.push(Logged::Told(Told::WouldOpen { why, lasts }));
            }
            (Some(_), None) => {}
        }
    }

    fn tell(&mut self, from: State, to: State, why: Reason, lasts: Option<Duration>) {
        self.log.push(Logged::Told(Told::Moved {
            from,
            to,
            why,
            lasts,
            generation: self.periods.len() as u64 - 1,
        }));
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).expect("a test has few calls")
}
