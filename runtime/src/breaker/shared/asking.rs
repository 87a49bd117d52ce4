//! Leave to probe: asked for, waited for, and used.

use std::task::Context;
use std::task::Poll;
use std::task::ready;
use std::time::Duration;
use std::time::Instant;

use crate::blocking;
use crate::breaker::Breaker;
use crate::breaker::Waits;
use crate::breaker::guard::Guard;
use crate::breaker::guard::Stamp;
use crate::cells::Tally;
use crate::deadline::Deadline;
use crate::member::Answer;
use crate::member::Probes;
use crate::rejected::Rejected;
use crate::rejected::RejectedKind;
use crate::rules::Outcome;
use crate::rules::Settled;
use crate::rules::Ticket;
use crate::word::Phase;
use crate::word::Word;

/// The rare way in, as far as others have a say in it.
pub(in crate::breaker) enum Leave {
    /// They have none.
    NotNeeded,
    /// The call is one that a probe makes itself.
    Riding(Word),
    /// It probes at this place.
    Given(Word),
    /// It has asked, and waits.
    Asked(u64),
    /// Nobody may now.
    Busy,
    /// Its deadline has passed.
    TooLate,
}

impl Breaker {
    /// A call was neither let in nor refused by the word.
    pub(in crate::breaker) fn leave(&self, waits: Waits, is_inside: impl Fn(u64) -> bool) -> Leave {
        let Some(member) = self.member() else {
            return Leave::NotNeeded;
        };
        if self.is_forced() {
            self.end_what_is_over();
        }
        let seen = self.gate.load();
        let generation = seen.generation();
        let is_up_to_us = !matches!(seen.phase(), Phase::Open | Phase::HalfOpen);
        if is_up_to_us || !member.governs(generation) {
            return Leave::NotNeeded;
        }
        if is_inside(generation) {
            return Leave::Riding(Word::new(generation, Ticket::RIDING, Phase::Leased));
        }
        // Whoever wanted it may have been another one.
        let kept = member.probes(|probes| probes.take_kept(generation));
        let given = kept.map(|place| Leave::Given(Word::new(generation, place, Phase::Leased)));
        // Where there are many calls, and nobody is asked for their leave now, nobody is woken.
        let ring = || {
            if member.probes(|probes| probes.is_busy(Instant::now())) {
                member.bell.notify_one();
            }
        };
        let wait = self.policy().get_probe_wait();
        if let Waits::Until(around) = waits
            && !wait.is_zero()
        {
            if let Some(given) = given {
                ring();
                return given;
            }
            let host = &self.service.host;
            let until = Deadline::nearest(host, around);
            let left = until.map(|until| until.since(host.clock.now()));
            if left == Some(Duration::ZERO) {
                ring();
                return Leave::TooLate;
            }
            let asked = member.probes(|probes| probes.ask(wait, left, Instant::now()));
            ring();
            return asked.map_or(Leave::Busy, Leave::Asked);
        }
        if !matches!(waits, Waits::NoLonger) {
            member.probes(Probes::want);
        }
        ring();
        given.unwrap_or(Leave::Busy)
    }

    /// An override whose time has passed ends before anybody asks what lies beneath it: the
    /// others may have a say in that.
    fn end_what_is_over(&self) {
        let now = self.service.host.clock.now();
        if now < self.gate.view().until {
            return;
        }
        let numbers = self.service.numbers();
        let changes = self.gate.expire(&numbers, self, now);
        drop(numbers);
        self.tell(&changes);
    }

    /// A probe by leave of all has ended.
    pub(in crate::breaker) fn end_leased(&self, seen: Word, outcome: Outcome) -> Settled {
        let Some(member) = self.member() else {
            return Settled::Late;
        };
        let is_current = self.gate.load().generation() == seen.generation();
        let counts = if seen.count() == Ticket::RIDING {
            if is_current && outcome.is_failure() {
                let epoch = member.known().epoch;
                member.probes(|probes| probes.end_riding(epoch, outcome));
            }
            is_current
        } else {
            member.probes(|probes| probes.end(seen.count(), outcome)) && is_current
        };
        member.bell.notify_one();
        if counts {
            Settled::Counted
        } else {
            Settled::Late
        }
    }

    /// The rejection of a call that has waited for leave in vain.
    pub(in crate::breaker) fn still_rejected(&self) -> Rejected {
        let view = self.gate.view();
        let now = self.service.host.clock.now();
        let left = view.until.0.saturating_sub(now.0);
        match view.word.phase() {
            Phase::Open if left > 0 => Rejected::open(self.service.label, view.reason, left),
            Phase::ForcedOpen => self.not_in(RejectedKind::ForcedOpen),
            _ => self.not_in(RejectedKind::ProbesBusy),
        }
    }
}

impl Guard<'_> {
    /// Waits for leave that was asked for. Afterwards the guard is in, or not.
    #[cold]
    pub(in crate::breaker) fn poll_leave(&mut self, context: &Context<'_>) -> Poll<()> {
        if self.seen().0 != Word::ASKING.0 {
            return Poll::Ready(());
        }
        let breaker = self.breaker();
        let Some(member) = breaker.member() else {
            self.set(Word::NONE, Stamp::UNTIMED);
            return Poll::Ready(());
        };
        let id = self.waiter();
        let answer = if member.is_shared() {
            ready!(member.probes(|probes| probes.poll(id, context)))
        } else {
            self.ask_no_more();
            Answer::Again
        };
        self.set(Word::NONE, Stamp::UNTIMED);
        match answer {
            Answer::Leave(place, generation) if generation != breaker.generation() => {
                // The circuit has moved since it was given.
                member.probes(|probes| probes.give_back(place));
                member.bell.notify_one();
                self.ask_the_circuit();
            }
            Answer::Leave(place, generation) => {
                breaker.service.cells.add(Tally::Admitted);
                let leased = Word::new(generation, place, Phase::Leased);
                self.set(leased, Stamp::at(breaker.tick()));
            }
            Answer::Over => breaker.service.cells.add(Tally::Rejected),
            Answer::TooLate => {
                breaker.service.cells.add(Tally::Rejected);
                self.set(Word::NONE, Stamp::TOO_LATE);
            }
            Answer::Again => self.ask_the_circuit(),
        }
        Poll::Ready(())
    }

    fn ask_the_circuit(&mut self) {
        if let Ok(permit) = self.breaker().try_acquire_cold(Waits::NoLonger) {
            *self = permit.guard;
        }
    }

    /// The call that waited is gone, or need not wait.
    #[cold]
    pub(in crate::breaker) fn ask_no_more(&mut self) {
        let id = self.waiter();
        if let Some(member) = self.breaker().member()
            && member.probes(|probes| probes.forget(id))
        {
            member.bell.notify_one();
        }
        self.set(Word::NONE, Stamp::UNTIMED);
    }

    /// The same on this thread, which waits as long as a call may.
    pub(in crate::breaker) fn block_on_leave(&mut self) {
        if self.seen().0 != Word::ASKING.0 {
            return;
        }
        // Whoever answers may be gone, so it is measured here, too.
        let wait = self.breaker().policy().get_probe_wait();
        let longest = wait.saturating_add(Duration::from_millis(100));
        let mut leave = std::future::poll_fn(|context| self.poll_leave(context));
        if blocking::wait(&mut leave, longest, |_| None).is_none() {
            self.ask_no_more();
            self.breaker().service.cells.add(Tally::Rejected);
        }
    }
}
