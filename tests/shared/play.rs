//! Plays scenarios on circuits that are shared, each word as soon as all processes have heard
//! of the one before: in the notation of `scenarios/notation.rs`, in real time.
//!
//! The calls go round: each is made by the next process, and what is expected is expected of
//! all. An expectation may take its time; it has come to be true, or the scenario fails.

use std::collections::BTreeMap;
use std::panic;
use std::panic::AssertUnwindSafe;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use breakerbox::Error;
use breakerbox::Permit;
use breakerbox::Policy;
use breakerbox::Rejected;
use breakerbox::RejectedKind;
use breakerbox_servers::Proxy;

use crate::scenarios::drivers;
use crate::scenarios::drivers::Held;
use crate::scenarios::notation;
use crate::scenarios::notation::Ending;
use crate::scenarios::notation::Refusal;
use crate::scenarios::notation::Step;
use crate::scenarios::seen::View;

use super::calm::calmly;
use super::fleet::LONG;
use super::fleet::Process;
use super::fleet::TIMES;
use super::fleet::block_on;

/// A name, a policy, a line.
pub(super) type Scenario = (&'static str, Policy, &'static str);

/// Most of a scenario is waiting, so that several can be played at a time.
const AT_ONCE: usize = 8;

/// Who plays a scenario.
pub(super) struct Cast {
    processes: Vec<Process>,
    loss: Option<(Loss, Proxy)>,
}

/// When the way to the store is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    Before,
    InTheMiddle,
}

impl Loss {
    /// Before which step. The leases of probes are lost with the store, so it is before the
    /// first probe.
    fn place(self, steps: &[(String, Step)]) -> usize {
        let is_over = |step: &Step| match step {
            Step::Left(Some(left)) => left.contains(&Duration::ZERO),
            _ => false,
        };
        match self {
            Self::Before => 0,
            Self::InTheMiddle => {
                let middle = steps.len() / 2;
                let over = steps.iter().position(|(_, step)| is_over(step));
                over.map_or(middle, |at| middle.min(at + 1))
            }
        }
    }
}

impl Cast {
    /// One process that loses its store.
    pub(super) fn losing(process: Process, loss: Loss, way: Proxy) -> Self {
        Self {
            processes: vec![process],
            loss: Some((loss, way)),
        }
    }
}

impl From<Vec<Process>> for Cast {
    fn from(processes: Vec<Process>) -> Self {
        let loss = None;
        Self { processes, loss }
    }
}

/// Plays all of them, each on processes of its own, which share circuits under the name that
/// `start` is given.
pub(super) fn play_all<C: Into<Cast>>(
    scenarios: &[&[Scenario]],
    start: &(impl Fn(&str, Policy) -> C + Sync),
) {
    let all: Vec<&Scenario> = scenarios.iter().copied().flatten().collect();
    let mut wrong = Vec::new();
    for some in all.chunks(AT_ONCE) {
        thread::scope(|scope| {
            let play = |(name, policy, script): &Scenario| {
                assert_eq!(policy.check(), Ok(()), "{name}");
                calmly(|times| {
                    let cast = start(&format!("{name}-{times}"), *policy);
                    play(name, cast.into(), script)
                })
            };
            let played: Vec<_> = some
                .iter()
                .map(|scenario| scope.spawn(move || play(scenario)))
                .collect();
            for played in played {
                wrong.extend(
                    played
                        .join()
                        .expect("a scenario is played to its end")
                        .err(),
                );
            }
        });
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn play(name: &str, cast: Cast, script: &str) -> Result<(), String> {
    let Cast { processes, loss } = cast;
    let are_alone = loss.is_some() || processes.iter().all(Process::is_alone);
    let mut loss = loss.as_ref();
    let mut play = Play {
        processes: &processes,
        next: 0,
        held: BTreeMap::new(),
        ran: 0,
    };
    let steps = notation::read(script);
    for (at, (word, step)) in steps.iter().enumerate() {
        loss = loss.filter(|(when, way)| {
            let is_now = at >= when.place(&steps);
            if is_now {
                play.lose_store(way);
            }
            !is_now
        });
        play.step(step).map_err(|wrong| {
            let before: Vec<_> = steps[..at].iter().map(|(word, _)| word.as_str()).collect();
            let seen: Vec<_> = play.views().collect();
            let before = before.join(" ");
            format!("{name}: after `{before}` came `{word}`: {wrong}\n{seen:?}")
        })?;
    }
    play.held.clear();
    if are_alone && !processes.iter().all(Process::is_alone) {
        return Err(format!("{name}: it was not without a store all the time"));
    }
    let left: u64 = play.views().map(|view| view.in_flight).sum();
    match left {
        0 => Ok(()),
        left => Err(format!("{name}: {left} calls never ended")),
    }
}

struct Play<'p> {
    processes: &'p [Process],
    /// Whose turn it is.
    next: usize,
    held: BTreeMap<String, Permit<'static>>,
    ran: u64,
}

impl Play<'_> {
    fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Call(Ending::Panic) => self.panic()?,
            Step::Call(ending) => Held::Permit(self.enter()?).end(*ending),
            Step::Slow(ending, duration) => {
                let permit = self.enter()?;
                thread::sleep(*duration);
                Held::Permit(permit).end(*ending);
            }
            Step::Begin(name) => {
                let permit = self.enter()?;
                self.held.insert(name.clone(), permit);
            }
            Step::End(name, ending) => {
                let permit = self.held.remove(name).expect("a call that has begun");
                Held::Permit(permit).end(*ending);
            }
            Step::Refused(refusal) => match block_on(self.turn().breaker.acquire()) {
                Ok(_) => return Err("it was let in".to_owned()),
                Err(rejected) => judge(&rejected, *refusal)?,
            },
            Step::Look => {
                for process in self.processes {
                    let _ = process.breaker.state();
                    let _ = process.breaker.policy();
                    let _ = process.registry.services();
                    let _ = format!("{:?}", process.breaker.snapshot());
                }
            }
            Step::Pass(duration) => thread::sleep(*duration),
            Step::Force(state, lasts) => drivers::force(self.turn().breaker, *state, *lasts),
            Step::Clear(is_there) => {
                let cleared = self.turn().breaker.clear_override();
                if cleared != *is_there {
                    return Err(format!("cleared: {cleared}"));
                }
            }
            Step::Reset => self.turn().breaker.reset(),
            Step::Update(change) => {
                for process in self.processes {
                    let updated = process.breaker.update(|policy| change.of(policy));
                    updated.expect("the numbers are good");
                }
            }
            Step::Number(what, number) if what == "ran" => {
                if self.ran != *number {
                    return Err(format!("{} ran", self.ran));
                }
            }
            expected => self.expect(expected)?,
        }
        Ok(())
    }

    /// From now on each is alone.
    fn lose_store(&self, way: &Proxy) {
        // What is under way arrives.
        thread::sleep(Duration::from_millis(300));
        way.refuse();
        way.reset_connections();
        for process in self.processes {
            process.loses(1);
        }
    }

    /// The process that makes the next call.
    fn turn(&mut self) -> &Process {
        let process = &self.processes[self.next];
        self.next = (self.next + 1) % self.processes.len();
        process
    }

    /// A call is let in, at once or when the one before it has become known.
    fn enter(&mut self) -> Result<Permit<'static>, String> {
        self.ran += 1;
        let breaker = self.turn().breaker;
        soon(|| block_on(breaker.acquire()).map_err(|rejected| rejected.to_string()))
    }

    fn panic(&mut self) -> Result<(), String> {
        self.ran += 1;
        let breaker = self.turn().breaker;
        soon(|| {
            let body = || -> Result<(), Rejected> { panic::resume_unwind(Box::new(())) };
            let call = AssertUnwindSafe(|| breaker.call_blocking(body));
            match panic::catch_unwind(call) {
                Err(_) => Ok(()),
                Ok(Err(Error::Rejected(rejected))) => Err(rejected.to_string()),
                Ok(out) => panic!("a call whose body panics returned {out:?}"),
            }
        })
    }

    fn views(&self) -> impl Iterator<Item = View> {
        let processes = self.processes.iter();
        processes.map(|process| View::from(process.breaker.snapshot()))
    }

    fn expect(&self, step: &Step) -> Result<(), String> {
        match step {
            Step::Is(state) => self.all(|view| view.state == *state),
            Step::Beneath(state) => self.all(|view| view.beneath == *state),
            Step::Why(label) => self.all(|view| view.why.map(|it| it.label()) == label.as_deref()),
            Step::Left(None) => self.all(|view| view.left.is_none()),
            Step::Left(Some(range)) => {
                if range.contains(&Duration::ZERO) {
                    self.is_decided()?;
                }
                self.all(|view| view.left.is_some_and(|left| range.contains(&left)))
            }
            Step::FailureRate(rate) => self.all(|view| view.failure_rate == *rate),
            // Each process counts its own calls, and they have all their part in a sum.
            Step::Number(what, number) if is_sum(what) => soon(|| {
                let found: u64 = self.views().filter_map(|view| view.number(what)).sum();
                (found == *number)
                    .then_some(())
                    .ok_or_else(|| format!("it is {found}"))
            }),
            Step::Number(what, number) => self.all(|view| view.number(what) == Some(*number)),
            other => panic!("{other:?} cannot be expected of circuits that are shared"),
        }
    }

    /// Where there is a store, it has heard of what has happened. An opening that is shorter
    /// than that takes is probed by whoever has opened it for itself.
    fn is_decided(&self) -> Result<(), String> {
        let has_store = |process: &Process| process.finds() > process.losses();
        soon(|| {
            let mut all = self.processes.iter().zip(self.views());
            match all.all(|(process, view)| !has_store(process) || view.generation > TIMES) {
                true => Ok(()),
                false => Err("the store never decided".to_owned()),
            }
        })
    }

    fn all(&self, is_so: impl Fn(&View) -> bool) -> Result<(), String> {
        soon(|| match self.views().all(|view| is_so(&view)) {
            true => Ok(()),
            false => Err("it never came to be so".to_owned()),
        })
    }
}

/// Whether it is a number of calls, of which each process has made some.
fn is_sum(what: &str) -> bool {
    !matches!(what, "trips" | "moves" | "count")
}

/// Tries again until it is so.
fn soon<T>(mut try_it: impl FnMut() -> Result<T, String>) -> Result<T, String> {
    let start = Instant::now();
    loop {
        let tried = try_it();
        if tried.is_ok() || start.elapsed() > LONG {
            return tried;
        }
        thread::sleep(Duration::from_millis(2));
    }
}

fn judge(rejected: &Rejected, expected: Refusal) -> Result<(), String> {
    let (kind, left) = (rejected.kind(), rejected.retry_after());
    let is_so = match expected {
        Refusal::Any => true,
        // It began a moment ago.
        Refusal::Open(most) => {
            let few = most.saturating_sub(LONG);
            // It is measured by a clock that is some milliseconds coarse.
            let most = most + Duration::from_millis(100);
            kind == RejectedKind::Open && left.is_some_and(|left| few < left && left <= most)
        }
        Refusal::Of(expected) => kind == expected && left.is_none(),
    };
    match is_so {
        true => Ok(()),
        false => Err(format!("it was rejected as {kind:?}, {left:?} left")),
    }
}
