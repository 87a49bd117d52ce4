//! Running the caller's code under a permit.

use std::pin::Pin;
use std::task::Context;
use std::task::Poll;

use pin_project_lite::pin_project;

use crate::breaker::Permit;

pin_project! {
    /// Polls the body of a guarded function and marks the permit meanwhile.
    ///
    /// A hand-written future: an `async fn` around the body would hold it twice.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Watch<'p, 'b, F> {
        permit: &'p mut Permit<'b>,
        #[pin]
        body: F,
    }
}

/// Runs `body` under `permit`.
#[inline]
pub(crate) const fn watch<'p, 'b, F: Future>(
    permit: &'p mut Permit<'b>,
    body: F,
) -> Watch<'p, 'b, F> {
    Watch { permit, body }
}

impl<F: Future> Future for Watch<'_, '_, F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        this.permit.mark_running();
        let polled = this.body.poll(context);
        // Ready leaves the mark: what comes next is the judgement of the outcome,
        // which cannot be cancelled and may panic.
        if polled.is_pending() {
            this.permit.mark_waiting();
        }
        polled
    }
}

/// Runs the body of a function that is not async. The mark stays, as above.
#[inline]
pub(crate) fn run<T>(permit: &mut Permit<'_>, body: impl FnOnce() -> T) -> T {
    permit.mark_running();
    body()
}
