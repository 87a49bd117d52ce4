//! Waiting for a token.

#[cfg(all(test, feature = "test-util"))]
mod tests;

use std::fmt;
use std::panic::RefUnwindSafe;
use std::panic::UnwindSafe;
use std::pin::Pin;
use std::task::Context;
use std::task::Poll;
use std::task::Waker;
use std::time::Duration;

use crate::blocking;
use crate::clock::Sleep;
use crate::clock::Tick;
use crate::rate_limit::RateLimiter;
use crate::rejected::Rejected;

/// Waits for a token of a [`RateLimiter`], made by [`RateLimiter::acquire`].
///
/// It allocates only where it has to wait. It needs no runtime; in one of tokio it waits by
/// its timer, which has to be enabled there.
///
/// # Cancel safety
///
/// Dropped, it has taken no token, and those behind it move up. Kept without being polled, it
/// keeps its turn for at most a second beyond the end of its wait.
#[must_use = "a future does nothing unless it is awaited"]
pub struct AcquireToken<'l> {
    limiter: &'l RateLimiter,
    until: Option<Tick>,
    queued: Option<Queued<'l>>,
}

/// What may be seen after a panic is a turn in the line, which is none the worse for it.
impl UnwindSafe for AcquireToken<'_> {}
impl RefUnwindSafe for AcquireToken<'_> {}

/// One who stands in the line, and leaves it when this is dropped.
struct Queued<'l> {
    limiter: &'l RateLimiter,
    number: u64,
    /// When its wait is over.
    last: Tick,
    /// What it sleeps for, and until when.
    sleep: Option<(Tick, Sleep)>,
}

/// What the line says to one who asks.
enum Turn {
    Now,
    /// The wait is over, and there is a token only then.
    TooLate(Tick),
    Due(Tick),
}

impl<'l> AcquireToken<'l> {
    pub(super) const fn new(limiter: &'l RateLimiter, until: Option<Tick>) -> Self {
        Self {
            limiter,
            until,
            queued: None,
        }
    }

    /// Waits on this thread. Where that keeps the clock itself from moving, the wait is over by
    /// the clock of the system.
    pub(super) fn wait(mut self) -> Result<(), Rejected> {
        let (limiter, now) = (self.limiter, self.limiter.now());
        let longest = self.last(now).since(now);
        let answer = blocking::wait(&mut self, longest, |call| {
            let (end, _) = call.queued.as_ref()?.sleep.as_ref()?;
            Some(end.since(limiter.now()))
        });
        answer.unwrap_or_else(|| Err(self.give_up()))
    }

    /// The time is over, and there was no token.
    fn give_up(&mut self) -> Rejected {
        let queued = self.queued.take().expect("who waits is in the line");
        let limiter = self.limiter;
        let now = limiter.now();
        let due = limiter.in_line(|line| limiter.due(line.ahead_of(queued.number), now));
        self.refused(due.since(now), queued.last)
    }

    /// When its wait is over if it begins now.
    fn last(&self, now: Tick) -> Tick {
        let give_up = now + self.limiter.policy().get_max_wait();
        self.until.map_or(give_up, |until| until.min(give_up))
    }

    /// Takes a token, or joins the line if its turn comes in time.
    fn enter(&self, waker: &Waker) -> Result<Option<Queued<'l>>, Rejected> {
        let limiter = self.limiter;
        let now = limiter.now();
        if self.is_struck(now) {
            return Err(limiter.deadline());
        }
        if limiter.take_if_nobody_waits() {
            return Ok(None);
        }
        let last = self.last(now);
        let joined = limiter.in_line(|line| {
            line.pass_over(now, None);
            match limiter.ask(line.len(), now) {
                Ok(()) => Ok(None),
                // A token at the end of the wait is in time; one that comes with the timeout
                // is not.
                Err(due) if due > last || self.is_struck(due) => Err(due),
                Err(_) => Ok(Some(line.join(last, waker.clone()))),
            }
        });
        match joined {
            Ok(number) => Ok(number.map(|number| Queued {
                limiter,
                number,
                last,
                sleep: None,
            })),
            Err(due) => Err(self.refused(due.since(now), last)),
        }
    }

    /// Asks for one's token where one stands.
    fn ask(&self, queued: &Queued<'_>, now: Tick, waker: &Waker) -> Turn {
        let limiter = self.limiter;
        let number = queued.number;
        limiter.in_line(|line| {
            line.pass_over(now, Some(number));
            let ahead = line.ahead_of(number);
            if self.is_struck(now) {
                return Turn::TooLate(limiter.due(ahead, now));
            }
            match limiter.ask(ahead, now) {
                Ok(()) => {
                    line.leave(number);
                    Turn::Now
                }
                Err(due) if now >= queued.last => Turn::TooLate(due),
                Err(due) => {
                    line.wake_by(number, waker);
                    Turn::Due(due)
                }
            }
        })
    }

    /// There is a token only after `wait`, and the wait was or would be over at `last`.
    fn refused(&self, wait: Duration, last: Tick) -> Rejected {
        if self.is_struck(last) {
            self.limiter.deadline_before(wait)
        } else {
            self.limiter.refused(wait)
        }
    }

    /// Whether the timeout around the call has struck at `now`.
    fn is_struck(&self, now: Tick) -> bool {
        self.until.is_some_and(|until| now >= until)
    }
}

impl Future for AcquireToken<'_> {
    type Output = Result<(), Rejected>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let mut queued = match this.queued.take() {
            Some(queued) => queued,
            None => match this.enter(context.waker()) {
                Ok(Some(queued)) => queued,
                Ok(None) => return Poll::Ready(Ok(())),
                Err(rejected) => return Poll::Ready(Err(rejected)),
            },
        };
        loop {
            let now = this.limiter.now();
            let due = match this.ask(&queued, now, context.waker()) {
                Turn::Now => return Poll::Ready(Ok(())),
                Turn::TooLate(due) => {
                    return Poll::Ready(Err(this.refused(due.since(now), queued.last)));
                }
                Turn::Due(due) => due,
            };
            if queued.sleep(due, now).as_mut().poll(context).is_pending() {
                this.queued = Some(queued);
                return Poll::Pending;
            }
            queued.sleep = None;
        }
    }
}

impl Queued<'_> {
    /// Sleeps until its token is due, or until its wait is over. It may be woken before, when it
    /// becomes the first: then somebody may have left, and its token is due earlier.
    fn sleep(&mut self, due: Tick, now: Tick) -> &mut Sleep {
        let end = due.min(self.last);
        if self.sleep.as_ref().is_some_and(|(until, _)| *until != end) {
            self.sleep = None;
        }
        let clock = &self.limiter.host.clock;
        let (_, sleep) = self
            .sleep
            .get_or_insert_with(|| (end, clock.sleep(end.since(now))));
        sleep
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.limiter.in_line(|line| line.leave(self.number));
    }
}

impl fmt::Debug for AcquireToken<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcquireToken")
            .field("service", &self.limiter.service())
            .field("is_queued", &self.queued.is_some())
            .finish()
    }
}
