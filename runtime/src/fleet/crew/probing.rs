//! Asks for leave to probe, keeps it, and tells how probes have ended.

use std::time::Instant;

use crate::fleet::crew::Crew;
use crate::fleet::crew::millis;
use crate::member::LEASE;
use crate::rules::fleet::Command;
use crate::rules::fleet::Status;
use crate::store::StoreError;

impl Crew {
    /// Tells how a probe has ended.
    pub(super) async fn end(&mut self, epoch: u64, command: Command) {
        let view = self.view();
        // What has become of a round that is over matters to nobody.
        if view.epoch != epoch {
            return;
        }
        // A lease is given back once, so its vote counts once, however often it is told.
        let has_lease = matches!(command, Command::End { token: Some(_), .. });
        let mut done = self.submit(view.clone(), command.clone()).await;
        if matches!(done, Err(StoreError::Late))
            || matches!(done, Err(StoreError::TimedOut)) && has_lease
        {
            done = self.submit(view, command).await;
        }
        if let Ok(reply) = done {
            self.hear(&reply, false);
        }
    }

    pub(super) async fn renew(&mut self, epoch: u64, token: u64) {
        let view = self.view();
        let ttl = millis(LEASE);
        let is_lost = view.epoch != epoch
            || match self.submit(view, Command::Renew { token, ttl }).await {
                Ok(reply) => {
                    self.hear(&reply, false);
                    reply.status == Status::Stale
                }
                // There is time for two more.
                Err(_) => false,
            };
        if is_lost {
            self.member.probes(|probes| probes.lost(token));
        }
    }

    /// Asks for leave to probe, for whoever waits for that.
    pub(super) async fn acquire(&mut self) {
        let token = self.asked.take().unwrap_or_else(|| fastrand::u64(1..));
        let ttl = millis(LEASE);
        let told = self.member.told();
        let answer = self
            .submit(self.view(), Command::Acquire { token, ttl })
            .await;
        let now = Instant::now();
        let Ok(reply) = answer else {
            // Asked for again as the same, it is given once.
            self.asked = Some(token);
            return self.member.probes(|probes| probes.refused(now));
        };
        match reply.status {
            Status::Pass => self.hear_how_it_stands(&reply, told),
            _ => self.hear(&reply, false),
        }
        match reply.status {
            Status::Granted => {
                let epoch = reply.snapshot.epoch;
                // Another one says that the circuit has moved here meanwhile.
                let generation = self.member.adopted();
                self.member
                    .probes(|probes| probes.granted(token, epoch, generation, now));
            }
            Status::Pass => self.member.probes(|probes| probes.moved()),
            _ => self.member.probes(|probes| probes.refused(now)),
        }
    }
}
