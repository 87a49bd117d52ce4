//! What was told last, in the time of this process.

use std::time::Duration;
use std::time::Instant;

use crate::clock::Tick;
use crate::reason::Reason;
use crate::rules::Ruling;
use crate::rules::fleet::Cover;
use crate::rules::fleet::Live;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Snapshot;
use crate::rules::fleet::View;

/// What the others have decided, as far as it is known here.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// Zero where nothing has been told.
    pub(crate) epoch: u64,
    /// The epoch since which calls are counted together: an override that lay over a closed
    /// circuit and is over leaves the counts as they were, and so does a store that forgets.
    pub(crate) counts_since: u64,
    pub(crate) phase: Phase,
    /// Whether the circuit is still to move as it says.
    pub(crate) is_owed: bool,
    until: Option<Tick>,
    length: u64,
    trips: u32,
    opened_by: Option<Reason>,
    cover: Option<(Cover, Tick)>,
    /// When the store was heard last about it.
    heard: Option<Instant>,
    /// Until when successes matter.
    suspect_until: Option<Instant>,
}

/// For so long successes matter after the store has said so; it says so again where they still
/// do.
const SUSPECT: Duration = Duration::from_secs(2);

impl Known {
    /// Takes over what was told at `told` of the store's time, which is `now` here.
    /// `is_forced` says whether something lies over the circuit in this process.
    pub(crate) fn learn(&mut self, snapshot: &Snapshot, told: u64, now: Tick, is_forced: bool) {
        let here = |then: u64| now + Duration::from_millis(then.saturating_sub(told));
        let heard = Instant::now();
        let goes_on = snapshot.epoch == self.epoch
            || !is_forced && self.cover_has_ended(snapshot)
            || self.was_forgotten(snapshot);
        *self = Self {
            epoch: snapshot.epoch,
            counts_since: if goes_on {
                self.counts_since
            } else {
                snapshot.epoch
            },
            phase: snapshot.phase,
            is_owed: self.is_owed,
            until: (snapshot.phase == Phase::Open).then(|| here(snapshot.until)),
            length: snapshot.length,
            trips: snapshot.trips,
            opened_by: snapshot.opened_by,
            cover: snapshot
                .cover
                .clone()
                .map(|cover| (cover.clone(), here(cover.until))),
            heard: Some(heard),
            suspect_until: snapshot.is_suspect.then(|| heard + SUSPECT),
        };
    }

    /// Whether all the news is that an override is over. Where it is over here as well, calls
    /// have passed since, and count.
    fn cover_has_ended(&self, snapshot: &Snapshot) -> bool {
        self.is_covered() && snapshot.cover.is_none() && snapshot.phase == self.phase
    }

    /// Whether the store has forgotten a closed circuit, or counts one anew that it had forgotten:
    /// what the others have not been told yet goes on to count.
    fn was_forgotten(&self, snapshot: &Snapshot) -> bool {
        self.counts_since != 0
            && (snapshot.epoch == 0 || self.epoch == 0)
            && (self.phase == Phase::Closed && snapshot.phase == Phase::Closed)
            && (self.cover.is_none() && snapshot.cover.is_none())
    }

    /// Whether successes matter to the others.
    pub(crate) fn is_suspect(&self) -> bool {
        self.suspect_until
            .is_some_and(|until| Instant::now() < until)
    }

    pub(crate) fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Probes decide, of all processes together.
    pub(crate) fn is_half_open(&self) -> bool {
        self.phase == Phase::HalfOpen && self.cover.is_none()
    }

    pub(crate) fn is_covered(&self) -> bool {
        self.cover.is_some()
    }

    /// The end of what somebody has laid over it.
    pub(crate) fn covered_until(&self) -> Option<Tick> {
        self.cover.as_ref().map(|(_, until)| *until)
    }

    /// Who has laid something over it, and why.
    pub(crate) fn cover(&self) -> Option<&Cover> {
        self.cover.as_ref().map(|(cover, _)| cover)
    }

    pub(crate) fn ruling(&self, reason: Reason) -> Ruling {
        Ruling {
            epoch: self.epoch,
            phase: self.phase,
            until: self.until.unwrap_or(Tick(0)),
            trips: self.trips,
            opened_by: self.opened_by,
            cover: self
                .cover
                .as_ref()
                .map(|(cover, until)| (cover.kind, *until)),
            reason,
        }
    }

    /// The same for the store, which may have lost it. What this process no longer stands by
    /// it does not bring back; and who may probe is known for as long as a lease lasts. A live
    /// change stands whatever the circuit does.
    pub(crate) fn view(&self, stands: bool, live: Live, lease: Duration, now: Tick) -> View {
        let is_fresh = self.heard.is_some_and(|heard| heard.elapsed() < lease);
        if !stands || self.phase == Phase::HalfOpen && !is_fresh {
            return View {
                live,
                ..View::default()
            };
        }
        let left = |until: Tick| {
            let left = until.since(now).as_nanos().div_ceil(1_000_000);
            u64::try_from(left).unwrap_or(u64::MAX)
        };
        View {
            epoch: self.epoch,
            phase: self.phase,
            remaining: self.until.map_or(0, left),
            length: self.length,
            trips: self.trips,
            opened_by: self.opened_by,
            cover: self.cover.as_ref().and_then(|(cover, until)| {
                let left = left(*until);
                (left > 0).then(|| Cover {
                    began: 0,
                    until: left,
                    ..cover.clone()
                })
            }),
            live,
        }
    }
}
