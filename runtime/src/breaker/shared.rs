//! A breaker whose circuit is shared with other processes.
//!
//! Calls pass as they always do, by the word. Only where one would be rejected, since all have
//! decided so and the cooldown is over, it asks for leave to probe, and may wait for that.

use std::sync::Arc;
use std::sync::PoisonError;
use std::sync::atomic::AtomicU64;
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
use crate::clock::Tick;
use crate::deadline::Deadline;
use crate::event::By;
use crate::gate::Others;
use crate::member::Answer;
use crate::member::Link;
use crate::member::Loss;
use crate::member::Member;
use crate::member::Pending;
use crate::member::Probes;
use crate::reason::Reason;
use crate::rejected::Rejected;
use crate::rejected::RejectedKind;
use crate::ring::Era;
use crate::rules::Change;
use crate::rules::Changes;
use crate::rules::Command;
use crate::rules::Outcome;
use crate::rules::Settled;
use crate::rules::Sums;
use crate::rules::Ticket;
use crate::rules::fleet;
use crate::rules::fleet::CoverKind;
use crate::rules::fleet::Force;
use crate::rules::fleet::Phase as Stands;
use crate::rules::fleet::Snapshot;
use crate::sharing::WhenStoreIsLost;
use crate::state::State;
use crate::word::Phase;
use crate::word::Word;

/// The rare way in, as far as others have a say in it.
pub(super) enum Leave {
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

/// What a message says and an answer does not.
#[derive(Debug, Default)]
pub(crate) struct News {
    /// Why the circuit has moved.
    pub(crate) reason: Option<Reason>,
    /// What the other process is called that has moved it.
    pub(crate) origin: Option<Arc<str>>,
}

/// What there is while somebody is about to want something of all.
pub(super) type AboutTo = Option<Arc<()>>;

/// An override that all have been told of: which one it is where all know it, as soon as the
/// store has said so.
#[derive(Debug, Default)]
pub(super) struct Elsewhere(Option<Arc<AtomicU64>>);

impl Elsewhere {
    pub(super) const fn is_shared(&self) -> bool {
        self.0.is_some()
    }
}

impl Breaker {
    /// From now on the circuit is shared by this link. Once only, and that of a service: those of
    /// its keys are shared with nobody.
    pub(crate) fn join(&self, link: &Arc<Link>) -> Option<&Member> {
        let mut is_new = false;
        let member = self.seldom().member.get_or_init(|| {
            is_new = true;
            let generation = self.gate.load().generation();
            let circuit = self.name().to_owned();
            Box::new(Member::new(circuit, Arc::clone(link), generation))
        });
        if is_new {
            self.share_earlier_live();
        }
        is_new.then_some(member)
    }

    pub(crate) fn member(&self) -> Option<&Member> {
        self.seldom.get()?.member.get()
    }

    /// A call was neither let in nor refused by the word.
    pub(super) fn leave(&self, waits: Waits, is_inside: impl Fn(u64) -> bool) -> Leave {
        let Some(member) = self.member() else {
            return Leave::NotNeeded;
        };
        let mut seen = self.gate.load();
        if is_forced(seen) {
            self.end_what_is_over();
            seen = self.gate.load();
        }
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
    pub(super) fn end_leased(&self, seen: Word, outcome: Outcome) -> Settled {
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

    /// A call of a closed circuit has ended: the others may have to know.
    pub(super) fn share(&self, seen: Word, outcome: Outcome, settled: Settled) {
        let counts = settled == Settled::Counted
            && outcome.is_recorded()
            && matches!(seen.phase(), Phase::Closed | Phase::Watched);
        if counts && let Some(member) = self.member() {
            member.ended(outcome);
        }
    }

    /// The circuit has moved here.
    pub(super) fn share_changes(&self, changes: &Changes) {
        let Some(member) = self.member() else {
            return;
        };
        let mut is_uncovered = false;
        for change in changes.iter() {
            if change.reason == Reason::OverrideEnded && change.is_by_hand {
                member.follow(change.generation);
                member.ask_again();
                is_uncovered = !member.is_by_loss(change.generation.wrapping_sub(1));
            }
            if matches!(change.to, State::Closed | State::HalfOpen) {
                // What has opened it here is over here, so the others need not know any more.
                *member.pending() = Pending::default();
            }
            if change.to == State::Closed && member.is_shared() {
                // What the others have decided comes next.
                member.ask_again();
            }
        }
        if changes.opened() {
            member.bell.notify_one();
        }
        let when_lost = member.link.when_lost;
        if is_uncovered && member.link.is_lost() && when_lost == WhenStoreIsLost::OpenFails {
            // What somebody had laid over that is gone, and the store is not back.
            self.lose(when_lost);
        }
    }

    /// Other numbers are in force.
    pub(super) fn share_numbers(&self) {
        if let Some(member) = self.member() {
            member.compare_again();
            // The circuit may have another generation, or not be a shadow any more.
            member.ask_again();
        }
    }

    /// The others have decided, or the store has answered: so it stood at `told`, by its time.
    pub(crate) fn hear(&self, snapshot: &Snapshot, told: u64, news: &News, is_certain: bool) {
        let Some(member) = self.member() else {
            return;
        };
        let now = self.service.host.clock.now();
        let mut known = member.known();
        let is_of_old = snapshot.epoch < known.epoch && !is_certain;
        if is_of_old {
            // The store may have lost what it knew, and asking puts it back.
            member.ask_again();
            return;
        }
        let is_news = snapshot.epoch != known.epoch || known.is_owed;
        let counts_before = known.counts_since;
        let is_reset_here = member.is_resetting() && snapshot.phase == Stands::Closed;
        let numbers = self.service.numbers();
        let is_shadow = numbers.policy.get_shadow();
        let is_as_decided = self.gate.load().generation() == member.adopted();
        let is_suspected = snapshot.is_suspect && !known.is_suspect();
        known.learn(snapshot, told, now, self.is_forced());
        if is_reset_here && counts_before != 0 {
            // What there is to tell has come since, and counts.
            known.counts_since = counts_before;
        }
        if counts_before != 0 && known.counts_since != counts_before {
            // What was seen in an epoch that is over.
            *member.pending() = Pending::default();
        }
        if is_suspected {
            // Successes matter from now on.
            member.bell.notify_one();
        }
        if is_shadow {
            drop(numbers);
            drop(known);
            // It goes by itself. What a loss has forced before it was a shadow is over, though.
            if is_certain && let Some(loss) = member.take_loss() {
                self.command_by(Command::ClearOnly(loss.generation), None);
            }
            return;
        }
        if !is_news && (!is_certain || is_as_decided) {
            return;
        }
        // What somebody wants here stands until the store knows of it, and is not taken off by
        // what was decided before.
        known.is_owed = member.is_wishing();
        if known.is_owed {
            return;
        }
        let reason = news
            .reason
            .or_else(|| snapshot.opened_by.filter(|_| known.is_open()))
            .unwrap_or(Reason::Shared);
        let earlier = self.by();
        let by = known.cover().map(|cover| By {
            actor: Arc::from(&*cover.actor),
            reason: Arc::from(&*cover.why),
        });
        if by.is_some() {
            let known_by = self.seldom().by.lock();
            *known_by.unwrap_or_else(PoisonError::into_inner) = by.clone();
        }
        let totals = |era: Era| self.total(&numbers, era, now);
        let is_another_round = known.is_half_open();
        let ruling = known.ruling(reason);
        let adopted = member.adopted_beneath(self.generation());
        let stands = |generation| member.adopt(generation);
        let changes = self
            .gate
            .adopt(&numbers, &ruling, adopted, stands, totals, now);
        drop(numbers);
        drop(known);
        for change in changes.iter() {
            let by = by.as_ref().or(earlier.as_ref());
            self.tell_heard(change, by, news.origin.as_ref());
        }
        member.probes(if is_another_round {
            Probes::another_round
        } else {
            Probes::moved
        });
        if let Some(seldom) = self.seldom.get() {
            seldom.waiting.wake_all();
        }
        member.bell.notify_one();
    }

    fn tell_heard(&self, change: &Change, by: Option<&By>, origin: Option<&Arc<str>>) {
        self.service
            .tell_of(*change, self.key.as_ref(), by.cloned(), origin.cloned());
    }

    /// Tells all processes what somebody wants.
    pub(super) fn share_command(
        &self,
        command: Command,
        by: Option<&By>,
        about_to: AboutTo,
    ) -> Elsewhere {
        let cover = |kind, ttl| Force::Cover {
            kind,
            ttl: fleet::millis(ttl),
            actor: by.map_or_else(String::new, |by| by.actor.to_string()),
            why: by.map_or_else(String::new, |by| by.reason.to_string()),
        };
        let force = match command {
            Command::ForceOpen(ttl) => cover(CoverKind::ForcedOpen, ttl),
            Command::ForceClosed(ttl) => cover(CoverKind::ForcedClosed, ttl),
            Command::Shadow(ttl) => cover(CoverKind::Shadow, ttl),
            Command::Clear => Force::Clear,
            Command::Reset => Force::Reset,
            Command::ClearOnly(_) => return Elsewhere::default(),
        };
        let mine = Arc::default();
        let is_told = self.member().is_some_and(|member| {
            if force == Force::Reset {
                // What comes from now on is all that the others have to know.
                *member.pending() = Pending::default();
            }
            member.wish(force, Arc::clone(&mine), about_to)
        });
        Elsewhere(is_told.then_some(mine))
    }

    /// Somebody is about to want something, which is in force here before all are told: what is
    /// heard meanwhile does not take it off.
    pub(super) fn about_to_share(&self) -> AboutTo {
        self.member().map(Member::about_to_wish)
    }

    /// Tells all processes that an override of this one is over.
    pub(super) fn share_end(&self, mine: &Elsewhere, about_to: AboutTo) {
        let Some(member) = self.member() else {
            return;
        };
        if let Some(mine) = &mine.0 {
            member.wish(Force::ClearOnly(0), Arc::clone(mine), about_to);
            return;
        }
        drop(about_to);
        if member.known().is_owed {
            member.ask_again();
        }
    }

    /// The store is lost.
    pub(crate) fn lose(&self, when_lost: WhenStoreIsLost) {
        let Some(member) = self.member() else {
            return;
        };
        // A shadow rejects nobody.
        if self.policy().get_shadow() {
            return;
        }
        let command = match when_lost {
            WhenStoreIsLost::Local => return,
            WhenStoreIsLost::OpenFails => Command::ForceOpen(Duration::MAX),
            WhenStoreIsLost::Admit(ttl) if ttl.is_zero() => return,
            WhenStoreIsLost::Admit(ttl) => Command::ForceClosed(ttl),
        };
        let by = By {
            actor: Arc::from("breakerbox"),
            reason: Arc::from("the store is lost"),
        };
        let before = self.generation();
        let is_by_hand = is_forced(self.gate.load()) && !member.is_by_loss(before);
        if is_by_hand && when_lost != WhenStoreIsLost::OpenFails {
            // Whoever wants it so has not asked for it to be otherwise.
            return;
        }
        let was_as_decided = before == member.adopted_beneath(before);
        let changes = self.command_by(command, Some(by));
        let mut begun = changes.iter().filter(|it| it.reason == Reason::Override);
        if let Some(change) = begun.next() {
            member.set_loss(Loss {
                generation: change.generation,
                was_as_decided,
            });
        }
    }

    /// What the calls were that have ended, by the bucket of time.
    pub(crate) fn ended_by_time(&self, now: Tick) -> Vec<(Duration, u64, Sums)> {
        let numbers = self.service.numbers();
        let word = self.gate.load();
        let era = self.gate.era(word.generation());
        let buckets = self.service.cells.by_bucket(era, numbers.time, now);
        let middle = |bucket| {
            let begin = numbers.time.begin(bucket);
            let end = numbers.time.begin(bucket + 1).0.min(now.0);
            now.since(Tick(begin.0.midpoint(end)))
        };
        buckets
            .into_iter()
            .map(|(bucket, sums)| (middle(bucket), bucket, sums))
            .collect()
    }

    /// The calls that have ended so far in a window of calls.
    pub(crate) fn ended_by_calls(&self) -> Sums {
        self.gate.recorded()
    }

    /// Those of them from before it was emptied in this generation.
    pub(crate) fn ended_before(&self, emptied: u64) -> Sums {
        self.gate.recorded_before(emptied)
    }

    /// All successes so far, also of keys.
    pub(crate) fn successes(&self) -> u64 {
        let sum = self.service.cells.sum();
        sum.get(Tally::Success) + sum.get(Tally::SlowSuccess)
    }

    pub(crate) fn tick(&self) -> Tick {
        self.service.host.clock.now()
    }

    pub(crate) fn generation(&self) -> u64 {
        self.gate.load().generation()
    }

    /// The generation in which its window was emptied last.
    pub(crate) fn emptied(&self) -> u64 {
        self.gate.era(self.generation()).emptied
    }

    /// Whether something that somebody wants lies over the circuit here.
    pub(crate) fn is_forced(&self) -> bool {
        is_forced(self.gate.load())
    }

    /// Whether the circuit is open here by what this process has seen itself.
    pub(crate) fn is_open_by_itself(&self) -> bool {
        let word = self.gate.load();
        word.phase() == Phase::Open
            && self
                .member()
                .is_some_and(|member| member.adopted() != word.generation())
    }

    /// The rejection of a call that has waited for leave in vain.
    pub(super) fn still_rejected(&self) -> Rejected {
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

const fn is_forced(word: Word) -> bool {
    matches!(
        word.phase(),
        Phase::ForcedOpen | Phase::ForcedClosed | Phase::Shadow
    )
}

impl Others for Breaker {
    fn govern(&self, generation: u64) -> bool {
        self.member()
            .is_some_and(|member| member.governs(generation))
    }

    fn follow(&self, generation: u64) {
        if let Some(member) = self.member() {
            member.follow(generation);
        }
    }
}

impl Guard<'_> {
    /// Waits for leave that was asked for. Afterwards the guard is in, or not.
    #[cold]
    pub(super) fn poll_leave(&mut self, context: &Context<'_>) -> Poll<()> {
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
    pub(super) fn ask_no_more(&mut self) {
        let id = self.waiter();
        if let Some(member) = self.breaker().member()
            && member.probes(|probes| probes.forget(id))
        {
            member.bell.notify_one();
        }
        self.set(Word::NONE, Stamp::UNTIMED);
    }

    /// The same on this thread, which waits as long as a call may.
    pub(super) fn block_on_leave(&mut self) {
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

#[cfg(test)]
mod tests;
