//! What is asked of a store, and what it answers.

use crate::reason::Reason;
use crate::rules::Outcome;
use crate::rules::fleet::CoverKind;
use crate::rules::fleet::Snapshot;
use crate::rules::fleet::View;
use crate::state::State;

/// One command, with all that the step needs to know of whoever sends it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    pub(crate) command: Command,
    /// What the caller knows of the circuit.
    pub(crate) view: View,
    /// Who sends it.
    pub(crate) instance: u64,
    /// A random number, for the jitter of an opening that may begin.
    pub(crate) draw: u32,
    /// The last instant at which it may be done, in the store's time; zero for any.
    pub(crate) deadline: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Command {
    /// What is known of the circuit? Creates nothing.
    Sync,
    /// These calls have ended since the last one.
    Flush(Flush),
    /// A call wants to be a probe. Asked again with its token, it renews.
    Acquire {
        token: u64,
        ttl: u64,
    },
    /// The probe still runs.
    Renew {
        token: u64,
        ttl: u64,
    },
    /// The probe has ended so; without a token, a call that a probe has made itself.
    End {
        token: Option<u64>,
        outcome: Outcome,
    },
    Force(Force),
}

/// What has ended in one process since it told last, in the epoch of its view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flush {
    /// Without a window: whether there was a success, ...
    pub(crate) success: bool,
    /// ... and the failures in a row since the last one of all.
    pub(crate) failures: u32,
    /// With one: the calls.
    pub(crate) deltas: Vec<Delta>,
    /// What the failures ask for if they open the circuit: at least so many milliseconds.
    pub(crate) at_least: u64,
    /// A call has asked for an opening of exactly so many, at once.
    pub(crate) exactly: Option<u64>,
}

/// Calls that ended together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Delta {
    /// How long ago, in milliseconds.
    pub(crate) age: u64,
    pub(crate) calls: u64,
    pub(crate) failures: u64,
    pub(crate) slow: u64,
}

/// What somebody wants of a circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Force {
    /// Lays something over it for so many milliseconds.
    Cover {
        kind: CoverKind,
        ttl: u64,
        actor: String,
        why: String,
    },
    /// Ends what lies over it.
    Clear,
    /// The same, if that is still the one which began with this epoch.
    ClearOnly(u64),
    /// Closes what lies beneath and forgets all that was counted.
    Reset,
    /// Changes the numbers of the service, if the last live change is still this one. The
    /// circuit stays as it is.
    Renumber { text: String, after: u64 },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reply {
    pub(crate) status: Status,
    /// The time of the store.
    pub(crate) now: u64,
    /// Of what stands afterwards. Nothing where the command came too late.
    pub(crate) snapshot: Snapshot,
    /// What the window holds, after a flush into one.
    pub(crate) sums: crate::rules::Sums,
    /// What is written in the last live change, where somebody has asked how the circuit
    /// stands.
    pub(crate) live: Option<String>,
}

/// What came of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Done,
    /// It came after its deadline, and nothing was done.
    Late,
    /// It is about an epoch that is over, or a lease or a live change that is: nothing was done.
    Stale,
    /// The outcome opened the circuit.
    Opened,
    /// The outcome closed the circuit.
    Closed,
    /// A rate is met; it is judged again when the others have told of their calls, after so
    /// many milliseconds.
    Settling(u64),
    /// The call may probe.
    Granted,
    /// As many probe as may.
    Full,
    /// The circuit is open for so many milliseconds more.
    Wait(u64),
    /// Nobody needs leave.
    Pass,
    /// Nobody is admitted, since somebody wants that.
    Refused,
}

/// What everybody is told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Told {
    pub(crate) what: What,
    pub(crate) snapshot: Snapshot,
    /// The time of the store.
    pub(crate) now: u64,
    /// Whose command it was.
    pub(crate) instance: u64,
    /// What is written in the last live change, where that is what is told.
    pub(crate) live: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum What {
    /// The circuit has moved.
    Moved {
        from: State,
        to: State,
        reason: Reason,
    },
    /// Failures are being counted somewhere: successes matter.
    Suspect,
    /// What the store had lost was put back.
    Restored,
    /// The numbers of the service have changed, or the store had lost that they have.
    Renumbered,
}

impl Reply {
    pub(super) fn late(now: u64) -> Self {
        Self {
            status: Status::Late,
            now,
            snapshot: Snapshot::default(),
            sums: crate::rules::Sums::default(),
            live: None,
        }
    }
}
