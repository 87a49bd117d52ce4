//! Tells the others of the calls that have ended here.

use std::time::Duration;
use std::time::Instant;

use crate::fleet::crew::Crew;
use crate::fleet::crew::earlier;
use crate::member::Pending;
use crate::rules::fleet::Command;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Status;
use crate::store::StoreError;

/// Between two flushes that hurry, so that one may bring what came with the other.
const GAP: Duration = Duration::from_millis(2);

/// While successes matter, somebody looks so often whether there were any.
const SUSPECT: Duration = Duration::from_millis(100);

impl Crew {
    /// Tells of the calls that have ended, if somebody has to know. Says when to look again.
    pub(super) async fn flush(&mut self, is_last: bool) -> Option<Instant> {
        let policy = self.breaker.policy();
        let known = self.member.known().clone();
        let (epoch, is_suspect) = (known.counts_since, known.is_suspect());
        if self.epoch != epoch {
            // The first one began with what was told, or with what others have told before.
            if self.epoch != 0 {
                self.flushes.forget(self.breaker);
                self.settles_at = None;
            }
            self.epoch = epoch;
        }
        if self.member.is_resetting() {
            // What has come since somebody has reset it here is told after that.
            return None;
        }
        let is_in_force = known.is_covered() && self.breaker.is_forced();
        if policy.get_shadow() || known.phase != Phase::Closed || is_in_force {
            *self.member.pending() = Pending::default();
            self.settles_at = None;
            return None;
        }
        if let Some(until) = known.covered_until() {
            // The override is over here. What comes after it is told when the store knows that,
            // which may be later: clocks do not run alike.
            let left = until.since(self.breaker.tick());
            self.look_at = self.look_at.min(Instant::now() + left);
            return None;
        }
        self.flushes.suspect(self.breaker, self.member, is_suspect);
        let now = Instant::now();
        let settles = self.settles_at.is_some_and(|at| at <= now);
        let due = self.flushes.due(self.breaker, &policy);
        let look = is_suspect.then_some(now + SUSPECT);
        if due.is_none() && !settles {
            return earlier(self.settles_at, look);
        }
        let is_urgent = settles || self.breaker.is_open_by_itself();
        if !is_urgent
            && !is_last
            && let Err(at) = self.budget.take(now)
        {
            if let Some(due) = due {
                self.member.pending().put_back(due.pending);
            }
            return Some(at);
        }
        if is_urgent {
            let again = self.hurried_at.map(|at| at + GAP);
            if let (Some(again), Some(due)) = (again, &due)
                && now < again
                && !is_last
            {
                self.member.pending().put_back(due.pending);
                return Some(again);
            }
            self.hurried_at = Some(now);
        }
        self.settles_at = None;
        let flush = due
            .as_ref()
            .map(|due| due.flush.clone())
            .unwrap_or_default();
        // It is about the epoch of all, whatever has become of the circuit here: of no epoch, it
        // would count in any.
        let view = self.view_if(true);
        let told = self.submit(view, Command::Flush(flush)).await;
        match (told, due) {
            (Err(StoreError::Late), Some(due)) => {
                // It was not done, so it can be done again.
                self.member.pending().put_back(due.pending);
                return Some(Instant::now());
            }
            // It has opened here by what was to be told, and told twice it opens for all once.
            (Err(_), Some(due)) if self.breaker.is_open_by_itself() => {
                self.member.pending().put_back(due.pending);
            }
            // Twice would open circuits that are well; so what may have been told is not told
            // again.
            (Err(_), Some(due)) => self.flushes.done(due),
            // Nothing was told, so it can be asked again whether it has settled.
            (Err(_), None) => self.settles_at = Some(Instant::now() + SUSPECT),
            (Ok(reply), due) => {
                if let Some(due) = due {
                    self.flushes.done(due);
                }
                if let Status::Settling(left) = reply.status {
                    self.settles_at = Some(Instant::now() + Duration::from_millis(left));
                }
                self.hear(&reply, false);
                // What came since it was told came after the failures in it.
                self.flushes.is_suspect = self.member.known().is_suspect();
            }
        }
        Some(Instant::now() + SUSPECT)
    }
}
