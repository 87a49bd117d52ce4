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
    lost_since: Mutex<Option<SystemTime>>,
}

const CONNECTING: u8 = 0;
const UP: u8 = 1;
const LOST: u8 = 2;
const LEFT: u8 = 3;

impl Link {
    pub(crate) const fn new(instance: u64, when_lost: WhenStoreIsLost) -> Self {
        Self {
            instance,
            when_lost,
            state: AtomicU8::new(CONNECTING),
            lost_since: Mutex::new(None),
        }
    }

    /// Whether it was tried, and cannot be reached.
    pub(crate) fn is_lost(&self) -> bool {
        self.state.load(Acquire) == LOST
    }

    pub(crate) fn is_up(&self) -> bool {
        self.state.load(Acquire) == UP
    }

    /// Says whether it was not.
    pub(crate) fn set_up(&self) -> bool {
        let mut since = self.lost_since();
        *since = None;
        self.state.swap(UP, AcqRel) != UP
    }

    /// Says whether it was not.
    pub(crate) fn set_lost(&self) -> bool {
        let mut since = self.lost_since();
        let is_news = self.state.swap(LOST, AcqRel) != LOST;
        if is_news {
            *since = Some(SystemTime::now());
        }
        is_news
    }

    /// From now on the process goes by itself: it is lost, and nothing has to be done about it.
    pub(crate) fn leave(&self) {
        let mut since = self.lost_since();
        since.get_or_insert_with(SystemTime::now);
        self.state.store(LEFT, Release);
    }

    /// Whether that is so.
    pub(crate) fn has_left(&self) -> bool {
        self.state.load(Acquire) == LEFT
    }

    /// For people.
    pub(crate) fn sharing(&self) -> SharingState {
        let since = self.lost_since();
        match (*since, self.is_up()) {
            (Some(since), _) => SharingState::Lost {
                since,
                policy: self.when_lost,
            },
            (None, true) => SharingState::Shared,
            (None, false) => SharingState::Connecting,
        }
    }

    fn lost_since(&self) -> MutexGuard<'_, Option<SystemTime>> {
        let since = self.lost_since.lock();
        since.unwrap_or_else(PoisonError::into_inner)
    }
}
