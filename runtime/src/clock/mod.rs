//! Time as the rules see it: whole nanoseconds since a registry began.
//!
//! A clock is read in two ways. [`now`](Clock::now) is exact. [`coarse`](Clock::coarse)
//! is of the same scale, a few milliseconds behind, and costs a fifth of it.

mod sleep;
mod system;
mod tick;

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;
#[cfg(any(target_os = "linux", target_os = "android"))]
use linux as kernel;

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod elsewhere;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
use elsewhere as kernel;

#[cfg(feature = "test-util")]
mod choice;
#[cfg(feature = "test-util")]
mod followed;
#[cfg(feature = "test-util")]
mod manual;

#[cfg(feature = "test-util")]
pub use choice::Clock;
#[cfg(feature = "test-util")]
pub use manual::ManualClock;

// Without `test-util` there is one kind of clock, so that the hot path has nothing to
// choose.
#[cfg(not(feature = "test-util"))]
pub(crate) use system::System as Clock;

pub(crate) use sleep::Sleep;
pub(crate) use tick::Tick;
pub(crate) use tick::nanos;
