//! The law of the breaker once more, as naively as it can be written.
//!
//! It keeps a list of every call and of every period, and answers each question by
//! going through them. Nothing is counted up, nothing is forgotten, and nothing here
//! is taken from the breaker.

use std::time::Duration;

use breakerbox::OnCancel;
use breakerbox::Policy;
use breakerbox::Reason;
use breakerbox::Snapshot;
use breakerbox::State;

use super::notation::Ending;

/// The numbers of a breaker, with `None` for what is not written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    pub(crate) threshold: u32,
    pub(crate) cooldown: Duration,
    pub(crate) probes: Option<u32>,
    pub(crate) probe_concurrency: Option<u32>,
    pub(crate) close_after: Option<u32>,
    pub(crate) probe_timeout: Duration,
    pub(crate) max_open_for: Duration,
    pub(crate) on_cancel: OnCancel,
}

impl Numbers {
    pub(crate) fn policy(&self) -> Policy {
        let mut policy = Policy::new()
            .threshold(self.threshold)
            .cooldown(self.cooldown)
            .probe_timeout(self.probe_timeout)
            .max_open_for(self.max_open_for)
            .on_cancel(self.on_cancel);
        if let Some(probes) = self.probes {
            policy = policy.probes(probes);
        }
        if let Some(calls) = self.probe_concurrency {
            policy = policy.probe_concurrency(calls);
        }
        if let Some(successes) = self.close_after {
            policy = policy.close_after(successes);
        }
        policy
    }

    /// `close_after` written alone raises the probes.
    fn probes(&self) -> usize {
        self.probes.or(self.close_after).unwrap_or(1) as usize
    }

    fn probe_concurrency(&self) -> usize {
        self.probe_concurrency
            .map_or_else(|| self.probes(), |it| it as usize)
    }

    fn close_after(&self) -> usize {
        self.close_after
            .map_or_else(|| self.probes(), |it| it as usize)
    }
}

pub(crate) struct Law {
    numbers: Numbers,
    now: Duration,
    calls: Vec<Call>,
    /// The calls that have ended, in the order of their ends.
    ended: Vec<usize>,
    /// From one transition to the next; the last one is the present.
    periods: Vec<Period>,
    rejected: u64,
}

struct Call {
    began: Duration,
    period: usize,
    end: Option<End>,
}

#[derive(Clone, Copy)]
struct End {
    at: Duration,
    how: Ending,
    /// The circuit had moved since the call began.
    late: bool,
}

struct Period {
    state: State,
    why: Option<Reason>,
    until: Duration,
}

/// What a call says about the service.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    Success,
    Failure,
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Answer {
    LetThrough(usize),
    Open { left: Duration, why: Reason },
    Busy { why: Reason },
}

/// All that can be seen of a breaker.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct View {
    state: Option<State>,
    generation: u64,
    count: u64,
    why: Option<Reason>,
    left: Option<Duration>,
    in_flight: u64,
    success: u64,
    failure: u64,
    ignored: u64,
    rejected: u64,
    cancelled: u64,
    panicked: u64,
    late: u64,
}

impl From<Snapshot> for View {
    fn from(seen: Snapshot) -> Self {
        Self {
            state: Some(seen.state),
            generation: seen.generation,
            count: seen.consecutive_failures.into(),
            why: seen.reason,
            left: seen.retry_after,
            in_flight: seen.in_flight,
            success: seen.calls.success,
            failure: seen.calls.failure,
            ignored: seen.calls.ignored,
            rejected: seen.calls.rejected,
            cancelled: seen.calls.cancelled,
            panicked: seen.calls.panicked,
            late: seen.calls.late,
        }
    }
}

impl Law {
    pub(crate) fn new(numbers: Numbers) -> Self {
        Self {
            numbers,
            now: Duration::ZERO,
            calls: Vec::new(),
            ended: Vec::new(),
            periods: vec![Period {
                state: State::Closed,
                why: None,
                until: Duration::ZERO,
            }],
            rejected: 0,
        }
    }

    pub(crate) fn pass(&mut self, time: Duration) {
        self.now += time;
    }

    /// A call comes.
    pub(crate) fn begin(&mut self) -> Answer {
        let answer = self.answer();
        if !matches!(answer, Answer::LetThrough(_)) {
            self.rejected += 1;
        }
        answer
    }

    fn answer(&mut self) -> Answer {
        if self.present().state == State::Open {
            if self.now < self.present().until {
                return self.open();
            }
            self.enter(State::HalfOpen, Reason::CooldownOver);
        }
        if self.present().state == State::HalfOpen {
            let hung = self.hung();
            if self.too_many(hung) {
                self.reopen(hung);
                return self.open();
            }
            let running = self.running_probes();
            if running >= self.numbers.probe_concurrency()
                || running + self.successes() >= self.numbers.probes()
            {
                return Answer::Busy { why: self.why() };
            }
        }
        self.calls.push(Call {
            began: self.now,
            period: self.periods.len() - 1,
            end: None,
        });
        Answer::LetThrough(self.calls.len() - 1)
    }

    fn open(&self) -> Answer {
        Answer::Open {
            left: self.present().until - self.now,
            why: self.why(),
        }
    }

    /// The call ends.
    pub(crate) fn end(&mut self, call: usize, how: Ending) {
        let late = self.calls[call].period != self.periods.len() - 1;
        self.calls[call].end = Some(End {
            at: self.now,
            how,
            late,
        });
        self.ended.push(call);
        if late {
            return;
        }
        let said = self.said(&self.calls[call]);
        let is_ban = matches!(how, Ending::OpenFor(_));
        match (self.present().state, said) {
            (State::Closed, Some(Said::Failure)) => {
                let failures = self.failures_in_a_row();
                if is_ban {
                    self.trip(how, Reason::OpenFor);
                } else if failures >= self.numbers.threshold as usize {
                    let rule = Reason::Threshold {
                        failures: number(failures),
                        threshold: self.numbers.threshold,
                    };
                    self.trip(how, rule);
                }
            }
            (State::HalfOpen, Some(Said::Failure)) => {
                let rule = if is_ban {
                    Reason::OpenFor
                } else {
                    Reason::ProbeFailed
                };
                self.trip(how, rule);
            }
            (State::HalfOpen, Some(Said::Success)) => {
                let successes = self.successes();
                if successes >= self.numbers.close_after() {
                    let successes = number(successes);
                    self.enter(State::Closed, Reason::ProbesSucceeded { successes });
                }
            }
            (State::HalfOpen, Some(Said::Nothing)) => {
                let hung = self.hung();
                if self.too_many(hung) {
                    self.reopen(hung);
                }
            }
            _ => {}
        }
    }

    /// What an ended call says; nothing yet of one that runs.
    fn said(&self, call: &Call) -> Option<Said> {
        let end = call.end?;
        Some(match end.how {
            Ending::Success | Ending::NotAFailure => Said::Success,
            Ending::Failure | Ending::Panic | Ending::RetryAfter(_) | Ending::OpenFor(_) => {
                Said::Failure
            }
            Ending::Ignored => Said::Nothing,
            Ending::Drop => match self.numbers.on_cancel {
                OnCancel::Failure => Said::Failure,
                OnCancel::After(limit) if end.at - call.began > limit => Said::Failure,
                _ => Said::Nothing,
            },
        })
    }

    fn failures_in_a_row(&self) -> usize {
        let ends = self.ended.iter().rev().map(|call| &self.calls[*call]);
        ends.filter(|call| self.is_of_now(call))
            .filter_map(|call| self.said(call))
            .filter(|said| *said != Said::Nothing)
            .take_while(|said| *said == Said::Failure)
            .count()
    }

    fn successes(&self) -> usize {
        self.calls_of_now()
            .filter(|call| self.said(call) == Some(Said::Success))
            .count()
    }

    /// Probes that hold a place: they run, and are younger than the timeout.
    fn running_probes(&self) -> usize {
        self.calls_of_now()
            .filter(|call| call.end.is_none() && !self.was_too_long(call))
            .count()
    }

    /// Probes that took as long as the timeout and gave no vote.
    fn hung(&self) -> usize {
        self.calls_of_now()
            .filter(|call| matches!(self.said(call), None | Some(Said::Nothing)))
            .filter(|call| self.was_too_long(call))
            .count()
    }

    fn too_many(&self, hung: usize) -> bool {
        hung >= self.numbers.probes().max(2)
    }

    fn was_too_long(&self, call: &Call) -> bool {
        let end = call.end.map_or(self.now, |end| end.at);
        end - call.began >= self.numbers.probe_timeout
    }

    fn calls_of_now(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(|call| self.is_of_now(call))
    }

    fn is_of_now(&self, call: &Call) -> bool {
        call.period == self.periods.len() - 1
    }

    fn present(&self) -> &Period {
        self.periods.last().expect("there is always a present")
    }

    /// Why it opened last.
    fn why(&self) -> Reason {
        let openings = self.periods.iter().rev();
        let mut openings = openings.filter(|period| period.state == State::Open);
        let last = openings.next().expect("it has been open");
        last.why.expect("an opening has a reason")
    }

    fn enter(&mut self, state: State, why: Reason) {
        self.periods.push(Period {
            state,
            why: Some(why),
            until: Duration::ZERO,
        });
    }

    fn trip(&mut self, how: Ending, why: Reason) {
        let longest = self.numbers.max_open_for;
        let length = match how {
            Ending::OpenFor(ban) => ban.min(longest),
            Ending::RetryAfter(rest) => rest.min(longest).max(self.numbers.cooldown),
            _ => self.numbers.cooldown,
        };
        self.periods.push(Period {
            state: State::Open,
            why: Some(why),
            until: self.now + length,
        });
    }

    fn reopen(&mut self, hung: usize) {
        let hung = number(hung);
        self.trip(Ending::Failure, Reason::ProbesHung { hung });
    }

    /// What a breaker that obeys shows now.
    pub(crate) fn view(&self) -> View {
        let Period { state, until, .. } = *self.present();
        let mut view = View {
            state: Some(state),
            generation: self.periods.len() as u64 - 1,
            why: (state != State::Closed).then(|| self.why()),
            left: (state == State::Open).then(|| until.saturating_sub(self.now)),
            rejected: self.rejected,
            ..View::default()
        };
        if state == State::Closed {
            view.count = self.failures_in_a_row() as u64;
        }
        for call in &self.calls {
            let outcome = match call.end {
                None => &mut view.in_flight,
                Some(End { late: true, .. }) => &mut view.late,
                Some(End { how, .. }) => match how {
                    Ending::Panic => &mut view.panicked,
                    Ending::Drop => &mut view.cancelled,
                    Ending::Ignored => &mut view.ignored,
                    Ending::Success | Ending::NotAFailure => &mut view.success,
                    Ending::Failure | Ending::RetryAfter(_) | Ending::OpenFor(_) => {
                        &mut view.failure
                    }
                },
            };
            *outcome += 1;
        }
        view
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).expect("a test has few calls")
}
