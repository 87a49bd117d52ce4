//! The wait before the next attempt.

use std::fmt;
use std::panic::RefUnwindSafe;
use std::panic::UnwindSafe;
use std::pin::Pin;
use std::task::Context;
use std::task::Poll;
use std::task::ready;
use std::time::Duration;

use crate::clock::Clock;
use crate::clock::Sleep;

/// The wait before the next attempt. It runs from when it was made.
///
/// # Cancel safety
///
/// Dropped, it has begun nothing.
#[must_use = "futures do nothing unless polled"]
pub struct Pause {
    /// Nothing where it has passed.
    sleep: Option<Sleep>,
}

/// What may be seen after a panic is a timer, which is none the worse for it.
impl UnwindSafe for Pause {}
impl RefUnwindSafe for Pause {}

impl Pause {
    pub(super) fn new(clock: &Clock, duration: Duration) -> Self {
        Self {
            sleep: (!duration.is_zero()).then(|| clock.sleep(duration)),
        }
    }
}

impl Future for Pause {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if let Some(sleep) = &mut self.sleep {
            ready!(sleep.as_mut().poll(context));
        }
        self.sleep = None;
        Poll::Ready(())
    }
}

impl fmt::Debug for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pause")
            .field("has_passed", &self.sleep.is_none())
            .finish_non_exhaustive()
    }
}
