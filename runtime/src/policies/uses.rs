//! Which policies the functions of a service use, so that their metrics exist before the first
//! call.

use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::Relaxed;

use crate::policies::Limits;

/// Which policies the functions of a service use.
#[derive(Debug, Default)]
pub(crate) struct Uses(AtomicU8);

impl Uses {
    #[cfg(feature = "retry")]
    const RETRIES: u8 = 1;
    const TIMEOUTS: u8 = 2;
    const FALLBACKS: u8 = 4;

    pub(super) fn add(&self, limits: &Limits) {
        let mut uses = 0;
        #[cfg(feature = "retry")]
        if limits.retries {
            uses |= Self::RETRIES;
        }
        if limits.timeouts {
            uses |= Self::TIMEOUTS;
        }
        if limits.fallbacks {
            uses |= Self::FALLBACKS;
        }
        self.0.fetch_or(uses, Relaxed);
    }

    fn has(&self, policy: u8) -> bool {
        self.0.load(Relaxed) & policy != 0
    }

    #[cfg(feature = "retry")]
    pub(crate) fn retries(&self) -> bool {
        self.has(Self::RETRIES)
    }

    pub(crate) fn timeouts(&self) -> bool {
        self.has(Self::TIMEOUTS)
    }

    pub(crate) fn fallbacks(&self) -> bool {
        self.has(Self::FALLBACKS)
    }
}
