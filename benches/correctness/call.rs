//! One call through a breaker, polled by hand.

use std::panic;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::Context;
use std::task::Poll;
use std::task::Waker;

use crate::body::Body;
use crate::body::End;

/// A breaker of whatever crate: it makes a call of a body.
pub(crate) type Breaker = Box<dyn Fn(Body) -> Guarded>;

/// The future of a call. What comes out of it does not matter: a call that waits was
/// admitted, and one that is ready before its body has ended was rejected.
pub(crate) type Guarded = Pin<Box<dyn Future<Output = ()>>>;

/// A call that was admitted and is in flight. Dropped, it is a call that was dropped.
pub(crate) struct InFlight {
    body: Body,
    call: Guarded,
}

impl InFlight {
    /// Makes a call, if the breaker admits it.
    pub(crate) fn start(breaker: &Breaker) -> Option<Self> {
        let body = Body::default();
        let mut call = breaker(body.clone());
        match poll(&mut call) {
            Poll::Pending => Some(Self { body, call }),
            Poll::Ready(()) => None,
        }
    }

    pub(crate) fn end(mut self, end: End) {
        self.body.ends(end);
        // The panic of a body ends here.
        let _ = panic::catch_unwind(AssertUnwindSafe(|| poll(&mut self.call)));
    }
}

/// Makes as many of so many calls as the breaker admits, and leaves them in flight.
pub(crate) fn start(breaker: &Breaker, calls: usize) -> Vec<InFlight> {
    (0..calls)
        .filter_map(|_| InFlight::start(breaker))
        .collect()
}

/// Makes a call that ends at once; whether it was admitted.
pub(crate) fn call(breaker: &Breaker, end: End) -> bool {
    InFlight::start(breaker).map(|call| call.end(end)).is_some()
}

fn poll(call: &mut Guarded) -> Poll<()> {
    call.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}
