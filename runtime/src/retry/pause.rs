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
use crate::retry::counts::Counts;

/// The wait before the next attempt. It runs from when it was made.
///
/// # Cancel safety
///
/// Dropped, it has begun nothing.
#[must_use = "futures do nothing unless polled"]
pub struct Pause<'p> {
    /// Nothing where it has passed.
    sleep: Option<Sleep>,
    /// Where an attempt that follows is one more.
    counts: Option<&'p Counts>,
}

/// What may be seen after a panic is a timer, which is none the worse for it.
impl UnwindSafe for Pause<'_> {}
impl RefUnwindSafe for Pause<'_> {}

impl<'p> Pause<'p> {
    pub(super) fn new(clock: &Clock, duration: Duration) -> Self {
        Self {
            sleep: (!duration.is_zero()).then(|| clock.sleep(duration)),
            counts: None,
        }
    }

    /// Counts the attempt that follows, once the pause is over.
    pub(super) const fn before_attempt(mut self, counts: &'p Counts) -> Self {
        self.counts = Some(counts);
        self
    }
}

impl Future for Pause<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if let Some(sleep) = &mut self.sleep {
            ready!(sleep.as_mut().poll(context));
        }
        self.sleep = None;
        if let Some(counts) = self.counts.take() {
            counts.begin_attempt();
        }
        Poll::Ready(())
    }
}

impl fmt::Debug for Pause<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pause")
            .field("has_passed", &self.sleep.is_none())
            .finish_non_exhaustive()
    }
}
