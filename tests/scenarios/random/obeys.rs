//! Plays one random sequence through a breaker and through the naive law.

use breakerbox::Breaker;
use breakerbox::ManualClock;
use breakerbox::Registry;
use breakerbox::RejectedKind;

use super::Case;
use super::Seen;
use super::doing::Doing;
use crate::scenarios::drivers;
use crate::scenarios::drivers::Driver;
use crate::scenarios::drivers::Held;
use crate::scenarios::drivers::SERVICE;
use crate::scenarios::law::Answer;
use crate::scenarios::law::Fault;
use crate::scenarios::law::Hint;
use crate::scenarios::law::Law;
use crate::scenarios::notation::Ending;
use crate::scenarios::runner;
use crate::scenarios::seen::Refused;
use crate::scenarios::seen::Told;
use crate::scenarios::seen::View;

/// To hear what is told costs two threads: it is asked of every so many cases.
const HEARS: usize = 16;

/// A breaker beside the law.
struct Pair {
    clock: ManualClock,
    registry: Registry,
    breaker: &'static Breaker,
    law: Law,
    held: Vec<(usize, Driver, Held)>,
}

/// Says where the breaker went another way than the law.
pub(super) fn obeys(case: &Case, fault: Option<Fault>, seen: &mut Seen) -> Result<(), String> {
    let clock = ManualClock::new();
    let builder = Registry::builder()
        .clock(clock.clock())
        .seed(7)
        .declare_with(SERVICE, case.numbers.policy());
    seen.cases += 1;
    let (registry, told) = if seen.cases % HEARS == 1 && fault.is_none() {
        let (registry, told) = runner::listening(builder);
        (registry, Some(told))
    } else {
        (builder.build().expect("the numbers are good"), None)
    };
    let mut pair = Pair {
        clock,
        breaker: drivers::breaker(&registry),
        registry,
        law: Law::new(case.numbers).with(fault),
        held: Vec::new(),
    };
    for (at, doing) in case.sequence.iter().enumerate() {
        pair.step(*doing, seen)
            .and_then(|()| pair.compare(seen))
            .map_err(|wrong| format!("at {at}, {doing:?}: {wrong}"))?;
        seen.steps += 1;
    }
    while !pair.held.is_empty() {
        pair.end(0, Ending::Drop);
    }
    pair.compare(seen)?;
    pair.note_what_was_told(seen);
    // Whoever has not noticed that an override is over does so now.
    pair.clear()?;
    pair.compare(seen)?;
    match told {
        Some(told) => runner::has_told(&pair.registry, &told, &pair.law),
        None => Ok(()),
    }
}

impl Pair {
    fn step(&mut self, doing: Doing, seen: &mut Seen) -> Result<(), String> {
        match doing {
            Doing::Begin(driver) => {
                let begun = driver.begin(&self.registry);
                self.hint(begun.is_ok());
                let refused = match (begun, self.law.begin()) {
                    (Ok(call), Answer::LetThrough(id)) => {
                        self.held.push((id, driver, call));
                        return Ok(());
                    }
                    (begun, expected) => (begun.err().map(Refused::from), expected),
                };
                agree(refused, seen)
            }
            Doing::Call(driver, how) => {
                let how = said_by(driver, how, true);
                let refused = driver.call(&self.registry, how).err().map(Refused::from);
                self.hint(refused.is_none());
                match (refused, self.law.begin()) {
                    (None, Answer::LetThrough(id)) => {
                        self.law.end(id, how);
                        Ok(())
                    }
                    refused => agree(refused, seen),
                }
            }
            Doing::End(which, how) => {
                if !self.held.is_empty() {
                    self.end(which % self.held.len(), how);
                }
                Ok(())
            }
            Doing::Pass(time) => {
                let time = time.duration(&self.law);
                self.clock.advance(time);
                self.law.pass(time);
                Ok(())
            }
            Doing::Force(state, lasts) => {
                drivers::force(self.breaker, state, lasts);
                self.law.force(state, lasts);
                Ok(())
            }
            Doing::Clear => self.clear(),
            Doing::Reset => {
                self.breaker.reset();
                self.law.reset();
                Ok(())
            }
            Doing::Update(change) => {
                let policy = change.of(self.law.numbers.policy());
                let updated = self.breaker.update(|before| change.of(before));
                match (policy.check(), updated) {
                    (Ok(()), Ok(())) => {
                        self.law.update(|before| change.of(before));
                        Ok(())
                    }
                    (expected, updated) if expected == updated => Ok(()),
                    (expected, updated) => {
                        Err(format!("updated: expected {expected:?}, found {updated:?}"))
                    }
                }
            }
        }
    }

    fn end(&mut self, which: usize, how: Ending) {
        let (id, driver, call) = self.held.swap_remove(which);
        let how = said_by(driver, how, false);
        call.end(how);
        self.hint(true);
        self.law.end(id, how);
    }

    fn clear(&mut self) -> Result<(), String> {
        let cleared = self.breaker.clear_override();
        runner::same("cleared", &self.law.clear(), &cleared)
    }

    /// Tells the law what only the breaker knows.
    fn hint(&mut self, admitted: bool) {
        let left = self
            .law
            .numbers
            .jitter
            .and_then(|_| self.breaker.snapshot().retry_after);
        self.law.hint = Hint {
            left,
            admitted: Some(admitted),
        };
    }

    fn compare(&self, seen: &mut Seen) -> Result<(), String> {
        let view = View::from(self.breaker.snapshot());
        let expected = self.law.view();
        note(&view, seen);
        if view == expected {
            Ok(())
        } else {
            Err(format!("expected {expected:#?}\nfound {view:#?}"))
        }
    }

    fn note_what_was_told(&self, seen: &mut Seen) {
        let words = &mut seen.words;
        for told in self.law.told() {
            words.insert(match told {
                Told::Moved { why, .. } => why.label(),
                Told::WouldOpen { .. } => "would_open",
            });
        }
    }
}

/// Both refuse, and say the same.
fn agree((refused, expected): (Option<Refused>, Answer), seen: &mut Seen) -> Result<(), String> {
    match (refused, expected) {
        (Some(refused), Answer::Refused(expected)) if refused == expected => {
            seen.words.insert(match refused.kind {
                RejectedKind::Open => "open",
                RejectedKind::ForcedOpen => "forced",
                RejectedKind::ProbesBusy => "busy",
                RejectedKind::Ramp => "ramp",
                other => panic!("nobody is refused by {other:?}"),
            });
            Ok(())
        }
        (refused, expected) => Err(format!("expected {expected:?}, refused: {refused:?}")),
    }
}

fn note(view: &View, seen: &mut Seen) {
    let words = &mut seen.words;
    words.insert(view.state.label());
    if view.calls.late > 0 {
        words.insert("late");
    }
    if view.would_reject > 0 {
        words.insert("would_reject");
    }
    if view.window.is_some_and(|window| window.hung > 0) {
        words.insert("hung");
    }
}

/// Not every way of calling has a word for every ending.
const fn said_by(driver: Driver, how: Ending, at_once: bool) -> Ending {
    if driver.can_say(how, at_once) {
        how
    } else {
        Ending::Failure
    }
}
