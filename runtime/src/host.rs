//! What a breaker gets from its registry: the time, and a bell for the background.

use std::hash::BuildHasher;
use std::hash::DefaultHasher;
use std::hash::Hash;
use std::hash::Hasher;
use std::hash::RandomState;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::AcqRel;
use std::thread::Thread;

use crate::clock::Clock;

#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) clock: Clock,
    /// What all draws of the registry begin with.
    seed: u64,
    pub(crate) bell: Bell,
}

impl Host {
    pub(crate) fn new() -> Self {
        Self {
            clock: Clock::new(),
            seed: RandomState::new().build_hasher().finish(),
            bell: Bell {
                rung: AtomicBool::new(false),
                sleeper: OnceLock::new(),
            },
        }
    }
}

impl Host {
    /// What the draws of one service begin with: no two draw alike.
    pub(crate) fn seed_of(&self, service: &str) -> u64 {
        let mut hasher = DefaultHasher::new();
        service.hash(&mut hasher);
        self.seed ^ hasher.finish()
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
