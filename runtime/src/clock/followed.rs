//! Tokio's clock, which a test may pause.

use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::clock::Sleep;
use crate::clock::Tick;
use crate::clock::nanos;
use crate::clock::sleep;

/// Tokio's clock, from the instant at which it was made.
#[derive(Clone, Debug)]
pub(super) struct Followed {
    origin: Instant,
}

impl Followed {
    pub(super) fn new() -> Self {
        Self { origin: instant() }
    }

    pub(super) fn now(&self) -> Tick {
        Tick(nanos(instant().saturating_duration_since(self.origin)))
    }

    pub(super) fn sleep(&self, duration: Duration) -> Sleep {
        sleep::in_runtime(duration)
    }
}

/// Among the last destructors of a thread tokio has no clock left, and would panic.
fn instant() -> Instant {
    match Handle::try_current() {
        Err(error) if error.is_thread_local_destroyed() => std::time::Instant::now().into(),
        Ok(_) | Err(_) => Instant::now(),
    }
}
