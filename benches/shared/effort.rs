//! How long each part is measured.

use std::time::Duration;

pub(crate) struct Effort {
    /// Of calls at an even rate, after a second of the same that is not counted.
    pub(crate) traffic: Duration,
    /// How often a circuit is opened for all.
    pub(crate) trips: usize,
    /// How often the server is stopped, and how long each time.
    pub(crate) stops: usize,
    pub(crate) stop: Duration,
    /// How long the server is away.
    pub(crate) away: Duration,
    /// How often a crowd asks for leave to probe.
    pub(crate) crowds: usize,
    /// Of calls back to back, for each design and number of callers.
    pub(crate) burst: Duration,
}

impl Effort {
    pub(crate) const fn full() -> Self {
        Self {
            traffic: Duration::from_secs(4),
            trips: 100,
            stops: 4,
            stop: Duration::from_millis(1200),
            away: Duration::from_secs(3),
            crowds: 20,
            burst: Duration::from_secs(1),
        }
    }

    pub(crate) const fn quick() -> Self {
        Self {
            traffic: Duration::from_secs(2),
            trips: 20,
            stops: 2,
            stop: Duration::from_secs(1),
            away: Duration::from_secs(1),
            crowds: 5,
            burst: Duration::from_millis(300),
        }
    }
}
