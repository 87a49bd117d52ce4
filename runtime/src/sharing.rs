//! How a circuit is shared with other processes, for people and boards.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use std::time::SystemTime;

use crate::numbers::Difference;

/// How a circuit is shared with other processes, as one of them sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sharing {
    /// Whether all processes decide together now.
    pub state: SharingState,
    /// The epoch that this process knows of. It rises with each transition of the shared
    /// circuit, and is the same in all processes that have heard of the last one; 0 where
    /// nothing has ever been heard.
    pub epoch: u64,
    /// Where other processes go by other numbers, as during a rollout; as far as is known of
    /// the last minute.
    pub differences: Vec<Difference>,
}

/// Whether processes decide together.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SharingState {
    /// The store was not reached yet, and it is not known to be lost.
    Connecting,
    /// All processes decide together.
    Shared,
    /// The store cannot be reached: for how long, and what becomes of calls meanwhile.
    Lost {
        /// Since when.
        since: SystemTime,
        /// What becomes of calls.
        policy: WhenStoreIsLost,
    },
    /// The registry was closed: this process goes by what it sees itself, and hears nobody any
    /// more. One that was closed while the store was lost goes on as it did then, and is
    /// [`Lost`](Self::Lost) for good.
    Closed {
        /// When it was.
        since: SystemTime,
    },
    /// The store is there and does not take this one circuit, or the node of a cluster that has
    /// it cannot be reached: this process goes by what it has seen itself, and tries again.
    Apart {
        /// What the store has said.
        cause: Arc<str>,
    },
}

/// What becomes of calls while the store that processes share their circuits through cannot be
/// reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhenStoreIsLost {
    /// An open circuit stays open for as long as it was said to; otherwise each process goes by
    /// what it has seen itself, which it has counted all along.
    #[default]
    Local,
    /// All calls are rejected until the store is back: each circuit is forced open, by
    /// `breakerbox`, and the rejections are of the kind
    /// [`ForcedOpen`](crate::RejectedKind::ForcedOpen).
    OpenFails,
    /// All calls are let through for so long, then it is as with [`Local`](Self::Local).
    Admit(Duration),
}

impl fmt::Display for WhenStoreIsLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => f.write_str("each process goes by what it sees itself"),
            Self::OpenFails => f.write_str("all calls are rejected"),
            Self::Admit(ttl) => write!(f, "all calls are let through for {ttl:?}"),
        }
    }
}
