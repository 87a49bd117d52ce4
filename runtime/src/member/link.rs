//! Whether the processes can hear each other.

use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::AcqRel;
use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::Ordering::Release;
use std::time::SystemTime;

use crate::sharing::SharingState;
use crate::sharing::WhenStoreIsLost;

/// The way to the store, as all circuits of a registry see it.
pub(crate) struct Link {
    /// Which process this is.
    pub(crate) instance: u64,
    pub(crate) when_lost: WhenStoreIsLost,
    state: AtomicU8,
    /// Since when it is lost, or left.
    since: Mutex<Option<SystemTime>>,
}

const CONNECTING: u8 = 0;
const UP: u8 = 1;
const LOST: u8 = 2;
const LEFT: u8 = 3;
/// While it was lost: so it stays.
const LEFT_LOST: u8 = 4;

impl Link {
    pub(crate) const fn new(instance: u64, when_lost: WhenStoreIsLost) -> Self {
        Self {
            instance,
            when_lost,
            state: AtomicU8::new(CONNECTING),
            since: Mutex::new(None),
        }
    }

    /// Whether it was tried, and cannot be reached; or could not when the process left.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self.state.load(Acquire), LOST | LEFT_LOST)
    }

    pub(crate) fn is_up(&self) -> bool {
        self.state.load(Acquire) == UP
    }

    /// Says whether it was not.
    pub(crate) fn set_up(&self) -> bool {
        let mut since = self.since();
        *since = None;
        self.state.swap(UP, AcqRel) != UP
    }

    /// Says whether it was not.
    pub(crate) fn set_lost(&self) -> bool {
        let mut since = self.since();
        let is_news = self.state.swap(LOST, AcqRel) != LOST;
        if is_news {
            *since = Some(SystemTime::now());
        }
        is_news
    }

    /// From now on the process goes by itself, and nothing has to be done about it.
    pub(crate) fn leave(&self) {
        let mut since = self.since();
        let left = if since.is_some() { LEFT_LOST } else { LEFT };
        since.get_or_insert_with(SystemTime::now);
        self.state.store(left, Release);
    }

    /// Whether that is so.
    pub(crate) fn has_left(&self) -> bool {
        matches!(self.state.load(Acquire), LEFT | LEFT_LOST)
    }

    /// For people.
    pub(crate) fn sharing(&self) -> SharingState {
        let since = self.since();
        match (*since, self.state.load(Acquire)) {
            (Some(since), LEFT) => SharingState::Closed { since },
            (Some(since), _) => SharingState::Lost {
                since,
                policy: self.when_lost,
            },
            (None, UP) => SharingState::Shared,
            (None, _) => SharingState::Connecting,
        }
    }

    fn since(&self) -> MutexGuard<'_, Option<SystemTime>> {
        let since = self.since.lock();
        since.unwrap_or_else(PoisonError::into_inner)
    }
}
