//! The calls of this process that probe by leave of all, and those that wait for leave.

use std::collections::VecDeque;
use std::task::Context;
use std::task::Poll;
use std::task::Waker;
use std::time::Duration;
use std::time::Instant;

use crate::rules::Outcome;
use crate::rules::fleet::Command;
use crate::verdict::Verdict;

/// A lease is good for so long, and is renewed three times in it.
pub(crate) const LEASE: Duration = Duration::from_secs(2);

/// How long leave is kept that nobody waits for. Longer each time that nobody came for it, since
/// whoever wanted it may come seldom; but others might probe meanwhile.
const KEPT: Duration = Duration::from_secs(1);
const KEPT_AT_MOST: Duration = Duration::from_secs(64);

/// How soon leave is asked for again that was not given, and how late at most.
const SOONEST: Duration = Duration::from_millis(50);
const LATEST: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(crate) struct Probes {
    /// By the place that a guard remembers.
    places: Vec<Option<Place>>,
    waiting: VecDeque<Waiter>,
    next_id: u64,
    /// Leave that was given to nobody in particular.
    kept: Option<(u32, Instant)>,
    /// Since when there is such leave, though it was given anew meanwhile.
    kept_since: Option<Instant>,
    /// How long it was kept in vain last.
    vain: Duration,
    /// Somebody would take it who does not wait.
    is_wanted: bool,
    /// Before, nobody asks.
    ask_after: Option<Instant>,
    pause: Duration,
    outbox: Vec<(u64, Command)>,
    /// Whom to wake when nothing is locked.
    woken: Vec<Waker>,
}

/// The place of one probe.
#[derive(Clone, Copy, Debug)]
struct Place {
    token: u64,
    epoch: u64,
    /// The generation that the circuit had when leave was given.
    generation: u64,
    renew_at: Instant,
    /// The store does not know it any more.
    is_lost: bool,
}

struct Waiter {
    id: u64,
    /// None where that is longer than can be told.
    until: Option<Instant>,
    /// What it is told then.
    too_late: Answer,
    waker: Option<Waker>,
    answer: Option<Answer>,
}

/// What a call is told that waited for leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It may probe: its place, and the generation of the circuit.
    Leave(u32, u64),
    /// It may not.
    Over,
    /// It may not, since its deadline has passed.
    TooLate,
    /// The circuit has moved: it asks the circuit.
    Again,
}

impl Probes {
    /// A call wants leave and waits so long, or as long as its deadline lets it. Nothing where
    /// nobody would be asked so soon.
    pub(crate) fn ask(
        &mut self,
        wait: Duration,
        deadline: Option<Duration>,
        now: Instant,
    ) -> Option<u64> {
        if self.ask_after.is_some_and(|after| now < after) {
            return None;
        }
        self.next_id += 1;
        self.waiting.push_back(Waiter {
            id: self.next_id,
            until: now.checked_add(deadline.map_or(wait, |left| left.min(wait))),
            too_late: match deadline {
                Some(left) if left <= wait => Answer::TooLate,
                Some(_) | None => Answer::Over,
            },
            waker: None,
            answer: None,
        });
        Some(self.next_id)
    }

    /// A call wants leave, does not wait, and may come again.
    pub(crate) fn want(&mut self) {
        self.is_wanted = true;
    }

    /// The leave that is kept, for a call of this generation.
    pub(crate) fn take_kept(&mut self, generation: u64) -> Option<u32> {
        let (place, _) = self.kept.take()?;
        self.kept_since = None;
        let known = self.places.get(place as usize).copied().flatten()?;
        if known.generation != generation || known.is_lost {
            // It is of a round that is over.
            self.end(place, RELEASED);
            return None;
        }
        self.vain = Duration::ZERO;
        Some(place)
    }

    pub(crate) fn poll(&mut self, id: u64, context: &Context<'_>) -> Poll<Answer> {
        let Some(at) = self.find(id) else {
            return Poll::Ready(Answer::Over);
        };
        let waiter = &mut self.waiting[at];
        match waiter.answer {
            Some(answer) => {
                self.waiting.remove(at);
                Poll::Ready(answer)
            }
            None => {
                match &mut waiter.waker {
                    Some(waker) => waker.clone_from(context.waker()),
                    none => *none = Some(context.waker().clone()),
                }
                Poll::Pending
            }
        }
    }

    /// They wait in the order of their numbers, and may be a crowd.
    fn find(&self, id: u64) -> Option<usize> {
        self.waiting
            .binary_search_by_key(&id, |waiter| waiter.id)
            .ok()
    }

    /// Whoever waited is gone. Says whether there is leave to give back.
    pub(crate) fn forget(&mut self, id: u64) -> bool {
        let Some(at) = self.find(id) else {
            return false;
        };
        match self.waiting.remove(at).and_then(|waiter| waiter.answer) {
            Some(Answer::Leave(place, _)) => self.end(place, RELEASED),
            _ => false,
        }
    }

    /// The probe at `place` has ended. Says whether that means anything.
    pub(crate) fn end(&mut self, place: u32, outcome: Outcome) -> bool {
        let place = self.places.get_mut(place as usize);
        let Some(place) = place.and_then(Option::take) else {
            return false;
        };
        if place.is_lost {
            return false;
        }
        let token = Some(place.token);
        self.outbox
            .push((place.epoch, Command::End { token, outcome }));
        true
    }

    /// Nobody probes at `place`.
    pub(crate) fn give_back(&mut self, place: u32) {
        self.end(place, RELEASED);
    }

    /// A call that a probe has made itself has failed, in this epoch.
    pub(crate) fn end_riding(&mut self, epoch: u64, outcome: Outcome) {
        let token = None;
        self.outbox.push((epoch, Command::End { token, outcome }));
    }

    /// Whether somebody wants leave, and may ask.
    pub(crate) fn want_leave(&self, now: Instant) -> bool {
        let is_asked = self.waiting.iter().any(|waiter| waiter.answer.is_none())
            || self.is_wanted && self.kept.is_none();
        is_asked && self.ask_after.is_none_or(|after| now >= after)
    }

    /// Whether there is anything to do for whoever talks to the store.
    pub(crate) fn is_busy(&self, now: Instant) -> bool {
        !self.outbox.is_empty() || self.want_leave(now)
    }

    /// Leave was given.
    pub(crate) fn granted(&mut self, token: u64, epoch: u64, generation: u64, now: Instant) {
        let place = Place {
            token,
            epoch,
            generation,
            renew_at: now + LEASE / 3,
            is_lost: false,
        };
        let at = match self.places.iter().position(Option::is_none) {
            Some(free) => {
                self.places[free] = Some(place);
                free
            }
            None => {
                self.places.push(Some(place));
                self.places.len() - 1
            }
        };
        // There are far fewer probes than that.
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        self.pause = Duration::ZERO;
        let first = self.waiting.iter_mut().find(|it| it.answer.is_none());
        match first {
            Some(waiter) => self
                .woken
                .extend(waiter.tell(Answer::Leave(at, generation))),
            None if self.is_wanted => {
                self.is_wanted = false;
                self.kept = Some((at, now));
                self.kept_since.get_or_insert(now);
            }
            // Whoever wanted it is gone.
            None => {
                self.end(at, RELEASED);
            }
        }
    }

    /// Leave was not given, and it is not asked for again at once.
    pub(crate) fn refused(&mut self, now: Instant) {
        self.pause = (self.pause * 2).clamp(SOONEST, LATEST);
        self.ask_after = Some(now + self.pause);
        self.is_wanted = false;
        self.kept_since = None;
        self.tell_all(Answer::Over);
    }

    /// Another round of probes has begun: whoever waits goes on, and nobody has to wait before
    /// it asks.
    pub(crate) fn another_round(&mut self) {
        self.ask_after = None;
        self.pause = Duration::ZERO;
    }

    /// The circuit has moved otherwise: whoever waits looks at it.
    pub(crate) fn moved(&mut self) {
        self.another_round();
        self.is_wanted = false;
        self.kept_since = self.kept.map(|(_, since)| since);
        self.tell_all(Answer::Again);
    }

    /// Nobody of this process probes any more.
    pub(crate) fn release_all(&mut self) {
        for place in 0..self.places.len() {
            self.end(u32::try_from(place).unwrap_or(u32::MAX), RELEASED);
        }
        self.kept = None;
        self.kept_since = None;
    }

    /// The store is gone, or this circuit in it.
    pub(crate) fn lose_all(&mut self) {
        for place in self.places.iter_mut().flatten() {
            place.is_lost = true;
        }
        if let Some((kept, _)) = self.kept.take() {
            self.end(kept, RELEASED);
        }
        self.outbox.clear();
        self.moved();
    }

    /// The store does not know this lease any more.
    pub(crate) fn lost(&mut self, token: u64) {
        for place in self.places.iter_mut().flatten() {
            place.is_lost |= place.token == token;
        }
    }

    /// Tells those who have waited long enough. Says when the next ones have.
    ///
    /// Leave may be on its way to them that takes longer than they may wait, as it would each
    /// time: so it is for whoever comes next.
    pub(crate) fn wait_no_longer(&mut self, now: Instant) -> Option<Instant> {
        let mut next = None;
        for waiter in self.waiting.iter_mut().filter(|it| it.answer.is_none()) {
            let Some(until) = waiter.until else { continue };
            if until <= now {
                let too_late = waiter.too_late;
                self.woken.extend(waiter.tell(too_late));
                self.is_wanted = true;
            } else {
                next = Some(next.map_or(until, |next| until.min(next)));
            }
        }
        next
    }

    /// Tells those who have waited long enough, and gives back what nobody came for. Says when
    /// it has to be looked at again.
    ///
    /// After `timeout` it would count as a probe that hangs. So it is given back before, and asked
    /// for anew where it is to be kept longer.
    pub(crate) fn pass_time(&mut self, now: Instant, timeout: Duration) -> Option<Instant> {
        let waiting = self.wait_no_longer(now);
        let until = self.keeps_until(timeout);
        let is_over = until.is_some_and(|until| now >= until);
        if is_over && let Some((kept, _)) = self.kept.take() {
            let is_told = self.end(kept, RELEASED);
            let is_in_vain = self
                .kept_since
                .is_none_or(|since| now >= since + self.keeps());
            if is_in_vain {
                self.vain = self.keeps();
            }
            if is_in_vain || !is_told {
                self.kept_since = None;
            } else {
                self.is_wanted = true;
            }
        }
        let kept = if is_over { Some(now) } else { until };
        let places = self.places.iter().flatten().filter(|it| !it.is_lost);
        waiting
            .into_iter()
            .chain(kept)
            .chain(places.map(|place| place.renew_at))
            .min()
    }

    /// Until when the leave is kept that there is.
    fn keeps_until(&self, timeout: Duration) -> Option<Instant> {
        let (_, given) = self.kept?;
        let since = self.kept_since.unwrap_or(given);
        let anew = given + (timeout / 2).clamp(SOONEST, KEPT_AT_MOST);
        Some(anew.min(since + self.keeps()))
    }

    /// How long leave is kept now.
    fn keeps(&self) -> Duration {
        (self.vain * 2).clamp(KEPT, KEPT_AT_MOST)
    }

    /// The leases that are to be renewed now, with their epochs.
    pub(crate) fn renewals(&mut self, now: Instant) -> Vec<(u64, u64)> {
        let mut due = Vec::new();
        for place in self.places.iter_mut().flatten() {
            if !place.is_lost && place.renew_at <= now {
                place.renew_at = now + LEASE / 3;
                due.push((place.epoch, place.token));
            }
        }
        due
    }

    pub(super) fn take_woken(&mut self) -> Vec<Waker> {
        std::mem::take(&mut self.woken)
    }

    /// What has ended, with the epoch that it is about.
    pub(crate) fn take_outbox(&mut self) -> Vec<(u64, Command)> {
        std::mem::take(&mut self.outbox)
    }

    fn tell_all(&mut self, answer: Answer) {
        for waiter in self.waiting.iter_mut().filter(|it| it.answer.is_none()) {
            self.woken.extend(waiter.tell(answer));
        }
    }
}

impl Waiter {
    fn tell(&mut self, answer: Answer) -> Option<Waker> {
        self.answer = Some(answer);
        self.waker.take()
    }
}

/// What gives a place back and says nothing.
const RELEASED: Outcome = Outcome {
    verdict: Verdict::Ignore,
    is_slow: false,
};

#[cfg(test)]
mod tests;
