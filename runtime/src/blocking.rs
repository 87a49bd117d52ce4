//! Waiting on a thread.

use std::pin::pin;
use std::sync::Arc;
use std::task::Context;
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

/// Waits on this thread until `sleep` is over, which was made for `duration`. So it follows
/// the clock of a test; but that may be moved by this very thread, so it also ends when
/// `duration` has passed by the clock of the system.
pub(super) fn wait(sleep: impl Future<Output = ()>, duration: Duration) {
    // What is too long to be told ends by `sleep` alone.
    let end = Instant::now().checked_add(duration);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut sleep = pin!(sleep);
    while sleep.as_mut().poll(&mut context).is_pending() {
        match end.map(|end| end.saturating_duration_since(Instant::now())) {
            None => thread::park(),
            Some(Duration::ZERO) => return,
            Some(left) => thread::park_timeout(left),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future;

    use super::*;

    #[test]
    fn a_sleep_that_is_over_is_not_waited_for() {
        wait(future::ready(()), Duration::MAX);
    }

    #[test]
    fn a_clock_that_stands_still_keeps_nobody_for_ever() {
        wait(future::pending(), Duration::from_millis(1));
    }

    #[test]
    fn whoever_wakes_the_sleep_wakes_the_thread() {
        let mut woken = false;
        let sleep = future::poll_fn(|context| {
            if woken {
                return std::task::Poll::Ready(());
            }
            woken = true;
            let waker = context.waker().clone();
            thread::spawn(move || waker.wake());
            std::task::Poll::Pending
        });
        wait(sleep, Duration::MAX);
    }
}
