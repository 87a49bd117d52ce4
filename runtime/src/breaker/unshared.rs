//! What a breaker does that shares its circuit with nobody: nothing of what
//! others have a say in.

use std::task::Context;
use std::task::Poll;

use crate::breaker::Breaker;
use crate::breaker::Waits;
use crate::breaker::guard::Guard;
use crate::breaker::guard::Stamp;
use crate::event::By;
use crate::gate::Others;
use crate::policy::Policy;
use crate::rejected::Rejected;
use crate::rejected::RejectedKind;
use crate::rules::Changes;
use crate::rules::Command;
use crate::rules::Outcome;
use crate::rules::Settled;
use crate::word::Word;

/// The rare way in, as far as others have a say in it: they have none.
pub(super) enum Leave {
    NotNeeded,
    #[allow(dead_code)] // Where there are others.
    Riding(Word),
    #[allow(dead_code)]
    Given(Word),
    #[allow(dead_code)]
    Asked(u64),
    #[allow(dead_code)]
    Busy,
    #[allow(dead_code)]
    TooLate,
}

/// What is known of an override as others know it: nothing.
#[derive(Debug)]
pub(super) struct Elsewhere;

/// Somebody is about to want something, of which nobody else hears.
pub(super) struct AboutTo;

impl Breaker {
    #[inline]
    pub(super) fn share_command(
        &self,
        _command: Command,
        _by: Option<&By>,
        _about_to: AboutTo,
    ) -> Elsewhere {
        Elsewhere
    }

    #[inline]
    pub(super) const fn about_to_share(&self) -> AboutTo {
        AboutTo
    }

    #[inline]
    pub(super) fn share_end(&self, _mine: &Elsewhere, _about_to: AboutTo) {}

    pub(super) fn share_live(&self, _takes_back: bool, _changed: Policy) {}

    #[inline]
    pub(super) fn leave(&self, _waits: Waits, _is_inside: impl Fn(u64) -> bool) -> Leave {
        Leave::NotNeeded
    }

    pub(super) fn end_leased(&self, _seen: Word, _outcome: Outcome) -> Settled {
        Settled::Late
    }

    #[inline]
    pub(super) fn share(&self, _seen: Word, _outcome: Outcome, _settled: Settled) {}

    #[inline]
    pub(super) fn share_changes(&self, _changes: &Changes) {}

    #[inline]
    pub(super) fn share_numbers(&self) {}

    pub(super) fn still_rejected(&self) -> Rejected {
        self.not_in(RejectedKind::ProbesBusy)
    }
}

impl Others for Breaker {
    #[inline]
    fn govern(&self, _generation: u64) -> bool {
        false
    }

    #[inline]
    fn follow(&self, _generation: u64) {}
}

impl Guard<'_> {
    #[inline]
    pub(super) fn poll_leave(&mut self, _context: &Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    pub(super) fn ask_no_more(&mut self) {
        self.set(Word::NONE, Stamp::UNTIMED);
    }

    pub(super) fn block_on_leave(&mut self) {}
}
