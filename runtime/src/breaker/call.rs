//! Guarded calls without the attribute.

use std::fmt;
use std::panic::RefUnwindSafe;
use std::panic::UnwindSafe;
use std::pin::Pin;
use std::task::Context;
use std::task::Poll;
use std::task::ready;

use pin_project_lite::pin_project;

use crate::breaker::Breaker;
use crate::breaker::Permit;
use crate::breaker::guard::Guard;
use crate::error::Error;
use crate::rejected::Rejected;
use crate::verdict::Verdict;

/// The future of [`Breaker::acquire`]: it resolves at once while the state is in memory.
#[must_use = "futures do nothing unless polled"]
pub struct Acquire<'b> {
    breaker: &'b Breaker,
    /// Where the state is not in memory, the wait for a probe is boxed here, so that it
    /// never grows the futures of its callers. A panic may pass it, as it may pass them.
    shared_probe: Option<SharedProbe<'b>>,
}

type SharedProbe<'b> = Pin<
    Box<dyn Future<Output = Result<Permit<'b>, Rejected>> + Send + UnwindSafe + RefUnwindSafe + 'b>,
>;

impl<'b> Future for Acquire<'b> {
    type Output = Result<Permit<'b>, Rejected>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.shared_probe {
            Some(wait) => wait.as_mut().poll(context),
            None => Poll::Ready(self.breaker.try_acquire()),
        }
    }
}

impl fmt::Debug for Acquire<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acquire")
            .field("breaker", self.breaker)
            .finish_non_exhaustive()
    }
}

/// The rare way of a call into a breaker, awaited: the guard is in afterwards, or the
/// rejection is told.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Wait<'g, 'b> {
    guard: &'g mut Guard<'b>,
    acquire: Acquire<'b>,
}

/// As of [`Watch`](super::Watch): the guard is lent by the future that has this one in it.
impl UnwindSafe for Wait<'_, '_> {}

impl<'b> Guard<'b> {
    #[cold]
    pub(crate) fn wait(&mut self) -> Wait<'_, 'b> {
        let acquire = self.breaker().acquire();
        Wait {
            guard: self,
            acquire,
        }
    }
}

impl Guard<'_> {
    /// The same at once. It answers with an `Option`, so that the guard is never moved.
    #[inline]
    pub(crate) fn enter_cold(&mut self) -> Option<Rejected> {
        // The usual one first, which is handed on without being copied more than once.
        match self.breaker().refuse_at_once() {
            None => self.enter_colder(),
            rejected => rejected,
        }
    }

    #[cold]
    #[inline(never)]
    fn enter_colder(&mut self) -> Option<Rejected> {
        match self.breaker().try_acquire() {
            Ok(permit) => {
                *self = permit.guard;
                None
            }
            Err(rejected) => Some(rejected),
        }
    }

    /// The rejection of a call that was neither admitted nor refused at once: it waited
    /// for a probe in vain, and whoever waits counts it.
    #[inline]
    pub(crate) fn rejection(&self) -> Rejected {
        self.breaker().probes_busy()
    }
}

impl Future for Wait<'_, '_> {
    type Output = Option<Rejected>;

    #[cold]
    #[inline(never)]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(match ready!(Pin::new(&mut self.acquire).poll(context)) {
            Ok(permit) => {
                *self.guard = permit.guard;
                None
            }
            Err(rejected) => Some(rejected),
        })
    }
}

pin_project! {
    /// The future of [`Breaker::call`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Call<'b, F> {
        guard: Guard<'b>,
        acquire: Acquire<'b>,
        #[pin]
        body: F,
    }
}

impl<T, E, F> Future for Call<'_, F>
where
    F: Future<Output = Result<T, E>>,
{
    type Output = Result<T, Error<E>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if !this.guard.is_in() {
            let acquired = ready!(Pin::new(this.acquire).poll(context));
            *this.guard = acquired?.guard;
        }
        let out = ready!(this.guard.poll(this.body, context));
        this.guard.settle(verdict(&out));
        Poll::Ready(out.map_err(Error::Inner))
    }
}

impl Breaker {
    /// Asks for leave to make one call, as [`try_acquire`](Self::try_acquire) does. It
    /// resolves at once while the state is in memory.
    ///
    /// # Errors
    ///
    /// As of [`try_acquire`](Self::try_acquire).
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is ready, nothing was acquired.
    pub fn acquire(&self) -> Acquire<'_> {
        Acquire {
            breaker: self,
            shared_probe: None,
        }
    }

    /// Makes a call: every `Err` is a failure. Leave is asked for when the future is
    /// first polled; one that never was made no call, and counts nothing.
    ///
    /// ```
    /// # async fn example(stripe: &breakerbox::Breaker) {
    /// # async fn charge() -> Result<(), std::io::Error> { Ok(()) }
    /// match stripe.call(charge()).await {
    ///     Ok(()) => println!("charged"),
    ///     Err(breakerbox::Error::Rejected(rejected)) => println!("not tried: {rejected}"),
    ///     Err(error) => println!("tried: {error}"),
    /// }
    /// # }
    /// ```
    ///
    /// # Cancel safety
    ///
    /// Dropped after the first poll and before it is ready, the call counts as cancelled.
    pub fn call<T, E, F>(&self, body: F) -> Call<'_, F>
    where
        F: Future<Output = Result<T, E>>,
    {
        Call {
            guard: Guard::outside(self),
            acquire: self.acquire(),
            body,
        }
    }

    /// Makes a call on this thread: every `Err` is a failure.
    ///
    /// # Errors
    ///
    /// [`Error::Rejected`] if the call was not made, else its own error.
    pub fn call_blocking<T, E>(&self, body: impl FnOnce() -> Result<T, E>) -> Result<T, Error<E>> {
        let Permit { mut guard } = self.try_acquire()?;
        let out = guard.run(body);
        guard.settle(verdict(&out));
        out.map_err(Error::Inner)
    }
}

const fn verdict<T, E>(out: &Result<T, E>) -> Verdict {
    match out {
        Ok(_) => Verdict::Success,
        Err(_) => Verdict::Failure,
    }
}
