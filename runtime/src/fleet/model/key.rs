//! What makes two worlds the same: all that decides what can happen next.
//!
//! Of an epoch that is its rank among all that anybody knows, since the next one is later than
//! all of them; of a time it is the steps until it comes. So the circuit may open and close
//! without end, and there are only so many worlds. Processes are interchangeable.

use std::hash::DefaultHasher;
use std::hash::Hasher;

use crate::fleet::model::LEASE_MILLIS;
use crate::fleet::model::STEP;
use crate::fleet::model::laws::Memory;
use crate::fleet::model::process::Asking;
use crate::fleet::model::process::Letter;
use crate::fleet::model::process::Process;
use crate::fleet::model::process::Sent;
use crate::fleet::model::world::World;
use crate::fleet::model::world::token_of;
use crate::rules::fleet::Command;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Shared;
use crate::rules::fleet::Snapshot;
use crate::rules::fleet::Status;

/// Of ten million worlds two have the same one by chance in one of some hundred thousand
/// searches.
pub(super) fn key(world: &World) -> u64 {
    let mut seen = Pen::new(world.now, Vec::new());
    seen.write(world);
    let mut ranks = seen.epochs;
    ranks.push(0);
    ranks.sort_unstable();
    ranks.dedup();
    let mut pen = Pen::new(world.now, ranks);
    pen.write(world);
    let mut hasher = DefaultHasher::new();
    hasher.write(&pen.text);
    hasher.finish()
}

/// Writes a world down, byte by byte.
struct Pen {
    now: u64,
    ranks: Vec<u64>,
    epochs: Vec<u64>,
    text: Vec<u8>,
}

impl Pen {
    fn new(now: u64, ranks: Vec<u64>) -> Self {
        Self {
            now,
            ranks,
            epochs: Vec::new(),
            text: Vec::with_capacity(256),
        }
    }

    fn write(&mut self, world: &World) {
        let left = world.left;
        for left in [left.crashes, left.cuts, left.losses, left.rollbacks] {
            self.text.push(left);
        }
        let server = &world.server;
        self.text.push(server.memory as u8);
        self.epoch(server.highest);
        self.epoch(match server.memory {
            Memory::Whole => 0,
            Memory::Lost | Memory::Behind => server.lost,
        });
        self.shared(server.state.as_ref());
        self.text.push(server.copy.is_some().into());
        self.shared(server.copy.iter().flatten().next());
        self.len(server.grants.len());
        for grant in &server.grants {
            self.number(grant.token);
            self.epoch(grant.epoch);
            self.steps_until(grant.expires);
        }
        let strays = world.strays.iter();
        self.sorted(strays, |pen, sent| pen.sent(sent));
        let processes = world.processes.iter();
        self.sorted(processes, |pen, process| pen.process(process));
    }

    /// In an order that does not depend on who is who.
    fn sorted<T>(&mut self, items: impl Iterator<Item = T>, write: impl Fn(&mut Self, T)) {
        let text = std::mem::take(&mut self.text);
        let mut texts = Vec::new();
        for item in items {
            write(self, item);
            texts.push(std::mem::take(&mut self.text));
        }
        texts.sort_unstable();
        self.text = text;
        self.len(texts.len());
        for text in texts {
            self.text.extend(text);
        }
    }

    fn process(&mut self, process: &Process) {
        let now = self.now;
        self.text.extend([
            process.is_up.into(),
            process.is_out_of_date.into(),
            process.own as u8,
            process.pending.success.into(),
        ]);
        self.number(process.row.into());
        self.number(process.pending.failures.into());
        self.epoch(match process.pending.failures {
            0 => 0,
            _ => process.seen_in,
        });
        if let Some(heard) = &process.heard {
            self.epoch(heard.snapshot.epoch);
            // What is known of an opening proves something for ever.
            if heard.snapshot.phase == Phase::HalfOpen {
                let age = ((now - heard.at) / STEP).min(LEASE_MILLIS / STEP);
                self.number(age);
            }
            self.number(heard.left(now).div_ceil(STEP));
            self.text
                .extend([heard.snapshot.phase as u8, heard.snapshot.is_suspect.into()]);
        }
        self.text.push(process.probe.is_some().into());
        if let Some(probe) = &process.probe {
            self.number(probe.token);
            self.epoch(probe.epoch);
            self.text
                .push((now >= probe.renewed + LEASE_MILLIS / 3).into());
        }
        self.text.push(process.asked.is_some().into());
        if let Some(asked) = &process.asked {
            self.text.push(asked.is_overtaken.into());
            self.text.push(asked.is_outdated.into());
            let (what, token) = match asked.what {
                Asking::Look => (1, 0),
                Asking::Leave(token) => (2, token),
                Asking::More => (3, 0),
                Asking::Nothing => (4, 0),
            };
            self.text.push(what);
            self.number(token);
        }
        self.len(process.to_store.len());
        for sent in &process.to_store {
            self.sent(sent);
        }
        self.len(process.from_store.len());
        for letter in &process.from_store {
            match letter {
                Letter::Answer(reply) => {
                    self.text.push(1);
                    self.status(reply.status);
                    self.snapshot(&reply.snapshot, reply.now);
                }
                Letter::Message(told) => {
                    self.text.push(2);
                    self.snapshot(&told.snapshot, told.now);
                }
            }
        }
        self.text.push(process.mail.is_some().into());
        if let Some(reply) = &process.mail {
            self.status(reply.status);
            self.snapshot(&reply.snapshot, reply.now);
        }
    }

    fn shared(&mut self, state: Option<&Shared>) {
        self.text.push(state.is_some().into());
        let Some(state) = state else {
            return;
        };
        self.epoch(state.epoch);
        self.text.push(state.phase as u8);
        self.steps_until(state.until);
        self.number(state.failures.into());
        self.text.push((state.suspect_since > 0).into());
        self.steps_until(state.told_at + TELL);
        self.len(state.reporters.len());
        self.number(state.round.successes.into());
        self.number(state.round.failures.into());
        self.len(state.round.leases.len());
        for lease in &state.round.leases {
            self.number(lease.token);
            self.steps_until(lease.expires);
        }
    }

    /// What is heard of it is how long an opening lasts from then on.
    fn snapshot(&mut self, snapshot: &Snapshot, told: u64) {
        self.epoch(snapshot.epoch);
        self.text
            .extend([snapshot.phase as u8, snapshot.is_suspect.into()]);
        self.number(snapshot.until.saturating_sub(told).div_ceil(STEP));
    }

    fn sent(&mut self, sent: &Sent) {
        let request = &sent.request;
        let view = &request.view;
        self.epoch(sent.about);
        self.epoch(view.epoch);
        self.text.push(view.phase as u8);
        self.number(view.remaining.div_ceil(STEP));
        self.number(token_of(&request.command).unwrap_or(0));
        match &request.command {
            Command::Flush(flush) => {
                self.text.extend([1, flush.success.into()]);
                self.number(flush.failures.into());
            }
            Command::End { outcome, .. } => {
                self.text.push(2);
                self.text.extend(format!("{:?}", outcome.verdict).bytes());
            }
            Command::Sync => self.text.push(3),
            Command::Acquire { .. } => self.text.push(4),
            Command::Renew { .. } => self.text.push(5),
            Command::Force(_) => self.text.push(6),
        }
    }

    fn status(&mut self, status: Status) {
        self.text.push(match status {
            Status::Granted => 1,
            Status::Pass => 2,
            Status::Stale => 3,
            // It makes no difference to who asked.
            _ => 0,
        });
    }

    fn epoch(&mut self, epoch: u64) {
        self.epochs.push(epoch);
        let rank = self.ranks.binary_search(&epoch).unwrap_or(0);
        self.len(rank);
    }

    fn steps_until(&mut self, time: u64) {
        self.number(time.saturating_sub(self.now).div_ceil(STEP));
    }

    fn len(&mut self, len: usize) {
        self.number(len as u64);
    }

    /// All numbers here are small.
    fn number(&mut self, number: u64) {
        self.text.push(u8::try_from(number).unwrap_or(u8::MAX));
    }
}

/// How long nobody is told again that successes matter, in milliseconds.
const TELL: u64 = 100;
