//! The line of those who wait for a token, first come, first served.

use std::collections::VecDeque;
use std::mem;
use std::task::Waker;
use std::time::Duration;

use crate::clock::Tick;

/// Who has not come for so long after the end of its wait is not coming: a future that is kept
/// and never polled again must not hold up the others for ever.
const GRACE: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct Line {
    /// By number.
    waiters: VecDeque<Waiter>,
    next: u64,
    /// What is to be dropped when the line is not locked any more: with a waker its task may
    /// go, which may have a place in this line.
    gone: Vec<Waker>,
}

#[derive(Debug)]
struct Waiter {
    number: u64,
    /// When its wait is over.
    last: Tick,
    waker: Waker,
}

impl Line {
    pub(super) fn len(&self) -> usize {
        self.waiters.len()
    }

    /// Joins at the end. The answer is the number to ask with.
    pub(super) fn join(&mut self, last: Tick, waker: Waker) -> u64 {
        let number = self.next;
        self.next += 1;
        self.waiters.push_back(Waiter {
            number,
            last,
            waker,
        });
        number
    }

    /// How many are before it; all, where it was passed over.
    pub(super) fn ahead_of(&self, number: u64) -> usize {
        self.index_of(number).unwrap_or(self.waiters.len())
    }

    /// Has it woken by `waker` when it becomes the first.
    pub(super) fn wake_by(&mut self, number: u64, waker: &Waker) {
        if let Some(index) = self.index_of(number)
            && let known = &mut self.waiters[index].waker
            && !known.will_wake(waker)
        {
            self.gone.push(mem::replace(known, waker.clone()));
        }
    }

    /// Leaves the line, with a token or without.
    pub(super) fn leave(&mut self, number: u64) {
        let index = self.index_of(number);
        let left = index.and_then(|index| self.waiters.remove(index));
        self.gone.extend(left.map(|waiter| waiter.waker));
    }

    /// Removes from the front who is not coming, up to who asks, where that is in the line.
    pub(super) fn pass_over(&mut self, now: Tick, asking: Option<u64>) {
        while let Some(first) = self.waiters.front()
            && first.last + GRACE < now
            && Some(first.number) != asking
        {
            let passed = self.waiters.pop_front();
            self.gone.extend(passed.map(|waiter| waiter.waker));
        }
    }

    /// The number and the waker of the first.
    pub(super) fn first(&self) -> Option<(u64, &Waker)> {
        let first = self.waiters.front()?;
        Some((first.number, &first.waker))
    }

    pub(super) fn take_gone(&mut self) -> Vec<Waker> {
        mem::take(&mut self.gone)
    }

    fn index_of(&self, number: u64) -> Option<usize> {
        self.waiters
            .binary_search_by_key(&number, |waiter| waiter.number)
            .ok()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::task::Wake;

    use super::*;

    const LAST: Tick = Tick(7);

    struct Task;

    impl Wake for Task {
        fn wake(self: Arc<Self>) {}
    }

    fn first(line: &Line) -> Option<u64> {
        line.first().map(|(number, _)| number)
    }

    #[test]
    fn who_leaves_moves_up_those_behind() {
        let mut line = Line::default();
        let [a, b, c] = [(); 3].map(|()| line.join(LAST, Waker::noop().clone()));
        assert_eq!([a, b, c].map(|it| line.ahead_of(it)), [0, 1, 2]);
        line.leave(b);
        assert_eq!([a, c].map(|it| line.ahead_of(it)), [0, 1]);
        line.leave(a);
        assert_eq!(first(&line), Some(c));
        line.leave(c);
        line.leave(c);
        assert_eq!((line.len(), first(&line)), (0, None));
    }

    #[test]
    fn a_waker_of_the_line_is_dropped_by_who_takes_it_and_not_before() {
        let mut line = Line::default();
        let tasks = [(); 3].map(|()| Arc::new(Task));
        let waker = |index: usize| Waker::from(Arc::clone(&tasks[index]));
        let alive = || tasks.each_ref().map(|task| Arc::strong_count(task) > 1);
        let moved = line.join(LAST, waker(0));
        line.wake_by(moved, &waker(0));
        assert!(line.take_gone().is_empty(), "it is the same");
        line.wake_by(moved, &waker(1));
        line.join(LAST, waker(2));
        line.leave(moved);
        line.pass_over(Tick(u64::MAX), None);
        assert_eq!((line.len(), alive()), (0, [true; 3]));
        assert_eq!(line.take_gone().len(), 3);
        assert_eq!(alive(), [false; 3]);
    }

    #[test]
    fn who_does_not_come_is_passed_over_and_is_behind_everybody() {
        let mut line = Line::default();
        let late = line.join(LAST, Waker::noop().clone());
        let next = line.join(Tick(u64::MAX), Waker::noop().clone());
        line.pass_over(LAST + GRACE, None);
        assert_eq!(line.ahead_of(next), 1);
        let past = LAST + GRACE + Duration::from_nanos(1);
        line.pass_over(past, Some(late));
        assert_eq!(line.ahead_of(late), 0, "it has come");
        line.pass_over(past, Some(next));
        assert_eq!((line.ahead_of(next), line.ahead_of(late)), (0, 1));
    }
}
