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
mod tests {
    use super::*;

    const WAIT: Duration = Duration::from_millis(50);
    const HOUR: Duration = Duration::from_secs(3_600);

    fn poll(probes: &mut Probes, id: u64) -> Poll<Answer> {
        probes.poll(id, &Context::from_waker(Waker::noop()))
    }

    fn ends(probes: &mut Probes) -> Vec<Option<u64>> {
        let outbox = probes.take_outbox();
        let token = |command| match command {
            Command::End { token, .. } => token,
            other => panic!("nothing else is told: {other:?}"),
        };
        outbox
            .into_iter()
            .map(|(_, command)| token(command))
            .collect()
    }

    #[test]
    fn whoever_came_first_gets_the_first_leave() {
        let (mut probes, now) = (Probes::default(), Instant::now());
        let first = probes.ask(WAIT, None, now).expect("it may ask");
        let second = probes.ask(WAIT, None, now).expect("it may ask");
        assert!(probes.want_leave(now));
        probes.granted(7, 1, 3, now);
        assert_eq!(poll(&mut probes, first), Poll::Ready(Answer::Leave(0, 3)));
        assert_eq!(poll(&mut probes, second), Poll::Pending);
        assert!(probes.end(0, RELEASED));
        assert_eq!(ends(&mut probes), [Some(7)]);
        assert!(!probes.end(0, RELEASED), "it is given back once");
    }

    /// L25
    #[test]
    fn leave_that_comes_when_its_caller_is_gone_is_given_back_at_once() {
        let (mut probes, now) = (Probes::default(), Instant::now());
        let id = probes.ask(WAIT, None, now).expect("it may ask");
        probes.forget(id);
        probes.granted(7, 1, 3, now);
        assert_eq!(ends(&mut probes), [Some(7)]);
        // Also where it had come, and the caller has not seen it.
        let id = probes.ask(WAIT, None, now).expect("it may ask");
        probes.granted(8, 1, 3, now);
        assert!(probes.forget(id));
        assert_eq!(ends(&mut probes), [Some(8)]);
    }

    #[test]
    fn whoever_has_waited_long_enough_is_told_so() {
        let (mut probes, now) = (Probes::default(), Instant::now());
        let id = probes.ask(WAIT, None, now).expect("it may ask");
        assert_eq!(probes.pass_time(now, HOUR), Some(now + WAIT));
        assert_eq!(poll(&mut probes, id), Poll::Pending);
        assert_eq!(probes.pass_time(now + WAIT, HOUR), None);
        assert_eq!(poll(&mut probes, id), Poll::Ready(Answer::Over));
    }

    #[test]
    fn whoever_has_a_deadline_waits_no_longer_and_knows_why() {
        let (mut probes, now) = (Probes::default(), Instant::now());
        let soon = probes.ask(WAIT, Some(WAIT / 2), now).expect("it may ask");
        let late = probes.ask(WAIT, Some(WAIT * 2), now).expect("it may ask");
        assert_eq!(probes.pass_time(now + WAIT / 2, HOUR), Some(now + WAIT));
        assert_eq!(poll(&mut probes, soon), Poll::Ready(Answer::TooLate));
        probes.pass_time(now + WAIT, HOUR);
        assert_eq!(poll(&mut probes, late), Poll::Ready(Answer::Over));
    }

    #[test]
    fn whoever_would_wait_for_ever_may() {
        let (mut probes, now) = (Probes::default(), Instant::now());
        let id = probes.ask(Duration::MAX, None, now).expect("it may ask");
        probes.pass_time(now + LEASE, HOUR);
        assert_eq!(poll(&mut probes, id), Poll::Pending);
    }

    #[test]
    fn nobody_asks_again_at_once_where_leave_was_not_given() {
        let (mut probes, now) = (Probes::default(), Instant::now());
        let mut pauses = Vec::new();
        let mut then = now;
        for _ in 0..7 {
            assert!(probes.ask(WAIT, None, then).is_some());
            probes.refused(then);
            let soon = (1..=1_000).find(|ms| {
                let later = then + Duration::from_millis(*ms);
                probes.ask_after.is_none_or(|after| later >= after)
            });
            let pause = Duration::from_millis(soon.expect("a second at most"));
            pauses.push(pause.as_millis());
            assert!(probes.ask(WAIT, None, then).is_none());
            then += pause;
        }
        assert_eq!(pauses, [50, 100, 200, 400, 800, 1000, 1000]);
        probes.moved();
        assert!(probes.ask(WAIT, None, then).is_some());
    }

    #[test]
    fn leave_for_those_who_do_not_wait_is_kept_for_a_moment() {
        let (mut probes, now) = (Probes::default(), Instant::now());
        assert_eq!(probes.take_kept(3), None);
        assert!(!probes.want_leave(now));
        probes.want();
        assert!(probes.want_leave(now));
        probes.granted(7, 1, 3, now);
        assert!(!probes.want_leave(now));
        assert_eq!(probes.take_kept(3), Some(0));
        // Nobody comes for the next one.
        probes.want();
        probes.granted(8, 1, 3, now);
        probes.pass_time(now + KEPT, HOUR);
        assert_eq!(ends(&mut probes), [Some(8)]);
        // Whoever comes seldom finds it one day.
        probes.want();
        probes.granted(9, 1, 3, now);
        probes.pass_time(now + KEPT, HOUR);
        assert_eq!(ends(&mut probes), []);
        assert_eq!(probes.take_kept(3), Some(1));
    }

    #[test]
    fn leave_of_another_generation_is_given_back_and_not_renewed() {
        let (mut probes, now) = (Probes::default(), Instant::now());
        probes.want();
        probes.granted(7, 1, 3, now);
        assert_eq!(probes.take_kept(4), None);
        assert_eq!(ends(&mut probes), [Some(7)]);
        assert_eq!(probes.renewals(now + LEASE), []);
    }

    #[test]
    fn a_probe_renews_its_lease_three_times_before_it_runs_out() {
        let (mut probes, now) = (Probes::default(), Instant::now());
        let id = probes.ask(WAIT, None, now).expect("it may ask");
        probes.granted(7, 1, 3, now);
        assert!(poll(&mut probes, id).is_ready());
        assert_eq!(probes.renewals(now), []);
        assert_eq!(probes.renewals(now + LEASE / 3), [(1, 7)]);
        assert_eq!(probes.renewals(now + LEASE / 3), []);
        probes.lost(7);
        assert_eq!(probes.renewals(now + LEASE), []);
        assert!(
            !probes.end(0, RELEASED),
            "what it says means nothing any more"
        );
        assert_eq!(ends(&mut probes), []);
    }

    #[test]
    fn whoever_waits_looks_for_itself_when_the_store_is_lost() {
        let (mut probes, now) = (Probes::default(), Instant::now());
        let id = probes.ask(WAIT, None, now).expect("it may ask");
        probes.lose_all();
        assert_eq!(poll(&mut probes, id), Poll::Ready(Answer::Again));
    }

    /// Its place stayed taken, and was renewed for as long as the store knew it.
    #[test]
    fn leave_of_a_round_that_is_over_is_given_back_by_whoever_finds_it() {
        let (mut probes, now) = (Probes::default(), Instant::now());
        probes.take_kept(3);
        probes.granted(7, 1, 3, now);
        assert_eq!(probes.take_kept(4), None);
        assert_eq!(ends(&mut probes), [Some(7)]);
        assert_eq!(probes.renewals(now + LEASE), []);
    }

    /// Where the way to the store and back took longer than a call may wait, each call was
    /// rejected and gave back the leave that came after it: the circuit never closed.
    #[test]
    fn leave_that_takes_longer_than_a_call_may_wait_is_for_the_next_one() {
        let (mut probes, now) = (Probes::default(), Instant::now());
        let id = probes.ask(WAIT, None, now).expect("it may ask");
        probes.wait_no_longer(now + WAIT);
        assert_eq!(poll(&mut probes, id), Poll::Ready(Answer::Over));
        probes.granted(7, 1, 3, now + WAIT);
        assert_eq!(probes.take_kept(3), Some(0));
        assert_eq!(ends(&mut probes), []);
    }

    /// Two of them counted as probes that hang, and opened the circuit of a service that was well.
    #[test]
    fn leave_that_is_kept_is_given_anew_before_it_counts_as_a_probe_that_hangs() {
        let (mut probes, mut now) = (Probes::default(), Instant::now());
        probes.vain = KEPT_AT_MOST;
        let (since, timeout) = (now, LEASE);
        probes.want();
        let mut token = 0;
        while probes.want_leave(now) {
            token += 1;
            probes.granted(token, 1, 3, now);
            now += timeout / 2;
            probes.pass_time(now, timeout);
            assert_eq!(ends(&mut probes), [Some(token)]);
        }
        assert_eq!(now, since + KEPT_AT_MOST);
    }
}
