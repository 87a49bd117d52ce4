//! What somebody lays over the circuit of a whole fleet, and how that ends by itself.

use crate::reason::Reason;
use crate::rules::fleet::Cover;
use crate::rules::fleet::CoverKind;
use crate::rules::fleet::Live;
use crate::rules::fleet::Phase;
use crate::rules::fleet::motion::FOREVER;
use crate::rules::fleet::motion::Motion;
use crate::rules::fleet::request::Force;
use crate::rules::fleet::request::Status;

impl Motion<'_> {
    pub(super) fn force(&mut self, force: &Force) -> Status {
        match force {
            Force::Cover {
                kind,
                ttl,
                actor,
                why,
            } => {
                let from = self.state.state();
                if let Some(earlier) = self.state.cover.take() {
                    self.uncover(&earlier, self.now);
                }
                self.leave_epoch();
                self.state.cover = Some(Cover {
                    kind: *kind,
                    id: self.state.epoch,
                    began: self.now,
                    until: self.now.saturating_add((*ttl).clamp(1, FOREVER)),
                    actor: actor.clone(),
                    why: why.clone(),
                });
                self.tell_by_hand(from, Reason::Override);
            }
            Force::Clear => return self.clear(|_| true),
            Force::ClearOnly(id) => return self.clear(|cover| cover.id == *id),
            Force::Reset => {
                let from = self.state.state();
                self.start_afresh();
                self.tell_by_hand(from, Reason::Reset);
            }
            Force::Renumber { text, after } => return self.renumber(text, *after),
        }
        Status::Done
    }

    /// Says that it was none of this where there is nothing to end.
    fn clear(&mut self, is_meant: impl Fn(&Cover) -> bool) -> Status {
        match self.state.cover.as_ref().is_some_and(is_meant) {
            true => {
                self.end_cover(self.now);
                Status::Done
            }
            false => Status::Stale,
        }
    }

    /// Of two changes that do not know of each other the second is none, so that whoever made
    /// it puts it on the first.
    fn renumber(&mut self, text: &str, after: u64) -> Status {
        if after != self.state.live.id {
            return Status::Stale;
        }
        self.state.live = Live {
            id: after.saturating_add(1).max(self.now),
            text: text.to_owned(),
        };
        self.is_changed = true;
        self.tell_live();
        Status::Done
    }

    /// An override whose time has passed ended when it had.
    pub(super) fn expire(&mut self) {
        let until = self.state.cover.as_ref().map(|cover| cover.until);
        if let Some(until) = until
            && until <= self.now
        {
            self.end_cover(until);
        }
    }

    fn end_cover(&mut self, at: u64) {
        let from = self.state.state();
        if let Some(cover) = self.state.cover.take() {
            self.uncover(&cover, at);
            self.tell_by_hand(from, Reason::OverrideEnded);
        }
    }

    /// What an override leaves behind that has been taken off at `at`.
    fn uncover(&mut self, cover: &Cover, at: u64) {
        match cover.kind {
            CoverKind::ForcedClosed | CoverKind::Shadow => self.start_afresh(),
            CoverKind::ForcedOpen => {
                self.leave_epoch();
                if self.state.phase == Phase::Open {
                    // What was left of it is left of it still.
                    let left = self.state.until.saturating_sub(cover.began);
                    self.state.until = at.saturating_add(left);
                }
            }
        }
    }
}
