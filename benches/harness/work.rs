//! What is measured.

use std::hint::spin_loop;
use std::pin::pin;
use std::task::Context;
use std::task::Poll;
use std::task::Waker;

/// What one contender does in one row.
///
/// It is called through a vtable, once a round: so the loops of two contenders are never
/// merged, and within a loop everything may be inlined that a user's build would inline.
pub(crate) trait Work: Send + Sync {
    /// Makes so many calls, one after another. Tells whether the last was let through and
    /// succeeded: a circuit that opened by itself is no measure of anything.
    fn run(&self, calls: u64) -> bool;

    /// How many calls may be made before [`prepare`](Self::prepare) is needed.
    fn most(&self) -> u64 {
        u64::MAX
    }

    /// Undoes what the calls of the last round left behind. It is not timed.
    fn prepare(&mut self) {}
}

impl<F: Fn(u64) -> bool + Send + Sync> Work for F {
    fn run(&self, calls: u64) -> bool {
        self(calls)
    }
}

/// Polls a future in place until it is ready. Only the wait for an asynchronous lock that
/// another thread holds takes more than one poll. Not inlined, it would have the future of
/// one contender copied and that of another not.
#[inline(always)]
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(out) = future.as_mut().poll(&mut context) {
            return out;
        }
        spin_loop();
    }
}
