//! A breaker whose circuit is shared with other processes.
//!
//! Calls pass as they always do, by the word. Only where one would be rejected, since all have
//! decided so and the cooldown is over, it asks for leave to probe, and may wait for that.

mod asking;
mod hearing;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use crate::breaker::Breaker;
use crate::cells::Tally;
use crate::clock::Tick;
use crate::event::By;
use crate::gate::Others;
use crate::member::Link;
use crate::member::Member;
use crate::member::Pending;
use crate::reason::Reason;
use crate::rules::Changes;
use crate::rules::Command;
use crate::rules::Outcome;
use crate::rules::Settled;
use crate::rules::Sums;
use crate::rules::fleet;
use crate::rules::fleet::CoverKind;
use crate::rules::fleet::Force;
use crate::sharing::WhenStoreIsLost;
use crate::state::State;
use crate::word::Phase;
use crate::word::Word;

pub(super) use asking::Leave;
pub(crate) use hearing::News;

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
        matches!(
            self.gate.load().phase(),
            Phase::ForcedOpen | Phase::ForcedClosed | Phase::Shadow
        )
    }

    /// Whether the circuit is open here by what this process has seen itself.
    pub(crate) fn is_open_by_itself(&self) -> bool {
        let word = self.gate.load();
        word.phase() == Phase::Open
            && self
                .member()
                .is_some_and(|member| member.adopted() != word.generation())
    }
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

#[cfg(test)]
mod tests;
