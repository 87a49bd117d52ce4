//! One word of a scenario, done by processes or expected of all of them.

use std::collections::BTreeMap;
use std::panic;
use std::panic::AssertUnwindSafe;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use breakerbox::Error;
use breakerbox::Permit;
use breakerbox::Rejected;
use breakerbox::RejectedKind;
use breakerbox_servers::Proxy;

use crate::scenarios::drivers;
use crate::scenarios::drivers::Held;
use crate::scenarios::notation::Ending;
use crate::scenarios::notation::Refusal;
use crate::scenarios::notation::Step;
use crate::scenarios::seen::View;
use crate::shared::fleet::LONG;
use crate::shared::fleet::Process;
use crate::shared::fleet::TIMES;
use crate::shared::fleet::block_on;

/// The processes, and the calls that are under way in them.
pub(super) struct Stage<'p> {
    processes: &'p [Process],
    /// Whose turn it is.
    next: usize,
    held: BTreeMap<String, Permit<'static>>,
    ran: u64,
}

impl<'p> Stage<'p> {
    pub(super) fn of(processes: &'p [Process]) -> Self {
        Self {
            processes,
            next: 0,
            held: BTreeMap::new(),
            ran: 0,
        }
    }

    /// Whatever is under way is dropped.
    pub(super) fn clear(&mut self) {
        self.held.clear();
    }

    pub(super) fn step(&mut self, step: &Step) -> Result<(), String> {
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
    pub(super) fn lose_store(&self, way: &Proxy) {
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

    pub(super) fn views(&self) -> impl Iterator<Item = View> {
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
