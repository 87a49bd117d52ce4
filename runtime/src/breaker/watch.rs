//! Running the caller's code under a guard.

use std::panic::UnwindSafe;
use std::pin::Pin;
use std::task::Context;
use std::task::Poll;
use std::task::ready;

use pin_project_lite::pin_project;

use crate::breaker::guard::Guard;
use crate::breaker::inside::Inside;
use crate::word::Phase;

pin_project! {
    /// Polls the body of a guarded function and marks the guard meanwhile.
    ///
    /// A hand-written future: an `async fn` around the body would hold it twice.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Watch<'g, 'b, F> {
        guard: &'g mut Guard<'b>,
        #[pin]
        body: F,
    }
}

/// What may be seen after a panic is the body and the guard. The guard is lent by the
/// future that has both in it and goes with it; it is never half changed, and knows whether
/// the body ran, so that its drop reports the panic. So it all depends on the body.
impl<F: UnwindSafe> UnwindSafe for Watch<'_, '_, F> {}

pin_project! {
    /// Polls the body once its guard is in; ready with nothing if it does not get in.
    ///
    /// Waiting here and not before the body takes the arguments keeps the future
    /// small: what lives across an await is stored.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct WaitAndWatch<'g, 'b, F> {
        #[pin]
        watch: Watch<'g, 'b, F>,
    }
}

impl<'b> Guard<'b> {
    #[inline]
    pub(crate) const fn wait_and_watch<F: Future>(&mut self, body: F) -> WaitAndWatch<'_, 'b, F> {
        WaitAndWatch {
            watch: self.watch(body),
        }
    }

    /// Runs `body` under this guard.
    #[inline]
    pub(crate) const fn watch<F: Future>(&mut self, body: F) -> Watch<'_, 'b, F> {
        Watch { guard: self, body }
    }

    /// Runs the body of a function that is not async. The mark stays, as below.
    #[inline]
    pub(crate) fn run<T>(&mut self, body: impl FnOnce() -> T) -> T {
        let _inside = self.inside();
        self.mark_running();
        body()
    }

    /// Makes the body that is watched later.
    #[inline]
    pub(crate) fn make<T>(&mut self, make: impl FnOnce() -> T) -> T {
        let body = self.run(make);
        self.mark_waiting();
        body
    }

    /// One poll of a body under this guard.
    #[inline]
    pub(super) fn poll<F: Future>(
        &mut self,
        body: Pin<&mut F>,
        context: &mut Context<'_>,
    ) -> Poll<F::Output> {
        let _inside = self.inside();
        self.mark_running();
        let polled = body.poll(context);
        // Ready leaves the mark: what comes next is the judgement of the outcome,
        // which cannot be cancelled and may panic.
        if polled.is_pending() {
            self.mark_waiting();
        }
        polled
    }
}

impl Guard<'_> {
    /// While the body of a probe runs, the thread remembers that it is inside.
    #[inline]
    fn inside(&self) -> Option<Inside> {
        match self.seen().phase() {
            Phase::HalfOpen | Phase::Leased => {
                Inside::enter(self.breaker(), self.seen().generation())
            }
            _ => None,
        }
    }
}

impl<F: Future> Future for Watch<'_, '_, F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        this.guard.poll(this.body, context)
    }
}

impl<F: Future> Future for WaitAndWatch<'_, '_, F> {
    type Output = Option<F::Output>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let watch = self.project().watch;
        let watch = watch.project();
        if !watch.guard.is_in() {
            ready!(watch.guard.poll_leave(context));
            if !watch.guard.is_in() {
                return Poll::Ready(None);
            }
        }
        // In one place only, so that it is compiled into this one.
        watch.guard.poll(watch.body, context).map(Some)
    }
}
