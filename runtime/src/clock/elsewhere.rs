//! The monotonic clock of systems without a coarse one that is worth reading.

use std::sync::LazyLock;
use std::time::Duration;
use std::time::Instant;

use crate::clock::nanos;

/// The coarse clock is the exact one.
pub(super) const LAG: Duration = Duration::ZERO;

/// The instant that the whole process counts from.
static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

#[derive(Clone, Copy, Debug)]
pub(super) struct Kernel {
    began: Instant,
}

impl Kernel {
    pub(super) fn new() -> Self {
        Self { began: *BEGAN }
    }

    /// Nanoseconds since an instant that is the same for the whole process.
    #[inline]
    pub(super) fn exact(self) -> u64 {
        nanos(self.began.elapsed())
    }

    #[inline]
    pub(super) fn coarse(self) -> u64 {
        self.exact()
    }
}
