//! The law of a circuit that several processes share.
//!
//! What a fleet knows of a circuit lies in a store, and all that is ever done to it is one
//! step of [`apply`]: a command goes in with the time of the store, the next state and a reply
//! come out, and what everybody is told. In Redis the same step is a script; a test holds the
//! two together.
//!
//! Times are whole milliseconds of the store's clock, since no two processes have another one
//! in common. That clock may jump. Every length is known beside its end, so that no jump makes
//! an opening, a lease or an override last longer than once more its whole length.

mod flush;
mod force;
mod motion;
mod probes;
mod request;
mod shared;
mod view;

pub(crate) use motion::Width;
pub(crate) use motion::millis;
pub(crate) use request::Command;
pub(crate) use request::Delta;
pub(crate) use request::Flush;
pub(crate) use request::Force;
pub(crate) use request::Reply;
pub(crate) use request::Request;
pub(crate) use request::Status;
pub(crate) use request::Told;
pub(crate) use request::What;
pub(crate) use shared::Cover;
pub(crate) use shared::CoverKind;
pub(crate) use shared::Lease;
pub(crate) use shared::Live;
pub(crate) use shared::Phase;
pub(crate) use shared::Reporter;
#[cfg(test)]
pub(crate) use shared::Round;
pub(crate) use shared::Shared;
pub(crate) use shared::Slot;
pub(crate) use shared::Snapshot;
pub(crate) use view::View;

use crate::policy::Policy;

use motion::Motion;

/// What came of one command.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Applied {
    /// What lies in the store afterwards; nothing where nothing lay there and nothing has to.
    pub(crate) state: Option<Shared>,
    /// Whether that has to be written.
    pub(crate) is_changed: bool,
    pub(crate) reply: Reply,
    /// In order.
    pub(crate) told: Vec<Told>,
}

/// One step: `request` comes at `now`, while `before` lies in the store.
///
/// # Example of the order of things
///
/// A command that comes after its deadline does nothing. Otherwise times that a jump of the
/// clock has made impossible are mended, what the caller knows better is believed, an override
/// whose time has passed ends, and then the command itself is done.
pub(crate) fn apply(
    before: Option<&Shared>,
    request: &Request,
    policy: &Policy,
    now: u64,
) -> Applied {
    if request.deadline != 0 && now > request.deadline {
        return Applied {
            state: before.cloned(),
            is_changed: false,
            reply: Reply::late(now),
            told: Vec::new(),
        };
    }
    let mut motion = Motion::begin(before, request, policy, now);
    motion.believe();
    motion.expire();
    let status = match &request.command {
        Command::Sync => Status::Done,
        Command::Flush(flush) => motion.flush(flush),
        Command::Acquire { token, ttl } => motion.acquire(*token, *ttl),
        Command::Renew { token, ttl } => motion.renew(*token, *ttl),
        Command::End { token, outcome } => motion.end(*token, *outcome),
        Command::Force(force) => motion.force(force),
    };
    motion.finish(status)
}

#[cfg(test)]
mod tests;
