//! Time that passes when a test says so.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::AcqRel;
use std::sync::atomic::Ordering::Acquire;
use std::task::Context;
use std::task::Poll;
use std::task::Waker;
use std::time::Duration;

use crate::clock::Clock;
use crate::clock::Sleep;
use crate::clock::Tick;
use crate::clock::nanos;

/// Time that passes when a test says so, and not by itself.
///
/// It needs no runtime. It begins at zero; its clones, on whatever threads, show the same
/// time, and so do all registries that were given its [`clock`](Self::clock).
///
/// ```
/// use std::time::Duration;
///
/// use breakerbox::ManualClock;
/// use breakerbox::Policy;
/// use breakerbox::Registry;
/// use breakerbox::State;
///
/// let clock = ManualClock::new();
/// let policy = Policy::new().threshold(1).cooldown(Duration::from_secs(60));
/// let registry = Registry::builder()
///     .clock(clock.clock())
///     .declare_with("stripe", policy)
///     .build()?;
/// let stripe = registry.breaker("stripe").expect("declared above");
///
/// stripe.try_acquire()?.failure();
/// let rejected = stripe.try_acquire().unwrap_err();
/// assert_eq!(rejected.retry_after(), Some(Duration::from_secs(60)));
///
/// clock.advance(Duration::from_secs(60));
/// stripe.try_acquire()?.success();
/// assert_eq!(stripe.state(), State::Closed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Guarded functions follow it inside of [`with_registry`](crate::with_registry) or
/// [`Registry::enter`](crate::Registry::enter).
#[derive(Clone, Debug, Default)]
pub struct ManualClock {
    nanos: Arc<AtomicU64>,
    sleepers: Arc<Mutex<Vec<(Tick, Waker)>>>,
}

/// Sleeps until a test has let enough time pass.
struct Sleeper {
    clock: ManualClock,
    until: Tick,
}

impl Future for Sleeper {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut sleepers = self.clock.sleepers();
        if self.clock.now() >= self.until {
            return Poll::Ready(());
        }
        let waker = context.waker();
        let is_known = |known: &(Tick, Waker)| known.0 == self.until && known.1.will_wake(waker);
        if !sleepers.iter().any(is_known) {
            sleepers.push((self.until, waker.clone()));
        }
        Poll::Pending
    }
}

impl ManualClock {
    /// Time that stands at zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets time pass, to the nanosecond. It stops at the end of time, 584 years after zero.
    pub fn advance(&self, duration: Duration) {
        let step = |now: u64| Some(now.saturating_add(nanos(duration)));
        // The step is never refused.
        let _ = self.nanos.fetch_update(AcqRel, Acquire, step);
        let now = self.now();
        let due: Vec<_> = self.sleepers().extract_if(.., |it| it.0 <= now).collect();
        for (_, waker) in due {
            waker.wake();
        }
    }

    /// The clock that shows this time, for
    /// [`RegistryBuilder::clock`](crate::RegistryBuilder::clock).
    #[must_use]
    pub fn clock(&self) -> Clock {
        Clock::manual(self.clone())
    }

    pub(super) fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(Sleeper {
            clock: self.clone(),
            until: self.now() + duration,
        })
    }

    fn sleepers(&self) -> MutexGuard<'_, Vec<(Tick, Waker)>> {
        self.sleepers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether anybody sleeps by this time.
    #[cfg(all(test, feature = "retry"))]
    pub(crate) fn has_sleepers(&self) -> bool {
        !self.sleepers().is_empty()
    }

    pub(super) fn now(&self) -> Tick {
        Tick(self.nanos.load(Acquire))
    }
}
