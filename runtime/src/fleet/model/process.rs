//! What one process keeps and does, as far as the others can tell.
//!
//! What was told last and what is sent of it is the real [`Known`], what there is to tell the
//! real [`Pending`]. What the crew does with an answer, and the circuit with a ruling, is said
//! here once more and shorter, since the real ones read clocks: `Crew::look`, `acquire`,
//! `renew`, `end` and `flush`, and `Breaker::hear`.

use std::collections::VecDeque;
use std::time::Duration;

use crate::clock::Tick;
use crate::fleet::model::LEASE_MILLIS;
use crate::fleet::model::seeded::Seeded;
use crate::member::Known;
use crate::member::Pending;
use crate::rules::fleet::Live;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Reply;
use crate::rules::fleet::Request;
use crate::rules::fleet::Snapshot;
use crate::rules::fleet::Status;
use crate::rules::fleet::Told;
use crate::rules::fleet::View;

#[derive(Clone, Debug, Default)]
pub(super) struct Process {
    pub(super) is_up: bool,
    pub(super) is_out_of_date: bool,
    pub(super) heard: Option<Heard>,
    pub(super) own: Own,
    /// Failures in a row, as the circuit here counts them.
    pub(super) row: u32,
    pub(super) pending: Pending,
    /// The epoch in which the first of the pending failures was seen.
    pub(super) seen_in: u64,
    pub(super) probe: Option<Probe>,
    /// The one command that is waited for.
    pub(super) asked: Option<Asked>,
    pub(super) to_store: VecDeque<Sent>,
    pub(super) from_store: VecDeque<Letter>,
    /// The answer that has come and is not looked at yet.
    pub(super) mail: Option<Reply>,
}

/// What was told last, by the store's time, and when it was heard.
#[derive(Clone, Debug)]
pub(super) struct Heard {
    pub(super) snapshot: Snapshot,
    pub(super) told: u64,
    pub(super) at: u64,
}

/// Whether the circuit here has moved by itself since it adopted a ruling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Own {
    #[default]
    Follows,
    Open,
    Closed,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    pub(super) token: u64,
    pub(super) epoch: u64,
    pub(super) renewed: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) what: Asking,
    /// Something was told since, ...
    pub(super) is_overtaken: bool,
    /// ... and was news.
    pub(super) is_outdated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asking {
    Look,
    Leave(u64),
    More,
    Nothing,
}

/// A command under way.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) request: Request,
    /// The epoch of what it tells: of the failures of a flush, of the leave of a probe.
    pub(super) about: u64,
}

/// What comes on the connection, in order.
#[derive(Clone, Debug)]
pub(super) enum Letter {
    Answer(Reply),
    Message(Told),
}

impl Process {
    pub(super) fn epoch(&self) -> u64 {
        self.heard.as_ref().map_or(0, |heard| heard.snapshot.epoch)
    }

    pub(super) fn phase(&self) -> Phase {
        self.heard
            .as_ref()
            .map_or(Phase::Closed, |heard| heard.snapshot.phase)
    }

    pub(super) fn is_suspect(&self) -> bool {
        self.heard
            .as_ref()
            .is_some_and(|heard| heard.snapshot.is_suspect)
    }

    /// What it says that it knows, where it still stands by that.
    pub(super) fn view(&self, now: u64) -> View {
        self.view_if(self.own == Own::Follows, now)
    }

    pub(super) fn view_if(&self, stands: bool, now: u64) -> View {
        let Some(heard) = &self.heard else {
            return View::default();
        };
        let mut known = Known::default();
        known.learn(&heard.snapshot, heard.told, tick(heard.at), false);
        // How long ago that was it asks the system's clock: fresh for ever, or never.
        let lease = match heard.is_fresh(now) {
            true => Duration::MAX,
            false => Duration::ZERO,
        };
        known.view(stands, Live::default(), lease, tick(now))
    }

    /// What is left of the opening that is known here.
    pub(super) fn left(&self, now: u64) -> u64 {
        self.heard.as_ref().map_or(0, |heard| heard.left(now))
    }

    /// Whether calls pass here without leave.
    pub(super) fn is_closed(&self) -> bool {
        match self.own {
            Own::Follows => self.phase() == Phase::Closed,
            Own::Open => false,
            Own::Closed => true,
        }
    }

    /// Whether the crew can send something other than the question how things stand.
    pub(super) fn is_free(&self) -> bool {
        self.is_up && !self.is_out_of_date && self.asked.is_none()
    }

    /// Whether nothing is on its way to or from it.
    pub(super) fn is_at_rest(&self) -> bool {
        self.is_free() && self.to_store.is_empty() && self.from_store.is_empty()
    }

    /// The store has told something unasked.
    pub(super) fn hear_told(&mut self, told: &Told, seeded: Seeded, now: u64) {
        let is_news = told.snapshot.epoch > self.epoch();
        if let Some(asked) = &mut self.asked {
            asked.is_overtaken = true;
            asked.is_outdated |= is_news;
        }
        // It has lost what is known here.
        let is_of_old = told.snapshot.epoch < self.epoch();
        self.is_out_of_date |= is_of_old && seeded != Seeded::CertainWithoutNews;
        self.hear(&told.snapshot, told.now, false, now);
    }

    /// The circuit is told a ruling of all.
    pub(super) fn hear(&mut self, snapshot: &Snapshot, told: u64, is_certain: bool, now: u64) {
        let before = self.epoch();
        if snapshot.epoch < before && !is_certain {
            return;
        }
        let was_closed = self.is_closed();
        let is_news = snapshot.epoch != before;
        let is_as_decided = self.own == Own::Follows;
        self.heard = Some(Heard {
            snapshot: snapshot.clone(),
            told,
            at: now,
        });
        if !is_news && (!is_certain || is_as_decided) {
            return;
        }
        if is_news && before != 0 {
            self.pending = Pending::default();
        }
        match (snapshot.phase, self.own) {
            // What it has seen by itself keeps it open, whatever the others see.
            (Phase::Closed, Own::Open) => {}
            (Phase::Closed, Own::Follows | Own::Closed) => {
                self.own = Own::Follows;
                if !was_closed {
                    self.row = 0;
                }
            }
            (Phase::Open | Phase::HalfOpen, _) => {
                self.own = Own::Follows;
                self.row = 0;
            }
        }
    }

    /// The crew looks at the answer that has come.
    pub(super) fn look(&mut self, seeded: Seeded, now: u64) {
        let (Some(asked), Some(reply)) = (self.asked.take(), self.mail.take()) else {
            return;
        };
        let is_certain = match seeded {
            Seeded::AnswerCertain => true,
            Seeded::CertainWithoutNews => !asked.is_outdated,
            _ => !asked.is_overtaken,
        };
        let is_pass = reply.status == Status::Pass;
        let stands = match asked.what {
            Asking::Look => true,
            Asking::Leave(_) => is_pass,
            Asking::More | Asking::Nothing => false,
        };
        // Neither what was told nor what was answered can be told to be later.
        self.is_out_of_date |= stands && !is_certain && reply.snapshot.epoch < self.epoch();
        self.hear(&reply.snapshot, reply.now, stands && is_certain, now);
        match (asked.what, reply.status) {
            (Asking::Leave(token), Status::Granted) => {
                self.probe = Some(Probe {
                    token,
                    epoch: reply.snapshot.epoch,
                    renewed: now,
                });
            }
            (Asking::More, Status::Stale) => self.probe = None,
            _ => {}
        }
        if self.phase() != Phase::Closed {
            self.pending = Pending::default();
        }
    }

    /// The connection is gone. Returns what may be done still.
    pub(super) fn lose(&mut self) -> Vec<Sent> {
        self.is_up = false;
        self.is_out_of_date = false;
        self.probe = None;
        self.from_store.clear();
        if self.mail.is_none() {
            self.asked = None;
        }
        self.to_store.drain(..).collect()
    }

    /// So long an answer is not waited for. Returns what is too late now.
    pub(super) fn give_up(&mut self) -> Vec<Sent> {
        if self.mail.is_some() {
            return Vec::new();
        }
        if let Some(asked) = self.asked.take() {
            // It asks again before it does anything else.
            self.is_out_of_date |= asked.what == Asking::Look;
        }
        self.from_store
            .retain(|letter| matches!(letter, Letter::Message(_)));
        self.to_store.drain(..).collect()
    }
}

impl Heard {
    pub(super) fn is_fresh(&self, now: u64) -> bool {
        now - self.at < LEASE_MILLIS
    }

    pub(super) fn left(&self, now: u64) -> u64 {
        match self.snapshot.phase {
            Phase::Open => {
                let until = self.at + self.snapshot.until.saturating_sub(self.told);
                until.saturating_sub(now)
            }
            Phase::Closed | Phase::HalfOpen => 0,
        }
    }
}

const fn tick(millis: u64) -> Tick {
    Tick(millis * 1_000_000)
}
