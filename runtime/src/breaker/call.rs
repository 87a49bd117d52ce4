//! Guarded calls without the attribute.

use std::fmt;
use std::mem;
use std::panic::UnwindSafe;
use std::pin::Pin;
use std::task::Context;
use std::task::Poll;
use std::task::ready;

use pin_project_lite::pin_project;

use crate::breaker::Breaker;
use crate::breaker::Leave;
use crate::breaker::Permit;
use crate::breaker::guard::Guard;
use crate::breaker::inside;
use crate::error::Error;
use crate::rejected::Rejected;
use crate::rejected::RejectedKind;
use crate::verdict::Verdict;

/// The future of [`Breaker::acquire`]: it resolves at once, unless the circuit is shared with
/// other processes and the call would be rejected, but for a probe that they may allow.
#[must_use = "futures do nothing unless polled"]
pub struct Acquire<'b> {
    guard: Guard<'b>,
}

impl<'b> Future for Acquire<'b> {
    type Output = Result<Permit<'b>, Rejected>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let guard = &mut self.guard;
        ready!(guard.poll_entry(context)).map_or_else(
            || {
                let outside = Guard::outside(guard.breaker());
                let guard = mem::replace(guard, outside);
                Poll::Ready(Ok(Permit { guard }))
            },
            |rejected| Poll::Ready(Err(rejected)),
        )
    }
}

impl fmt::Debug for Acquire<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acquire")
            .field("breaker", self.guard.breaker())
            .finish_non_exhaustive()
    }
}

/// The rare way of a call into a breaker, awaited: the guard is in afterwards, or the
/// rejection is told.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Wait<'g, 'b> {
    guard: &'g mut Guard<'b>,
}

/// As of [`Watch`](super::Watch): the guard is lent by the future that has this one in it.
impl UnwindSafe for Wait<'_, '_> {}

impl<'b> Guard<'b> {
    #[cold]
    pub(crate) const fn wait(&mut self) -> Wait<'_, 'b> {
        Wait { guard: self }
    }
}

impl Guard<'_> {
    /// Goes in, at once or when leave is given that it has to wait for: nothing then, or the
    /// rejection.
    #[inline]
    fn poll_entry(&mut self, context: &Context<'_>) -> Poll<Option<Rejected>> {
        if self.is_outside() {
            let entered = self.breaker().enter();
            if entered.is_in() {
                *self = entered;
                return Poll::Ready(None);
            }
            if let Some(rejected) = self.enter_cold() {
                return Poll::Ready(Some(rejected));
            }
        }
        self.poll_waiting(context)
    }

    #[cold]
    fn poll_waiting(&mut self, context: &Context<'_>) -> Poll<Option<Rejected>> {
        ready!(self.poll_leave(context));
        Poll::Ready(if self.is_in() {
            None
        } else {
            Some(self.rejection())
        })
    }

    /// The same at once. It answers with an `Option`, so that the guard is never moved; where
    /// the guard is not in and nothing is said, it waits for leave.
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
        let breaker = self.breaker();
        let is_inside = |generation| inside::is_inside(breaker, generation);
        let entered = match breaker.leave(true, is_inside) {
            Leave::NotNeeded => breaker.try_acquire(),
            Leave::Riding(seen) | Leave::Given(seen) => {
                Ok(breaker.admitted(seen, breaker.service.host.clock.now()))
            }
            Leave::Asked(waiter) => {
                self.asks(waiter);
                return None;
            }
            Leave::Busy => Err(breaker.refuse(RejectedKind::ProbesBusy)),
        };
        match entered {
            Ok(permit) => {
                *self = permit.guard;
                None
            }
            Err(rejected) => Some(rejected),
        }
    }

    /// The same on this thread, which may wait.
    #[cold]
    pub(crate) fn enter_blocking(&mut self) -> Option<Rejected> {
        if let Some(rejected) = self.enter_cold() {
            return Some(rejected);
        }
        self.block_on_leave();
        if self.is_in() {
            None
        } else {
            Some(self.rejection())
        }
    }

    /// The rejection of a call that was neither admitted nor refused at once: it waited
    /// for a probe in vain, and whoever waits counts it.
    #[inline]
    pub(crate) fn rejection(&self) -> Rejected {
        self.breaker().still_rejected()
    }
}

impl Future for Wait<'_, '_> {
    type Output = Option<Rejected>;

    #[cold]
    #[inline(never)]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.guard.poll_entry(context)
    }
}

pin_project! {
    /// The future of [`Breaker::call`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Call<'b, F> {
        guard: Guard<'b>,
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
        if !this.guard.is_in()
            && let Some(rejected) = ready!(this.guard.poll_entry(context))
        {
            return Poll::Ready(Err(Error::Rejected(rejected)));
        }
        let out = ready!(this.guard.poll(this.body, context));
        this.guard.settle(verdict(&out));
        Poll::Ready(out.map_err(Error::Inner))
    }
}

impl Breaker {
    /// Asks for leave to make one call, as [`try_acquire`](Self::try_acquire) does. It
    /// resolves at once, but where the circuit is shared with other processes: then a call
    /// that would be rejected, since the cooldown is over and the probes are given out by all
    /// together, waits up to `probe_wait` for leave to probe.
    ///
    /// # Errors
    ///
    /// As of [`try_acquire`](Self::try_acquire).
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is ready, nothing was acquired, or it is given back at once.
    pub fn acquire(&self) -> Acquire<'_> {
        Acquire {
            guard: Guard::outside(self),
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
            body,
        }
    }

    /// Makes a call on this thread: every `Err` is a failure.
    ///
    /// # Errors
    ///
    /// [`Error::Rejected`] if the call was not made, else its own error.
    pub fn call_blocking<T, E>(&self, body: impl FnOnce() -> Result<T, E>) -> Result<T, Error<E>> {
        let mut guard = self.enter();
        if !guard.is_in()
            && let Some(rejected) = guard.enter_blocking()
        {
            return Err(Error::Rejected(rejected));
        }
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
