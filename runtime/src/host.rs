//! What a breaker gets from its registry: the time, the seed of its jitter, and a bell for
//! the background.

use std::hash::BuildHasher;
use std::hash::DefaultHasher;
use std::hash::Hash;
use std::hash::Hasher;
use std::hash::RandomState;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::AcqRel;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::Thread;

use crate::clock::Clock;

#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) clock: Clock,
    pub(crate) bell: Bell,
    /// Whether it is measured how long calls take.
    #[cfg(feature = "metrics")]
    pub(crate) measures: AtomicBool,
    /// What all draws of the registry begin with.
    seed: AtomicU64,
}

impl Host {
    pub(crate) fn new() -> Self {
        Self::with_clock(Clock::default())
    }

    pub(crate) fn with_clock(clock: Clock) -> Self {
        Self {
            clock,
            bell: Bell {
                rung: AtomicBool::new(false),
                sleeper: OnceLock::new(),
            },
            #[cfg(feature = "metrics")]
            measures: AtomicBool::new(false),
            seed: AtomicU64::new(RandomState::new().hash_one(())),
        }
    }

    /// What the draws of one service begin with: no two draw alike.
    pub(crate) fn seed_of(&self, service: &str) -> u64 {
        let mut hasher = DefaultHasher::new();
        service.hash(&mut hasher);
        self.seed.load(Relaxed) ^ hasher.finish()
    }

    /// Services that are made from now on draw their jitter from this seed.
    pub(crate) fn set_seed(&self, seed: u64) {
        self.seed.store(seed, Relaxed);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_has_a_seed_of_its_own_until_it_is_given_one() {
        let (one, other) = (Host::new(), Host::new());
        assert_ne!(one.seed_of("a"), other.seed_of("a"));
        one.set_seed(7);
        other.set_seed(7);
        assert_eq!(one.seed_of("a"), other.seed_of("a"));
    }
}
