//! The store, and what must hold whenever it does a command.
//!
//! It is watched from outside: what was given and lost is written down beside it, and held
//! against what it answers.

use crate::fleet::model::Bounds;
use crate::fleet::model::LEASE_MILLIS;
use crate::fleet::model::process::Sent;
use crate::fleet::model::seeded::Seeded;
use crate::rules::fleet::Applied;
use crate::rules::fleet::Command;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Shared;
use crate::rules::fleet::Status;
use crate::verdict::Verdict;

/// A law, by its number in the design, and how it was broken.
pub(super) type Broken = &'static str;

#[derive(Clone, Debug, Default)]
pub(super) struct Server {
    pub(super) state: Option<Shared>,
    /// A replica that has it as it was once.
    pub(super) copy: Option<Option<Shared>>,
    pub(super) grants: Vec<Grant>,
    /// No later epoch was ever given.
    pub(super) highest: u64,
    pub(super) memory: Memory,
    /// The highest epoch that the store has lost; somebody may put it back.
    pub(super) lost: u64,
}

/// Leave that was given, and has neither ended nor run out, also where the store has lost it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grant {
    pub(super) token: u64,
    pub(super) epoch: u64,
    pub(super) expires: u64,
}

/// What the store knows of the grants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Memory {
    #[default]
    Whole,
    /// It has forgotten something, and nobody has told it more.
    Lost,
    /// It went on from something else than the last that it knew: until that is put back or
    /// past, and its leases with it, more may be given.
    Behind,
}

impl Server {
    pub(super) fn epoch(&self) -> u64 {
        self.state.as_ref().map_or(0, |state| state.epoch)
    }

    pub(super) fn phase(&self) -> Phase {
        self.state
            .as_ref()
            .map_or(Phase::Closed, |state| state.phase)
    }

    /// Nothing, or what it once was, is all that is left.
    pub(super) fn forget(&mut self, left: Option<Shared>) {
        let is_less = self.state != left;
        self.state = left;
        if is_less {
            self.memory = Memory::Lost;
            self.lost = self.highest;
        }
    }

    pub(super) fn pass_time(&mut self, now: u64) {
        self.grants.retain(|grant| grant.expires > now);
        let is_past = self.grants.is_empty() && self.epoch() >= self.lost;
        if self.memory == Memory::Behind && is_past {
            self.memory = Memory::Whole;
        }
    }

    /// Does one command by the law.
    pub(super) fn serve(
        &mut self,
        sent: &Sent,
        seeded: Seeded,
        bounds: &Bounds,
        now: u64,
    ) -> Result<Applied, Broken> {
        let request = &sent.request;
        let before = self.state.clone();
        let applied = seeded.apply(before.as_ref(), request, &bounds.policy(), now);
        if applied.is_changed {
            self.state.clone_from(&applied.state);
        }
        if now > request.deadline {
            return match self.state == before && applied.told.is_empty() {
                true => Ok(applied),
                false => Err("I7: a command was done after its deadline"),
            };
        }
        let before = before.unwrap_or_default();
        let is_restored = request.view.epoch > before.epoch;
        self.watch_epochs(&before, request.view.epoch, &applied)?;
        self.watch_closing(&before, sent, &applied, now)?;
        watch_epoch_of_results(&before, sent, &applied)?;
        if applied.is_changed && self.memory == Memory::Lost {
            self.memory = match is_restored && request.view.epoch == self.lost {
                true => Memory::Whole,
                false => Memory::Behind,
            };
        }
        self.watch_grants(&before, is_restored, sent, &applied, bounds, now)?;
        Ok(applied)
    }

    /// I3
    fn watch_epochs(
        &mut self,
        before: &Shared,
        viewed: u64,
        applied: &Applied,
    ) -> Result<(), Broken> {
        let mut last = before.epoch.max(viewed);
        let told = applied.told.iter().map(|told| told.snapshot.epoch);
        for epoch in told.chain([self.epoch()]) {
            if epoch == last || epoch == before.epoch || epoch == 0 {
                continue;
            }
            if epoch <= self.highest {
                return Err("I3: an epoch was given that is not later than all before");
            }
            self.highest = epoch;
            last = epoch;
        }
        Ok(())
    }

    /// I2
    fn watch_closing(
        &self,
        before: &Shared,
        sent: &Sent,
        applied: &Applied,
        now: u64,
    ) -> Result<(), Broken> {
        let closes = applied.reply.status == Status::Closed
            || before.phase != Phase::Closed
                && applied.reply.snapshot.phase == Phase::Closed
                && sent.request.view.epoch <= before.epoch;
        if !closes {
            return Ok(());
        }
        let Command::End {
            token: Some(token),
            outcome,
        } = &sent.request.command
        else {
            return Err("I2: something else than a probe closed the circuit");
        };
        let is_leased = self.grants.iter().any(|grant| {
            grant.token == *token && grant.epoch == before.epoch && grant.expires > now
        });
        match is_leased && outcome.verdict == Verdict::Success {
            true => Ok(()),
            false => Err("I2: a probe without a lease of this epoch closed the circuit"),
        }
    }

    /// I1
    fn watch_grants(
        &mut self,
        before: &Shared,
        is_restored: bool,
        sent: &Sent,
        applied: &Applied,
        bounds: &Bounds,
        now: u64,
    ) -> Result<(), Broken> {
        let after = applied.reply.snapshot.epoch;
        let is_over = before.phase == Phase::HalfOpen && after != before.epoch && !is_restored;
        if is_over {
            self.grants.retain(|grant| grant.epoch != before.epoch);
        }
        match (&sent.request.command, applied.reply.status) {
            (Command::End { token, .. }, Status::Done | Status::Closed | Status::Opened) => {
                self.grants.retain(|grant| Some(grant.token) != *token);
            }
            (Command::Renew { token, .. }, Status::Done) => {
                let mut grants = self.grants.iter_mut();
                if let Some(grant) = grants.find(|grant| grant.token == *token) {
                    grant.expires = now + LEASE_MILLIS;
                }
            }
            (Command::Acquire { token, .. }, Status::Granted) => {
                self.grants.retain(|grant| grant.token != *token);
                self.grants.push(Grant {
                    token: *token,
                    epoch: after,
                    expires: now + LEASE_MILLIS,
                });
            }
            _ => {}
        }
        let kept = self.state.iter().flat_map(|state| &state.round.leases);
        let kept = kept.filter(|lease| lease.expires > now).count();
        let permits = bounds.permits as usize;
        let most = match self.memory {
            // The last round, and one more for each process that puts back what it knows.
            Memory::Behind => (1 + bounds.processes) * permits,
            Memory::Whole | Memory::Lost => permits,
        };
        match kept <= permits && self.grants.len() <= most {
            true => Ok(()),
            false => Err("I1: more leases are out than there may be"),
        }
    }
}

/// I6
fn watch_epoch_of_results(before: &Shared, sent: &Sent, applied: &Applied) -> Result<(), Broken> {
    let found = before.epoch.max(sent.request.view.epoch);
    let was_counted = matches!(
        applied.reply.status,
        Status::Done | Status::Opened | Status::Closed
    );
    let is_result = match &sent.request.command {
        Command::Flush(flush) => flush.failures > 0,
        Command::End { .. } => true,
        _ => false,
    };
    // What was seen before anything was heard is about no epoch, and what is lost has none.
    let is_of_another = sent.about != 0 && found != 0 && sent.about != found;
    match was_counted && is_result && is_of_another {
        true => Err("I6: a result of another epoch counted"),
        false => Ok(()),
    }
}
