//! Which registry is in force: an entered one on this thread, else the global one.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Context;
use std::task::Poll;

use pin_project_lite::pin_project;

use crate::registry::Registry;

/// How many threads have entered a registry now. Call sites look for one only while
/// this is not zero, which in production it always is.
static ENTERED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static CURRENT: RefCell<Option<Registry>> = const { RefCell::new(None) };
}

/// Whether any thread has entered a registry. A thread that has sees its own entry,
/// which is all that matters to it.
#[inline]
pub(super) fn any() -> bool {
    ENTERED.load(Relaxed) != 0
}

pub(super) fn current() -> Option<Registry> {
    if !any() {
        return None;
    }
    CURRENT
        .try_with(|current| current.borrow().clone())
        .unwrap_or_default()
}

/// A registry in force on this thread, until this is dropped.
#[must_use = "the registry is in force only while this lives"]
pub struct Entered {
    /// What was in force before; nothing at all on a thread that is ending, which can
    /// enter no more.
    before: Option<Option<Registry>>,
    /// It belongs to the thread that entered.
    not_send: PhantomData<*const ()>,
}

impl Registry {
    /// Puts this registry in force on this thread, until the guard is dropped: for
    /// tests of functions that are not async. Guards are dropped in the reverse
    /// order of entering.
    ///
    /// ```
    /// let registry = breakerbox::Registry::builder().declare("ledger").build().unwrap();
    /// let entered = registry.enter();
    /// assert!(breakerbox::breaker("ledger").is_some());
    /// drop(entered);
    /// assert!(breakerbox::breaker("ledger").is_none());
    /// ```
    pub fn enter(&self) -> Entered {
        let before = CURRENT
            .try_with(|current| current.replace(Some(self.clone())))
            .inspect(|_| {
                ENTERED.fetch_add(1, Relaxed);
            })
            .ok();
        Entered {
            before,
            not_send: PhantomData,
        }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let Some(before) = self.before.take() else {
            return;
        };
        // The thread may be ending, and its entry gone with it.
        let left = CURRENT.try_with(|current| current.replace(before));
        ENTERED.fetch_sub(1, Relaxed);
        drop(left);
    }
}

impl fmt::Debug for Entered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entered").finish_non_exhaustive()
    }
}

pin_project! {
    /// The future of [`with_registry`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct WithRegistry<F> {
        registry: Registry,
        // Gone once this is dropped.
        #[pin]
        future: Option<F>,
    }

    impl<F> PinnedDrop for WithRegistry<F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            // What the future drops has the same registry in force.
            let _entered = this.registry.enter();
            this.future.set(None);
        }
    }
}

/// Runs `future` with a registry of its own, so that tests do not see each other.
///
/// A task spawned inside does not inherit it: spawn
/// `with_registry(registry.clone(), future)` there as well.
///
/// ```
/// use breakerbox::{circuit_breaker, with_registry, Registry};
///
/// #[circuit_breaker(service = "parcels", threshold = 1)]
/// async fn track() -> std::io::Result<()> {
///     Err(std::io::Error::other("no"))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let registry = Registry::builder().build().unwrap();
/// with_registry(registry.clone(), async {
///     let _ = track().await;
///     assert_eq!(registry.breaker("parcels").unwrap().state(), breakerbox::State::Open);
/// })
/// .await;
/// assert_eq!(breakerbox::breaker("parcels").unwrap().state(), breakerbox::State::Closed);
/// # }
/// ```
pub fn with_registry<F: Future>(registry: Registry, future: F) -> WithRegistry<F> {
    WithRegistry {
        registry,
        future: Some(future),
    }
}

impl<F: Future> Future for WithRegistry<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _entered = this.registry.enter();
        match this.future.as_pin_mut() {
            Some(future) => future.poll(context),
            None => Poll::Pending,
        }
    }
}
