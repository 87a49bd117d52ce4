//! The monotonic clock of Linux, exactly or as of its last tick.
//!
//! Both are one clock of the kernel, read through the vDSO without a system call; what
//! the coarse one saves is reading the counter of the processor.

use std::time::Duration;

use rustix::time::ClockId;
use rustix::time::DynamicClockId;
use rustix::time::Timespec;
use rustix::time::clock_gettime;
use rustix::time::clock_gettime_dynamic;

/// How far the coarse clock may be behind. It is read up to two ticks of the kernel late,
/// which last at most 10 ms; the rest is for virtual machines that are kept waiting while
/// they should count one (23 ms were seen of ticks that last 4).
pub(super) const LAG: Duration = Duration::from_millis(50);

#[derive(Clone, Copy, Debug)]
pub(super) struct Kernel {
    coarse: ClockId,
}

impl Kernel {
    pub(super) fn new() -> Self {
        // What only behaves like Linux may have no coarse clock, and a plain read of it
        // would panic.
        let coarse = DynamicClockId::Known(ClockId::MonotonicCoarse);
        Self {
            coarse: match clock_gettime_dynamic(coarse) {
                Ok(_) => ClockId::MonotonicCoarse,
                Err(_) => ClockId::Monotonic,
            },
        }
    }

    /// Nanoseconds since an instant that is the same for the whole process.
    #[inline]
    pub(super) fn exact(self) -> u64 {
        nanos(clock_gettime(ClockId::Monotonic))
    }

    /// The same as of a short while ago.
    #[inline]
    pub(super) fn coarse(self) -> u64 {
        nanos(clock_gettime(self.coarse))
    }
}

/// Nothing overflows: the kernel counts from its start.
#[inline]
const fn nanos(time: Timespec) -> u64 {
    (time.tv_sec as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(time.tv_nsec as u64)
}
