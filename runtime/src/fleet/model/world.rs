//! All processes, the store and what is between them; and all that can happen.

use std::fmt;

use crate::fleet::model::Bounds;
use crate::fleet::model::LEASE_MILLIS;
use crate::fleet::model::STEP;
use crate::fleet::model::WITHIN;
use crate::fleet::model::laws::Broken;
use crate::fleet::model::laws::Server;
use crate::fleet::model::process::Asked;
use crate::fleet::model::process::Asking;
use crate::fleet::model::process::Letter;
use crate::fleet::model::process::Own;
use crate::fleet::model::process::Process;
use crate::fleet::model::process::Sent;
use crate::fleet::model::seeded::Seeded;
use crate::rules::Outcome;
use crate::rules::fleet::Command;
use crate::rules::fleet::Flush;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Request;
use crate::verdict::Verdict;

#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) now: u64,
    pub(super) server: Server,
    pub(super) processes: Vec<Process>,
    /// Commands of connections that are gone, which the server may have received.
    pub(super) strays: Vec<Sent>,
    pub(super) left: Left,
}

/// How often it may happen still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Left {
    pub(super) crashes: u8,
    pub(super) cuts: u8,
    pub(super) losses: u8,
    pub(super) rollbacks: u8,
}

/// Something that can happen, to the process of that number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    CallFails(u8),
    CallSucceeds(u8),
    /// Of a circuit that has opened by itself, a call of its own succeeds.
    Mends(u8),
    /// Without the store, a call of its own decides what the others cannot.
    ProbesAlone(u8, bool),
    Connects(u8),
    AsksHowItStands(u8),
    Tells(u8),
    AsksForLeave(u8),
    Renews(u8),
    ProbeSucceeds(u8),
    ProbeFails(u8),
    ProbeIsDropped(u8),
    StoreServes(u8),
    StoreServesStray(u8),
    Receives(u8),
    LooksAtAnswer(u8),
    TimePasses,
    Disconnects(u8),
    Crashes(u8),
    StoreLosesAll,
    ReplicaFallsBehind,
    ReplicaTakesOver,
}

impl Act {
    /// Whether it may be counted on: what is not, need not happen for the circuit to close.
    pub(super) const fn is_good(self) -> bool {
        !matches!(
            self,
            Self::CallFails(_)
                | Self::ProbesAlone(_, false)
                | Self::ProbeFails(_)
                | Self::ProbeIsDropped(_)
                | Self::Disconnects(_)
                | Self::Crashes(_)
                | Self::StoreLosesAll
                | Self::ReplicaFallsBehind
                | Self::ReplicaTakesOver
        )
    }
}

impl World {
    pub(super) fn new(bounds: &Bounds) -> Self {
        Self {
            now: 1_000_000,
            server: Server::default(),
            processes: vec![Process::default(); bounds.processes],
            strays: Vec::new(),
            left: bounds.left,
        }
    }

    /// All that can happen now.
    pub(super) fn acts(&self, bounds: &Bounds) -> Vec<Act> {
        let mut acts = Vec::with_capacity(16);
        let is_silent = |it: &Process| it.from_store.is_empty() && it.mail.is_none();
        if bounds.slow || self.processes.iter().all(is_silent) {
            acts.push(Act::TimePasses);
        }
        for (at, process) in (0..).zip(&self.processes) {
            self.acts_of(at, process, bounds, &mut acts);
        }
        for at in (0..).take(self.strays.len()) {
            acts.push(Act::StoreServesStray(at));
        }
        if self.left.losses > 0 && self.server.state.is_some() {
            acts.push(Act::StoreLosesAll);
        }
        match self.server.copy {
            None if self.left.rollbacks > 0 => acts.push(Act::ReplicaFallsBehind),
            Some(_) => acts.push(Act::ReplicaTakesOver),
            None => {}
        }
        acts
    }

    fn acts_of(&self, at: u8, process: &Process, bounds: &Bounds, acts: &mut Vec<Act>) {
        let now = self.now;
        let is_half_open = process.phase() == Phase::HalfOpen;
        let is_over = process.phase() == Phase::Open && process.left(now) == 0;
        let wants_leave = process.own == Own::Follows && (is_half_open || is_over);
        if process.is_closed() {
            if process.pending.failures < bounds.threshold {
                acts.push(Act::CallFails(at));
            }
            let matters = process.row > 0 || process.pending.failures > 0 || process.is_suspect();
            if bounds.successes && matters && !process.pending.success {
                acts.push(Act::CallSucceeds(at));
            }
        }
        if process.own == Own::Open {
            acts.push(Act::Mends(at));
        }
        if process.mail.is_some() {
            acts.push(Act::LooksAtAnswer(at));
        }
        if self.left.crashes > 0 {
            acts.push(Act::Crashes(at));
        }
        if !process.is_up {
            acts.push(Act::Connects(at));
            if wants_leave {
                acts.extend([Act::ProbesAlone(at, true), Act::ProbesAlone(at, false)]);
            }
            return;
        }
        if self.left.cuts > 0 {
            acts.push(Act::Disconnects(at));
        }
        if !process.from_store.is_empty() {
            acts.push(Act::Receives(at));
        }
        let others = self.processes.iter().filter(|it| it.is_up);
        let may_tell = others
            .clone()
            .all(|it| it.from_store.len() < bounds.network);
        if !process.to_store.is_empty() && may_tell {
            acts.push(Act::StoreServes(at));
        }
        let under_way: usize = self.processes.iter().map(|it| it.to_store.len()).sum();
        if under_way + self.strays.len() >= bounds.network {
            return;
        }
        if process.asked.is_none() && process.is_out_of_date {
            acts.push(Act::AsksHowItStands(at));
        }
        if !process.is_free() {
            return;
        }
        let pending = process.pending;
        let is_due = pending.failures > 0 || pending.success && process.is_suspect();
        if process.phase() == Phase::Closed && is_due {
            acts.push(Act::Tells(at));
        }
        match process.probe {
            Some(probe) => {
                acts.extend([
                    Act::ProbeSucceeds(at),
                    Act::ProbeFails(at),
                    Act::ProbeIsDropped(at),
                ]);
                if now >= probe.renewed + LEASE_MILLIS / 3 {
                    acts.push(Act::Renews(at));
                }
            }
            None if wants_leave => acts.push(Act::AsksForLeave(at)),
            None => {}
        }
    }

    /// Something happens.
    pub(super) fn act(&mut self, act: Act, seeded: Seeded, bounds: &Bounds) -> Result<(), Broken> {
        match act {
            Act::CallFails(at) => self.of(at).fail(bounds),
            Act::CallSucceeds(at) => {
                let process = self.of(at);
                process.row = 0;
                process.pending.add(outcome(Verdict::Success));
            }
            Act::Mends(at) | Act::ProbesAlone(at, true) => {
                let process = self.of(at);
                process.own = Own::Closed;
                process.row = 0;
            }
            Act::ProbesAlone(at, false) => self.of(at).own = Own::Open,
            Act::Connects(at) => {
                let process = self.of(at);
                process.is_up = true;
                process.is_out_of_date = true;
            }
            Act::AsksHowItStands(at) => {
                self.of(at).is_out_of_date = false;
                self.send(at, Asking::Look, Command::Sync, 0);
            }
            Act::Tells(at) => self.tell(at),
            Act::AsksForLeave(at) => {
                let token = self.unused_token();
                let ttl = LEASE_MILLIS;
                let command = Command::Acquire { token, ttl };
                self.send(at, Asking::Leave(token), command, 0);
            }
            Act::Renews(at) => self.renew(at),
            Act::ProbeSucceeds(at) => self.end(at, Verdict::Success),
            Act::ProbeFails(at) => self.end(at, Verdict::Failure),
            Act::ProbeIsDropped(at) => self.end(at, Verdict::Ignore),
            Act::StoreServes(at) => self.serve(at, seeded, bounds)?,
            Act::StoreServesStray(at) => {
                let stray = self.strays.remove(at.into());
                self.done(&stray, None, seeded, bounds)?;
            }
            Act::Receives(at) => self.receive(at, seeded),
            Act::LooksAtAnswer(at) => {
                let now = self.now;
                self.of(at).look(seeded, now);
            }
            Act::TimePasses => {
                self.now += STEP;
                self.server.pass_time(self.now);
                let mut late = std::mem::take(&mut self.strays);
                for process in &mut self.processes {
                    late.extend(process.give_up());
                }
                // None of them does anything whenever it is done, so it may be now.
                for sent in &late {
                    self.server.serve(sent, seeded, bounds, self.now)?;
                }
            }
            Act::Disconnects(at) => {
                self.left.cuts -= 1;
                let strays = self.of(at).lose();
                self.strays.extend(strays);
            }
            Act::Crashes(at) => {
                self.left.crashes -= 1;
                let strays = self.of(at).lose();
                self.strays.extend(strays);
                *self.of(at) = Process::default();
            }
            Act::StoreLosesAll => {
                self.left.losses -= 1;
                self.server.forget(None);
            }
            Act::ReplicaFallsBehind => {
                self.left.rollbacks -= 1;
                self.server.copy = Some(self.server.state.clone());
            }
            Act::ReplicaTakesOver => {
                let copy = self.server.copy.take().flatten();
                self.server.forget(copy);
                // What was on its way went to the other one.
                self.strays.clear();
                for process in &mut self.processes {
                    process.lose();
                }
            }
        }
        self.watch_processes()
    }

    fn of(&mut self, at: u8) -> &mut Process {
        &mut self.processes[usize::from(at)]
    }

    fn send(&mut self, at: u8, what: Asking, command: Command, about: u64) {
        let now = self.now;
        let process = self.of(at);
        let view = match command {
            // It is about the epoch of the others whatever has become of it here.
            Command::Flush(_) => process.view_if(true, now),
            _ => process.view(now),
        };
        let request = Request {
            command,
            view,
            instance: at.into(),
            draw: 0,
            deadline: now + WITHIN,
        };
        process.asked = Some(Asked {
            what,
            is_overtaken: false,
            is_outdated: false,
        });
        process.to_store.push_back(Sent { request, about });
    }

    fn tell(&mut self, at: u8) {
        let process = self.of(at);
        let pending = std::mem::take(&mut process.pending);
        let about = process.seen_in;
        let flush = Flush {
            success: pending.success,
            failures: pending.failures,
            ..Flush::default()
        };
        self.send(at, Asking::Nothing, Command::Flush(flush), about);
    }

    fn renew(&mut self, at: u8) {
        let now = self.now;
        let process = self.of(at);
        let view = process.view(now);
        let Some(probe) = &mut process.probe else {
            return;
        };
        if view.epoch != probe.epoch {
            process.probe = None;
            return;
        }
        probe.renewed = now;
        let (token, about) = (probe.token, probe.epoch);
        let ttl = LEASE_MILLIS;
        self.send(at, Asking::More, Command::Renew { token, ttl }, about);
    }

    fn end(&mut self, at: u8, verdict: Verdict) {
        let now = self.now;
        let process = self.of(at);
        let view = process.view(now);
        let Some(probe) = process.probe.take() else {
            return;
        };
        // What has become of a round that is over matters to nobody.
        if view.epoch != probe.epoch {
            return;
        }
        let command = Command::End {
            token: Some(probe.token),
            outcome: outcome(verdict),
        };
        self.send(at, Asking::Nothing, command, probe.epoch);
    }

    fn serve(&mut self, at: u8, seeded: Seeded, bounds: &Bounds) -> Result<(), Broken> {
        match self.of(at).to_store.pop_front() {
            Some(sent) => self.done(&sent, Some(at), seeded, bounds),
            None => Ok(()),
        }
    }

    /// The store does a command, answers whoever is there, and tells everybody.
    fn done(
        &mut self,
        sent: &Sent,
        by: Option<u8>,
        seeded: Seeded,
        bounds: &Bounds,
    ) -> Result<(), Broken> {
        let mut applied = self.server.serve(sent, seeded, bounds, self.now)?;
        // Every epoch has a millisecond of its own.
        self.now = self.now.max(self.server.highest + 1);
        forget_what_decides_nothing(&mut self.server.state);
        forget_numbers(&mut applied.reply.snapshot);
        let last = self.processes.len() - 1;
        for (at, process) in self.processes.iter_mut().enumerate() {
            if !process.is_up {
                continue;
            }
            let is_deaf = seeded == Seeded::MessageLost && at == last;
            let is_its_own = by.is_some_and(|by| usize::from(by) == at);
            if is_its_own {
                let answer = Letter::Answer(applied.reply.clone());
                process.from_store.push_back(answer);
            }
            for told in &applied.told {
                let mut told = told.clone();
                forget_numbers(&mut told.snapshot);
                if is_its_own || !is_deaf {
                    process.from_store.push_back(Letter::Message(told));
                }
            }
        }
        Ok(())
    }

    fn receive(&mut self, at: u8, seeded: Seeded) {
        let now = self.now;
        let process = self.of(at);
        match process.from_store.pop_front() {
            Some(Letter::Answer(reply)) => process.mail = Some(reply),
            Some(Letter::Message(told)) => process.hear_told(&told, seeded, now),
            None => {}
        }
    }

    /// Nobody else has it, nor had it in a copy.
    fn unused_token(&self) -> u64 {
        let kept = [
            self.server.state.as_ref(),
            self.server.copy.iter().flatten().next(),
        ];
        let leased = kept.into_iter().flatten().flat_map(|it| &it.round.leases);
        let mut used: Vec<u64> = leased.map(|lease| lease.token).collect();
        used.extend(self.server.grants.iter().map(|grant| grant.token));
        for process in &self.processes {
            used.extend(process.probe.map(|probe| probe.token));
            if let Some(Asked {
                what: Asking::Leave(token),
                ..
            }) = process.asked
            {
                used.push(token);
            }
        }
        let sent = self.processes.iter().flat_map(|it| &it.to_store);
        used.extend(
            sent.chain(&self.strays)
                .filter_map(|it| token_of(&it.request.command)),
        );
        (1..).find(|token| !used.contains(token)).unwrap_or(0)
    }

    /// I4
    fn watch_processes(&self) -> Result<(), Broken> {
        for process in self.processes.iter().filter(|it| it.is_at_rest()) {
            let is_behind = process.epoch() < self.server.epoch();
            let is_another =
                process.epoch() == self.server.epoch() && process.phase() != self.server.phase();
            if is_behind || is_another {
                return Err("I4: a process is behind, and nothing is on its way to it");
            }
        }
        Ok(())
    }

    /// Whether calls pass everywhere, by what all have decided.
    pub(super) fn is_well(&self) -> bool {
        let are_closed = self
            .processes
            .iter()
            .all(|it| it.is_closed() && it.phase() == Phase::Closed);
        self.server.phase() == Phase::Closed && are_closed
    }
}

impl Process {
    fn fail(&mut self, bounds: &Bounds) {
        if self.pending.failures == 0 {
            self.seen_in = self.epoch();
        }
        self.pending.add(outcome(Verdict::Failure));
        self.row += 1;
        if self.row >= bounds.threshold {
            self.own = Own::Open;
            self.row = 0;
        }
    }
}

pub(super) const fn token_of(command: &Command) -> Option<u64> {
    match command {
        Command::Acquire { token, .. } | Command::Renew { token, .. } => Some(*token),
        Command::End { token, .. } => *token,
        Command::Sync | Command::Flush(_) | Command::Force(_) => None,
    }
}

const fn outcome(verdict: Verdict) -> Outcome {
    Outcome {
        verdict,
        is_slow: false,
    }
}

/// How often it opened and why decides nothing where no opening grows.
fn forget_what_decides_nothing(state: &mut Option<crate::rules::fleet::Shared>) {
    if let Some(state) = state {
        state.trips = 0;
        state.opened_by = None;
        state.closed_at = 0;
    }
}

const fn forget_numbers(snapshot: &mut crate::rules::fleet::Snapshot) {
    snapshot.trips = 0;
    snapshot.opened_by = None;
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, what) = match *self {
            Self::CallFails(at) => (at, "a call fails"),
            Self::CallSucceeds(at) => (at, "a call succeeds"),
            Self::Mends(at) => (at, "opened by itself and closes by itself"),
            Self::ProbesAlone(at, true) => (at, "a call succeeds without the store"),
            Self::ProbesAlone(at, false) => (at, "a call fails without the store"),
            Self::Connects(at) => (at, "connects"),
            Self::AsksHowItStands(at) => (at, "asks how it stands"),
            Self::Tells(at) => (at, "tells what it has seen"),
            Self::AsksForLeave(at) => (at, "asks for leave"),
            Self::Renews(at) => (at, "renews its lease"),
            Self::ProbeSucceeds(at) => (at, "its probe succeeds"),
            Self::ProbeFails(at) => (at, "its probe fails"),
            Self::ProbeIsDropped(at) => (at, "its probe is dropped"),
            Self::StoreServes(at) => (at, "its command is done"),
            Self::StoreServesStray(at) => return write!(f, "stray command {at} is done"),
            Self::Receives(at) => (at, "receives the next answer or message"),
            Self::LooksAtAnswer(at) => (at, "looks at the answer"),
            Self::TimePasses => return f.write_str("time passes"),
            Self::Disconnects(at) => (at, "loses its connection"),
            Self::Crashes(at) => (at, "crashes"),
            Self::StoreLosesAll => return f.write_str("the store loses all"),
            Self::ReplicaFallsBehind => return f.write_str("the replica falls behind"),
            Self::ReplicaTakesOver => return f.write_str("the replica takes over"),
        };
        write!(f, "{at}: {what}")
    }
}
