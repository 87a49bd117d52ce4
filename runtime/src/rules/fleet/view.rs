//! What a caller knows of the circuit, and when it knows better than the store.

use std::mem;

use crate::reason::Reason;
use crate::rules::fleet::Cover;
use crate::rules::fleet::Live;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Shared;
use crate::rules::fleet::motion::FOREVER;
use crate::rules::fleet::motion::Motion;
use crate::rules::fleet::request::What;

/// The last that a caller was told, with what is left of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct View {
    /// Zero where it was told nothing, or so long ago that it proves nothing.
    pub(crate) epoch: u64,
    pub(crate) phase: Phase,
    /// What is left of an opening, and how long it was meant to be.
    pub(crate) remaining: u64,
    pub(crate) length: u64,
    pub(crate) trips: u32,
    pub(crate) opened_by: Option<Reason>,
    /// Where `until` is what is left of it and `began` is zero.
    pub(crate) cover: Option<Cover>,
    /// Also where the rest proves nothing.
    pub(crate) live: Live,
}

impl Motion<'_> {
    /// The store may have lost what it knew, or gone back to what it knew before: whoever
    /// knows of a later epoch puts it back.
    pub(super) fn believe(&mut self) {
        let view = &self.request.view;
        if view.live.id > self.state.live.id {
            self.state.live = view.live.clone();
            self.is_changed = true;
            self.tell_live();
        }
        if view.epoch == 0 || view.epoch <= self.state.epoch {
            return;
        }
        let was_empty = self.state.epoch == 0;
        self.state = Shared {
            epoch: view.epoch,
            phase: view.phase,
            trips: view.trips,
            opened_by: view.opened_by,
            cover: view.cover.clone().map(|cover| Cover {
                began: self.now,
                until: self.now.saturating_add(cover.until.min(FOREVER)),
                ..cover
            }),
            live: mem::take(&mut self.state.live),
            ..Shared::default()
        };
        match view.phase {
            // A closed circuit of which nothing is known is a closed circuit.
            Phase::Closed if was_empty && view.cover.is_none() => return,
            Phase::Closed => {}
            Phase::Open => {
                self.state.until = self.now.saturating_add(view.remaining.min(FOREVER));
                self.state.length = view.length.max(view.remaining).min(FOREVER);
            }
            Phase::HalfOpen => {
                // Which leases are out is not known, and as many more would be too many: it
                // stays open until none of them can be.
                self.next_epoch();
                self.state.phase = Phase::Open;
                self.state.length = self.request.longest_lease();
                self.state.until = self.now.saturating_add(self.state.length);
            }
        }
        self.is_changed = true;
        self.tell(What::Restored);
    }
}
