//! Guarded calls without the attribute.

use std::fmt;
use std::pin::Pin;
use std::task::Context;
use std::task::Poll;
use std::task::ready;

use pin_project_lite::pin_project;

use crate::breaker::Breaker;
use crate::breaker::Permit;
use crate::error::Error;
use crate::rejected::Rejected;
use crate::verdict::Verdict;

/// The future of [`Breaker::acquire`].
#[must_use = "futures do nothing unless polled"]
pub struct Acquire<'b> {
    breaker: &'b Breaker,
    /// Where a store shared by several processes has to be asked for a probe, that
    /// wait is boxed here, so that it never grows the futures of its callers.
    shared_probe: Option<Pin<Box<dyn Future<Output = Result<Permit<'b>, Rejected>> + Send + 'b>>>,
}

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

pin_project! {
    /// The future of [`Breaker::call`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Call<'b, F> {
        breaker: &'b Breaker,
        permit: Option<Permit<'b>>,
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
        let permit = match this.permit {
            Some(permit) => permit,
            None => this.permit.insert(this.breaker.try_acquire()?),
        };
        permit.mark_running();
        let polled = this.body.poll(context);
        if polled.is_pending() {
            permit.mark_waiting();
        }
        let out = ready!(polled);
        if let Some(permit) = this.permit.take() {
            permit.record(verdict(&out));
        }
        Poll::Ready(out.map_err(Error::Inner))
    }
}

impl Breaker {
    /// Asks for leave to make one call. As [`try_acquire`](Self::try_acquire), but
    /// where the circuit is shared by several processes it may wait a moment for a
    /// probe.
    ///
    /// # Errors
    ///
    /// [`Rejected`] while the circuit is open, and in half-open while the probes
    /// are out.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is ready, nothing was acquired.
    pub const fn acquire(&self) -> Acquire<'_> {
        Acquire {
            breaker: self,
            shared_probe: None,
        }
    }

    /// Makes a call: every `Err` is a failure. Leave is asked for when the future is
    /// first polled.
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
    /// Dropped before it is ready, the call counts as cancelled.
    pub const fn call<T, E, F>(&self, body: F) -> Call<'_, F>
    where
        F: Future<Output = Result<T, E>>,
    {
        Call {
            breaker: self,
            permit: None,
            body,
        }
    }

    /// Makes a call on this thread: every `Err` is a failure.
    ///
    /// # Errors
    ///
    /// [`Error::Rejected`] if the call was not made, else its own error.
    pub fn call_blocking<T, E>(&self, body: impl FnOnce() -> Result<T, E>) -> Result<T, Error<E>> {
        let mut permit = self.try_acquire()?;
        let out = super::run(&mut permit, body);
        permit.record(verdict(&out));
        out.map_err(Error::Inner)
    }
}

const fn verdict<T, E>(out: &Result<T, E>) -> Verdict {
    match out {
        Ok(_) => Verdict::Success,
        Err(_) => Verdict::Failure,
    }
}
