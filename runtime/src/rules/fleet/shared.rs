//! What a fleet knows of one circuit.

use crate::reason::Reason;
use crate::rules::fleet::Width;
use crate::state::State;

/// What lies in the store. The fields of the hash in Redis are these, each a number or a
/// packed text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shared {
    /// Raised by every transition, to the time of the store at least: so it also rises where
    /// the store has lost everything. None is zero.
    pub(crate) epoch: u64,
    pub(crate) phase: Phase,
    /// The first instant at which an open circuit admits a probe, and how long the opening was
    /// meant to be.
    pub(crate) until: u64,
    pub(crate) length: u64,
    /// Openings since it closed for good.
    pub(crate) trips: u32,
    /// What opened it last.
    pub(crate) opened_by: Option<Reason>,
    /// When it closed last; zero where it never opened.
    pub(crate) closed_at: u64,
    /// In a row; nothing is counted here where there is a window.
    pub(crate) failures: u32,
    /// The window, oldest first; those of other versions before that of the last one who told.
    pub(crate) slots: Vec<Slot>,
    /// Since when the counts hold anything but successes; zero where they do not.
    pub(crate) suspect_since: u64,
    /// When everybody was told so last.
    pub(crate) told_at: u64,
    /// Who has seen the failures that are counted, as far as it matters.
    pub(crate) reporters: Vec<Reporter>,
    pub(crate) round: Round,
    pub(crate) cover: Option<Cover>,
    pub(crate) live: Live,
}

/// The numbers that somebody has changed while the processes run. It is no matter of epochs:
/// the circuit stands as it stood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Live {
    /// Raised by every change, to the time of the store at least; zero where there was none.
    pub(crate) id: u64,
    /// What is written in it, which only the processes can read. Nothing where the changes
    /// were taken back.
    pub(crate) text: String,
}

/// Where the circuit stands beneath what somebody may have laid over it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    #[default]
    Closed,
    Open,
    HalfOpen,
}

/// One bucket of a window: a tenth of its time, or of its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// Of which window. Two versions of a service may look back on different ones at once, and
    /// each counts in its own.
    pub(crate) width: Width,
    /// The time of the store in bucket widths; in a window of calls when the bucket began.
    pub(crate) index: u64,
    pub(crate) calls: u64,
    pub(crate) failures: u64,
    pub(crate) slow: u64,
}

/// A process that has seen failures, and when it told of them last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reporter {
    pub(crate) instance: u64,
    pub(crate) at: u64,
}

/// The probes of one half-open period.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Round {
    pub(crate) successes: u32,
    /// Probes that failed, of a round that is judged by their share.
    pub(crate) failures: u32,
    /// Probes that hung and gave no vote.
    pub(crate) hung: u32,
    pub(crate) leases: Vec<Lease>,
}

/// Leave to make one probe, for as long as its process lives and says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lease {
    pub(crate) token: u64,
    pub(crate) started: u64,
    /// The first instant at which its place is free, unless it is renewed.
    pub(crate) expires: u64,
    /// Whether it is older than `probe_timeout`: it holds no place and may vote still.
    pub(crate) hung: bool,
}

/// What somebody has laid over it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cover {
    pub(crate) kind: CoverKind,
    /// The epoch that began with it: which one it is.
    pub(crate) id: u64,
    pub(crate) began: u64,
    /// The first instant at which it is over.
    pub(crate) until: u64,
    pub(crate) actor: String,
    pub(crate) why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CoverKind {
    ForcedOpen,
    ForcedClosed,
    /// The rules work on beneath, in each process by itself.
    Shadow,
}

/// The part that everybody has to know: what replies and messages carry.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Snapshot {
    /// Zero where nothing is known of the circuit: closed, and nothing counted.
    pub(crate) epoch: u64,
    pub(crate) phase: Phase,
    pub(crate) until: u64,
    pub(crate) length: u64,
    pub(crate) trips: u32,
    pub(crate) opened_by: Option<Reason>,
    pub(crate) cover: Option<Cover>,
    /// Whether the counts of a closed circuit hold anything but successes: then successes
    /// matter to it.
    pub(crate) is_suspect: bool,
    /// Which live change is the last one, so that everybody sees whether it is known.
    pub(crate) live: u64,
}

impl Shared {
    pub(crate) fn state(&self) -> State {
        match &self.cover {
            Some(cover) => cover.kind.state(),
            None => self.phase.state(),
        }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot {
            epoch: self.epoch,
            phase: self.phase,
            until: self.until,
            length: self.length,
            trips: self.trips,
            opened_by: self.opened_by,
            cover: self.cover.clone(),
            is_suspect: self.suspect_since > 0,
            live: self.live.id,
        }
    }

    /// Mends what a jump of the clock has made impossible: nothing has begun after `now`, and
    /// nothing lasts longer than it was meant to.
    pub(crate) fn mend(&mut self, now: u64) {
        self.until = self.until.min(now.saturating_add(self.length));
        self.closed_at = self.closed_at.min(now);
        self.suspect_since = self.suspect_since.min(now);
        self.told_at = self.told_at.min(now);
        for reporter in &mut self.reporters {
            reporter.at = reporter.at.min(now);
        }
        for lease in &mut self.round.leases {
            lease.started = lease.started.min(now);
            lease.expires = lease.expires.min(now.saturating_add(Lease::LONGEST));
        }
        if let Some(cover) = &mut self.cover {
            let length = cover.until.saturating_sub(cover.began);
            if cover.began > now {
                cover.began = now;
                cover.until = now.saturating_add(length);
            }
        }
    }
}

impl Phase {
    pub(crate) const fn state(self) -> State {
        match self {
            Self::Closed => State::Closed,
            Self::Open => State::Open,
            Self::HalfOpen => State::HalfOpen,
        }
    }
}

impl CoverKind {
    pub(crate) const fn state(self) -> State {
        match self {
            Self::ForcedOpen => State::ForcedOpen,
            Self::ForcedClosed => State::ForcedClosed,
            Self::Shadow => State::Shadow,
        }
    }
}

impl Slot {
    /// A bucket of calls that nobody counts in is forgotten after so many milliseconds.
    const FORGOTTEN: u64 = 3_600_000;

    /// Whether a version that looks back on this window may still count it. Only those of time
    /// are sure to leave it by themselves.
    pub(super) const fn is_of_use(&self, now: u64) -> bool {
        let (now, kept) = match self.width {
            Width::Millis(width) => (now / width, Width::BUCKETS),
            Width::Calls(_) => (now, Self::FORGOTTEN),
        };
        self.index <= now && self.index + kept > now
    }
}

impl Lease {
    /// No lease is longer, in milliseconds.
    pub(crate) const LONGEST: u64 = 60_000;
}
