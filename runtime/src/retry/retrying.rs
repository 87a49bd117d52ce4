//! One call that may be made again.

use std::ops::ControlFlow;
use std::time::Duration;

use crate::blocking;
use crate::clock::Tick;
use crate::deadline::Deadline;
use crate::policy::RetryPolicy;
use crate::rejected::Rejected;
use crate::rejected::RejectedKind;
use crate::retry::counts::Counts;
use crate::retry::counts::Ending;
use crate::retry::delays::Delays;
use crate::retry::pause::Pause;
use crate::retry::retries::Retries;
use crate::verdict::Verdict;

/// One call that may be made again, from the beginning of its first attempt.
///
/// Whoever makes the attempts tells how each of them ended: `next` where its body ran,
/// `refused` where a policy inside turned it down; and when the pause after it is over:
/// `too_late`, `waited`, since whoever wakes a task or a thread may be late. Once a body ran,
/// the answer is always the output of a body.
///
/// It is small, and the usual call, which is made once, allocates nothing and reads no clock
/// but for `max_elapsed` and `budget`.
#[derive(Debug)]
pub struct Retrying<'p, Out> {
    retries: &'p Retries,
    policy: &'p RetryPolicy,
    /// No attempt begins at this instant or after it, or after the deadline around.
    until: Tick,
    later: Option<Box<Later<'p, Out>>>,
}

/// What becomes of an attempt that was turned down.
#[derive(Debug)]
pub enum Refusal<Out> {
    /// This is the answer: the output of the last body that ran.
    Last(Out),
    /// Wait so long, and try again.
    Wait(Pause),
    /// It was waited for: try again.
    Again,
    /// No body ran: hand the rejection on.
    Rejected(Rejected),
}

/// What only matters once the first attempt did not bring the answer.
#[derive(Debug)]
struct Later<'p, Out> {
    story: Story<'p>,
    delays: Delays,
    /// So many further attempts were allowed.
    retries: u32,
    /// By whom the circuit was waited for: once in a call.
    waited: Option<Rejected>,
    /// The output of the last body that ran.
    last: Option<Out>,
}

/// From when another attempt is allowed until the answer is there. Dropped in between, it
/// counts a call that was cancelled.
#[derive(Debug)]
struct Story<'p> {
    counts: &'p Counts,
    is_open: bool,
}

impl Story<'_> {
    fn end(&mut self, ending: Ending) {
        if self.is_open {
            self.is_open = false;
            self.counts.end(ending);
        }
    }
}

impl Drop for Story<'_> {
    fn drop(&mut self) {
        self.end(Ending::Cancelled);
    }
}

impl<'p, Out> Retrying<'p, Out> {
    /// A call begins. `until` is when the nearest timeout in its own stack strikes; that of one
    /// around the function is only looked for where there is something to wait for.
    #[inline]
    pub(crate) fn new(retries: &'p Retries, policy: &'p RetryPolicy, until: Option<Tick>) -> Self {
        retries.begin_call(policy);
        // Without a limit the end of time is one.
        let mut end = until.unwrap_or(Tick(u64::MAX));
        if let Some(max_elapsed) = policy.get_max_elapsed() {
            end = end.min(retries.in_a_while(max_elapsed));
        }
        Self {
            retries,
            policy,
            until: end,
            later: None,
        }
    }

    /// Whether this is the first attempt, and nothing was waited for before it. Where the caller
    /// does not want to try again then, there is nothing to tell.
    #[inline]
    pub(crate) const fn is_first(&self) -> bool {
        self.later.is_none()
    }

    /// A body has run and brought `out`, after which the caller wants to try `again` or not;
    /// the verdict about it may name a time. Breaks with the answer, or continues with the pause
    /// before the next attempt.
    pub(crate) fn next(
        &mut self,
        out: Out,
        again: bool,
        verdict: Verdict,
    ) -> ControlFlow<Out, Pause> {
        let delay = self.delay(out, again, verdict)?;
        ControlFlow::Continue(Pause::new(&self.retries.host.clock, delay))
    }

    /// The same, with the pause on this thread.
    pub(crate) fn next_blocking(
        &mut self,
        out: Out,
        again: bool,
        verdict: Verdict,
    ) -> ControlFlow<Out> {
        let delay = self.delay(out, again, verdict)?;
        self.sleep(delay);
        match self.too_late() {
            Some(out) => ControlFlow::Break(out),
            None => ControlFlow::Continue(()),
        }
    }

    /// A policy inside turned an attempt down, so that nothing of that one was sent.
    pub(crate) fn refused(&mut self, rejected: Rejected) -> Refusal<Out> {
        match self.time_to_wait(&rejected) {
            Some(left) => Refusal::Wait(Pause::new(&self.retries.host.clock, left)),
            None => self.give_up(rejected),
        }
    }

    /// The same, with the wait on this thread.
    pub(crate) fn refused_blocking(&mut self, rejected: Rejected) -> Refusal<Out> {
        let Some(left) = self.time_to_wait(&rejected) else {
            return self.give_up(rejected);
        };
        self.sleep(left);
        self.waited()
    }

    /// On this thread, by the clock of the registry or of the system, whichever is first.
    fn sleep(&self, duration: Duration) {
        let mut pause = Pause::new(&self.retries.host.clock, duration);
        let _ = blocking::wait(&mut pause, duration, |_| None);
    }

    /// The pause after `next` is over, and one more attempt begins; or the answer, where it is
    /// too late for that by now.
    pub(crate) fn too_late(&mut self) -> Option<Out> {
        if self.has_time() {
            self.retries.counts.begin_attempt();
            return None;
        }
        self.last_in_time()
    }

    /// The wait after `refused` is over: the attempt begins again, or there is an answer, where
    /// it is too late for that by now.
    pub(crate) fn waited(&mut self) -> Refusal<Out> {
        if self.has_time() {
            return Refusal::Again;
        }
        if let Some(out) = self.last_in_time() {
            return Refusal::Last(out);
        }
        // It was turned down, and nothing has become of it since.
        let rejected = self.later.as_ref().and_then(|later| later.waited);
        rejected.map_or(Refusal::Again, Refusal::Rejected)
    }

    fn has_time(&self) -> bool {
        self.retries.host.clock.now() < self.end()
    }

    /// The output of the last body that ran, where no other has time to.
    fn last_in_time(&mut self) -> Option<Out> {
        let later = self.later.as_mut()?;
        let out = later.last.take()?;
        later.story.end(Ending::OutOfTime);
        Some(out)
    }

    fn delay(&mut self, out: Out, again: bool, verdict: Verdict) -> ControlFlow<Out, Duration> {
        if !again {
            if let Some(later) = &mut self.later {
                later.story.end(Ending::Succeeded);
            }
            return ControlFlow::Break(out);
        }
        let decided = self.decide(verdict);
        let later = self.later();
        later.story.is_open = true;
        match decided {
            Ok(delay) => {
                later.last = Some(out);
                ControlFlow::Continue(delay)
            }
            Err(ending) => {
                later.story.end(ending);
                ControlFlow::Break(out)
            }
        }
    }

    /// How long to wait before the next attempt, which has then been allowed; or why there is
    /// none.
    #[cold]
    fn decide(&mut self, verdict: Verdict) -> Result<Duration, Ending> {
        let (retries, policy, until) = (self.retries, self.policy, self.end());
        let later = self.later();
        if later.retries.saturating_add(1) >= policy.get_attempts() {
            return Err(Ending::Exhausted);
        }
        // Where nobody asked to be left alone, or until an instant that has passed, it is zero.
        let asked = match verdict {
            Verdict::RetryAfter(duration) => duration,
            Verdict::OpenFor(duration) if policy.get_wait_for_circuit() => duration,
            // The circuit would turn it down.
            Verdict::OpenFor(_) => return Err(Ending::Refused),
            Verdict::Success | Verdict::Failure | Verdict::Ignore => Duration::ZERO,
        };
        let drawn = retries.draw(&mut later.delays);
        let delay = drawn.max(asked);
        let now = retries.host.clock.now();
        if now + drawn >= until {
            return Err(Ending::OutOfTime);
        }
        if now + delay >= until {
            return Err(Ending::ToldToWait);
        }
        if !retries.afford(policy) {
            return Err(Ending::OverBudget);
        }
        later.retries += 1;
        Ok(delay)
    }

    /// How long to wait for the circuit, where that is wanted and of use: once in a call.
    #[cold]
    fn time_to_wait(&mut self, rejected: &Rejected) -> Option<Duration> {
        if !self.policy.get_wait_for_circuit() || rejected.kind() != RejectedKind::Open {
            return None;
        }
        let left = rejected.retry_after()?;
        let is_in_time = self.retries.host.clock.now() + left < self.end();
        let later = self.later();
        if later.waited.is_some() || !is_in_time {
            return None;
        }
        later.waited = Some(*rejected);
        Some(left)
    }

    /// No attempt begins at this instant or after it.
    fn end(&self) -> Tick {
        Deadline::nearest(&self.retries.host, Some(self.until)).unwrap_or(self.until)
    }

    #[cold]
    fn give_up(&mut self, rejected: Rejected) -> Refusal<Out> {
        let Some(later) = &mut self.later else {
            return Refusal::Rejected(rejected);
        };
        let Some(out) = later.last.take() else {
            return Refusal::Rejected(rejected);
        };
        later.story.end(Ending::Refused);
        Refusal::Last(out)
    }

    fn later(&mut self) -> &mut Later<'p, Out> {
        self.later.get_or_insert_with(|| {
            Box::new(Later {
                story: Story {
                    counts: &self.retries.counts,
                    is_open: false,
                },
                delays: Delays::new(self.policy),
                retries: 0,
                waited: None,
                last: None,
            })
        })
    }
}

#[cfg(all(test, feature = "test-util"))]
mod tests;
