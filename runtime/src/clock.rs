//! Time as the rules see it: whole nanoseconds since a registry began.

use std::ops::Add;
use std::time::Duration;

#[cfg(not(feature = "test-util"))]
use std::time::Instant;

#[cfg(feature = "test-util")]
use tokio::time::Instant;

/// An instant, in nanoseconds since the clock began. It saturates: the end of
/// time is 584 years away, and nothing overflows on the way there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tick(pub(crate) u64);

impl Tick {
    /// The time from `earlier` to this instant; zero where `earlier` is later.
    pub(crate) const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Tick {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(nanos(duration)))
    }
}

/// The nanoseconds of a duration, saturating.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// The clock of one registry.
///
/// With the feature `test-util` it is tokio's clock, which stands still and
/// jumps where a test has paused it, and is the system's everywhere else.
#[derive(Debug)]
pub(crate) struct Clock {
    origin: Instant,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self { origin: instant() }
    }

    pub(crate) fn now(&self) -> Tick {
        Tick(nanos(instant().saturating_duration_since(self.origin)))
    }

    pub(crate) fn coarse(&self) -> Tick {
        self.now()
    }

    pub(crate) const LAG: Duration = Duration::from_millis(10);
}

#[cfg(not(feature = "test-util"))]
fn instant() -> Instant {
    Instant::now()
}

/// Among the last destructors of a thread tokio has no clock left, and would panic.
#[cfg(feature = "test-util")]
fn instant() -> Instant {
    match tokio::runtime::Handle::try_current() {
        Err(error) if error.is_thread_local_destroyed() => std::time::Instant::now().into(),
        Ok(_) | Err(_) => Instant::now(),
    }
}
