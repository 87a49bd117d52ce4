//! Whether the processes can hear each other.

use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::AcqRel;
use std::sync::atomic::Ordering::Acquire;
use std::time::Duration;

/// The way to the store, as all circuits of a registry see it.
pub(crate) struct Link {
    /// Which process this is.
    pub(crate) instance: u64,
    pub(crate) when_lost: WhenStoreIsLost,
    state: AtomicU8,
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
    /// All calls are rejected until the store is back.
    OpenFails,
    /// All calls are let through for so long, then it is as with [`Local`](Self::Local).
    Admit(Duration),
}

const CONNECTING: u8 = 0;
const UP: u8 = 1;
const LOST: u8 = 2;

impl Link {
    pub(crate) const fn new(instance: u64, when_lost: WhenStoreIsLost) -> Self {
        Self {
            instance,
            when_lost,
            state: AtomicU8::new(CONNECTING),
        }
    }

    pub(crate) fn is_up(&self) -> bool {
        self.state.load(Acquire) == UP
    }

    /// Says whether it was not.
    pub(crate) fn set_up(&self) -> bool {
        self.state.swap(UP, AcqRel) != UP
    }

    /// Says whether it was not.
    pub(crate) fn set_lost(&self) -> bool {
        self.state.swap(LOST, AcqRel) != LOST
    }
}
