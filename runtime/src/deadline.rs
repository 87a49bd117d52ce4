//! When the timeout around the running code strikes.

use std::cell::Cell;
use std::ptr;
use std::time::Duration;

use crate::clock::Tick;
use crate::host::Host;

/// The instant at which a timeout strikes, by the clock of its registry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    pub(crate) host: &'static Host,
    pub(crate) at: Tick,
}

thread_local! {
    /// Of the timeout around what the thread polls now.
    static CURRENT: Cell<Option<Deadline>> = const { Cell::new(None) };
}

/// What is left until the nearest timeout around this code strikes: zero where it has passed,
/// `None` where there is none.
///
/// It is the time to send to the next service with a request. It is known in the body of a
/// function with `#[timeout]` and in all that this awaits; a task that it spawns does not
/// inherit it.
///
/// ```
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(breakerbox::deadline(), None);
/// let left = breakerbox::timeout(Duration::from_secs(8), async { breakerbox::deadline() }).await;
/// assert!(left.unwrap() <= Some(Duration::from_secs(8)));
/// # }
/// ```
#[must_use]
pub fn deadline() -> Option<Duration> {
    Deadline::current().map(Deadline::left)
}

impl Deadline {
    /// That of the nearest timeout around what the thread polls now.
    pub(crate) fn current() -> Option<Self> {
        // Among the last destructors of a thread nothing is polled.
        CURRENT.try_with(Cell::get).ok().flatten()
    }

    pub(crate) fn left(self) -> Duration {
        self.at.since(self.host.clock.now())
    }

    /// The same instant by the clock of `host`.
    fn seen_by(self, host: &Host) -> Tick {
        if ptr::eq(self.host, host) {
            self.at
        } else {
            host.clock.now() + self.left()
        }
    }

    /// The nearer of the two.
    fn or_nearer(self, other: Option<Self>) -> Self {
        match other {
            Some(other) if other.seen_by(self.host) < self.at => other,
            Some(_) | None => self,
        }
    }

    /// Makes this, or a nearer one that there is, the deadline of what the thread polls until
    /// the answer is dropped.
    pub(crate) fn enter(self) -> Entered {
        let before = Self::current();
        // A thread that is ending keeps none.
        let _ = CURRENT.try_with(|current| current.set(Some(self.or_nearer(before))));
        Entered { before }
    }

    /// By the clock of `host`, when the nearest of the timeouts strikes: the one `around` a
    /// call in its own stack, and the one around the function.
    pub(crate) fn nearest(host: &Host, around: Option<Tick>) -> Option<Tick> {
        let current = Self::current().map(|current| current.seen_by(host));
        match (around, current) {
            (Some(around), Some(current)) => Some(around.min(current)),
            (around, current) => around.or(current),
        }
    }
}

/// A deadline is in force while this lives; then the one before is again.
pub(crate) struct Entered {
    before: Option<Deadline>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        let _ = CURRENT.try_with(|current| current.set(self.before));
    }
}
