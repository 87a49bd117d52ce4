//! Timeouts: one for an attempt, one for all of a call, or both.

use std::fmt;
use std::panic::RefUnwindSafe;
use std::panic::UnwindSafe;
use std::pin::Pin;
use std::task::Context;
use std::task::Poll;
use std::time::Duration;

use pin_project_lite::pin_project;

use crate::clock::Sleep;
use crate::clock::Tick;
use crate::deadline::Deadline;
use crate::policies::Policies;
use crate::timed_out::TimedOut;

/// One timeout that runs, and those around it in the same stack.
pub struct Bound {
    policies: &'static Policies,
    limit: Duration,
    /// When this one strikes.
    at: Tick,
    /// When the first of them strikes.
    nearest: Tick,
}

impl Bound {
    pub(crate) fn new(policies: &'static Policies, limit: Duration, outer: Option<&Self>) -> Self {
        let at = policies.host().clock.now() + limit;
        let nearest = outer.map_or(at, |outer| outer.nearest.min(at));
        Self {
            policies,
            limit,
            at,
            nearest,
        }
    }

    /// When the first of this and those around it strikes.
    pub(crate) const fn nearest(&self) -> Tick {
        self.nearest
    }

    /// Whether this one has struck.
    pub(crate) fn is_over(&self) -> bool {
        self.policies.host().clock.now() >= self.at
    }

    /// Whether one of those around what would begin now has struck.
    pub(crate) fn is_struck(&self) -> bool {
        let host = self.policies.host();
        Deadline::nearest(host, Some(self.nearest)).is_some_and(|at| host.clock.now() >= at)
    }

    /// The answer where this one has struck, which is counted.
    #[cold]
    pub(crate) fn strike(&self) -> TimedOut {
        self.policies.count_timeout();
        TimedOut::new(self.policies.service(), self.limit)
    }

    fn deadline(&self) -> Deadline {
        Deadline {
            host: self.policies.host(),
            at: self.nearest,
        }
    }

    /// Polls the body, and where that has to wait, the timer.
    #[inline]
    fn poll<F: Future>(
        &self,
        body: Pin<&mut F>,
        sleep: &mut Option<Sleep>,
        context: &mut Context<'_>,
    ) -> Poll<Option<F::Output>> {
        {
            let _entered = self.deadline().enter();
            if let Poll::Ready(out) = body.poll(context) {
                return Poll::Ready(Some(out));
            }
        }
        let sleep = sleep.get_or_insert_with(|| self.sleep());
        sleep.as_mut().poll(context).map(|()| None)
    }

    #[cold]
    fn sleep(&self) -> Sleep {
        let clock = &self.policies.host().clock;
        clock.sleep(self.nearest.since(clock.now()))
    }
}

impl fmt::Debug for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bound")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

pin_project! {
    /// Polls a body until a timeout strikes; nothing if one does first.
    ///
    /// The body comes first: one that is ready in time is never given up. A timer is only set
    /// for a body that has to wait.
    #[must_use = "futures do nothing unless polled"]
    pub struct Within<'b, F> {
        bound: &'b Bound,
        sleep: Option<Sleep>,
        #[pin]
        body: F,
    }
}

/// What may be seen after a panic is the body and a timer, so it all depends on the body.
impl<F: UnwindSafe> UnwindSafe for Within<'_, F> {}
impl<F: RefUnwindSafe> RefUnwindSafe for Within<'_, F> {}

impl<'b, F: Future> Within<'b, F> {
    #[inline]
    pub(crate) const fn new(bound: &'b Bound, body: F) -> Self {
        Self {
            bound,
            sleep: None,
            body,
        }
    }
}

impl<F: Future> Future for Within<'_, F> {
    type Output = Option<F::Output>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        this.bound.poll(this.body, this.sleep, context)
    }
}

impl<F> fmt::Debug for Within<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Within")
            .field("bound", &self.bound)
            .finish_non_exhaustive()
    }
}

pin_project! {
    /// The future of [`timeout`](crate::timeout) and of [`Policies::timeout`].
    #[must_use = "futures do nothing unless polled"]
    pub struct Timeout<F> {
        policies: &'static Policies,
        limit: Duration,
        // From the first poll on.
        bound: Option<Bound>,
        sleep: Option<Sleep>,
        #[pin]
        body: F,
    }
}

impl Policies {
    /// Gives `body` up where it has not ended `limit` after it was first polled.
    ///
    /// What it awaits knows how much is left: [`deadline`](crate::deadline). Struck timeouts
    /// are counted for the service as `breakerbox_timeouts_total`.
    ///
    /// A body that blocks its thread cannot be interrupted; it is given up once it returns to
    /// wait for something. A body that has ended in time is never given up.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the body.
    pub fn timeout<F: Future>(&'static self, limit: Duration, body: F) -> Timeout<F> {
        Timeout {
            policies: self,
            limit,
            bound: None,
            sleep: None,
            body,
        }
    }
}

/// As of [`Within`].
impl<F: UnwindSafe> UnwindSafe for Timeout<F> {}
impl<F: RefUnwindSafe> RefUnwindSafe for Timeout<F> {}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, TimedOut>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let (policies, limit) = (*this.policies, *this.limit);
        let bound = this
            .bound
            .get_or_insert_with(|| Bound::new(policies, limit, None));
        let polled = bound.poll(this.body, this.sleep, context);
        polled.map(|out| out.ok_or_else(|| bound.strike()))
    }
}

impl<F> fmt::Debug for Timeout<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeout")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
