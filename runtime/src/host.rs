//! What a breaker gets from its registry: the time, and a bell for the background.

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::AcqRel;
use std::thread::Thread;

use crate::clock::Clock;

#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) clock: Clock,
    pub(crate) bell: Bell,
}

impl Host {
    pub(crate) fn new() -> Self {
        Self {
            clock: Clock::new(),
            bell: Bell {
                rung: AtomicBool::new(false),
                sleeper: OnceLock::new(),
            },
        }
    }
}

/// Wakes the background thread. Ringing never blocks and never allocates, so that
/// a drop may do it.
#[derive(Debug)]
pub(crate) struct Bell {
    rung: AtomicBool,
    sleeper: OnceLock<Thread>,
}

impl Bell {
    pub(crate) fn ring(&self) {
        if !self.rung.swap(true, AcqRel)
            && let Some(sleeper) = self.sleeper.get()
        {
            sleeper.unpark();
        }
    }

    /// Makes the current thread the one that a ring wakes from `park`.
    pub(crate) fn listen(&self) {
        // There is one background thread a registry; a second would only sleep on.
        let _ = self.sleeper.set(std::thread::current());
    }

    /// Whether it rang since the last call.
    pub(crate) fn answer(&self) -> bool {
        self.rung.swap(false, AcqRel)
    }
}
