//! Waiting on a thread.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Context;
use std::task::Poll;
use std::task::Wake;
use std::task::Waker;
use std::thread;
use std::thread::Thread;
use std::time::Duration;
use std::time::Instant;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits on this thread for `future`, and no longer than `longest`: nothing then.
///
/// The timer that would wake it may be one that this very thread has to drive, of a test or of
/// a runtime of one thread. So time is also measured by the clock of the system, and `future`
/// is polled again after what `next` says.
pub(crate) fn wait<F: Future + Unpin>(
    future: &mut F,
    longest: Duration,
    next: impl Fn(&F) -> Option<Duration>,
) -> Option<F::Output> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    // What is too long to be told has no end. It is measured from after the first poll, which
    // may be when the wait of `future` begins.
    let mut end: Option<Option<Instant>> = None;
    loop {
        let polled = Instant::now();
        if let Poll::Ready(out) = Pin::new(&mut *future).poll(&mut context) {
            return Some(out);
        }
        let end = *end.get_or_insert_with(|| Instant::now().checked_add(longest));
        if end.is_some_and(|end| end <= polled) {
            return None;
        }
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        match left.into_iter().chain(next(future)).min() {
            Some(left) => thread::park_timeout(left),
            None => thread::park(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future;

    use super::*;

    #[test]
    fn what_is_ready_is_not_waited_for() {
        assert_eq!(
            wait(&mut future::ready(7), Duration::MAX, |_| None),
            Some(7)
        );
    }

    #[test]
    fn a_clock_that_stands_still_keeps_nobody_for_ever() {
        let mut never = future::pending::<()>();
        assert_eq!(wait(&mut never, Duration::from_millis(1), |_| None), None);
    }

    #[test]
    fn whoever_wakes_the_future_wakes_the_thread() {
        let mut woken = false;
        let mut sleep = future::poll_fn(|context| {
            if woken {
                return Poll::Ready(());
            }
            woken = true;
            let waker = context.waker().clone();
            thread::spawn(move || waker.wake());
            Poll::Pending
        });
        assert_eq!(wait(&mut sleep, Duration::MAX, |_| None), Some(()));
    }

    #[test]
    fn what_nobody_wakes_is_polled_again_when_it_says() {
        let mut polls = 0;
        let mut third = future::poll_fn(|_| {
            polls += 1;
            if polls == 3 {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        });
        let soon = |_: &_| Some(Duration::from_millis(1));
        assert_eq!(wait(&mut third, Duration::MAX, soon), Some(()));
    }
}
