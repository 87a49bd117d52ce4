//! What the others have decided, and what becomes of the circuit when they are out of reach.

use std::sync::Arc;
use std::sync::PoisonError;
use std::time::Duration;

use crate::breaker::Breaker;
use crate::event::By;
use crate::member::Loss;
use crate::member::Pending;
use crate::member::Probes;
use crate::reason::Reason;
use crate::ring::Era;
use crate::rules::Change;
use crate::rules::Command;
use crate::rules::fleet::Phase as Stands;
use crate::rules::fleet::Snapshot;
use crate::sharing::WhenStoreIsLost;

/// What a message says and an answer does not.
#[derive(Debug, Default)]
pub(crate) struct News {
    /// Why the circuit has moved.
    pub(crate) reason: Option<Reason>,
    /// What the other process is called that has moved it.
    pub(crate) origin: Option<Arc<str>>,
}

impl Breaker {
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
        let is_by_hand = self.is_forced() && !member.is_by_loss(before);
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
}
