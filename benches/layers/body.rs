//! What is called in every row, and the loop around it.

use std::future::poll_fn;
use std::hint::black_box;
use std::task::Poll;

use crate::harness::work::Work;
use crate::harness::work::now;
use crate::numbers::FALLBACK;

/// The error of the body.
#[derive(Debug, thiserror::Error)]
#[error("the service failed")]
pub(crate) struct Failed;

/// The body of all rows but two.
pub(crate) async fn succeeds(x: u64) -> Result<u64, Failed> {
    Ok(black_box(x) + 1)
}

/// A request that owns something, as most do.
#[derive(Clone)]
pub(crate) struct Order {
    pub(crate) x: u64,
    pub(crate) lines: Box<[u8]>,
}

impl Order {
    pub(crate) fn new(x: u64) -> Self {
        Self {
            x,
            lines: Box::from([7; 64]),
        }
    }
}

/// The body that is sent an order.
pub(crate) async fn ordered(order: Order) -> Result<u64, Failed> {
    black_box(&order.lines);
    Ok(black_box(order.x) + 1)
}

/// A body that is ready at its second poll.
pub(crate) async fn yields(x: u64) -> Result<u64, Failed> {
    once_pending().await;
    Ok(black_box(x) + 1)
}

/// A body that always fails, to open a circuit with.
pub(crate) async fn fails(_: u64) -> Result<u64, Failed> {
    Err(Failed)
}

/// Ready at its second poll.
pub(crate) fn once_pending() -> impl Future<Output = ()> {
    let mut is_ready = false;
    poll_fn(move |context| {
        if is_ready {
            return Poll::Ready(());
        }
        is_ready = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
}

/// What a call of `x` answers in a row.
pub(crate) type Answer = fn(u64) -> u64;

/// Of a body that ran.
pub(crate) const SUCCEEDS: Answer = |x| x + 1;

/// Of the fallback, where the circuit is open.
pub(crate) const FALLS_BACK: Answer = |_| FALLBACK;

/// Makes so many calls, and tells whether the last one answers what it should.
#[inline(always)]
pub(crate) fn repeated<E>(
    calls: u64,
    answer: Answer,
    mut call: impl FnMut(u64) -> Result<u64, E>,
) -> bool {
    let mut last = None;
    for x in 0..calls {
        last = black_box(call(black_box(x))).ok();
    }
    last == calls.checked_sub(1).map(answer)
}

/// Work that makes `call` in a loop and polls its future in place.
pub(crate) fn polled<F, E>(
    answer: Answer,
    call: impl Fn(u64) -> F + Send + Sync + 'static,
) -> Box<dyn Work>
where
    F: Future<Output = Result<u64, E>>,
{
    Box::new(move |calls: u64| repeated(calls, answer, |x| now(call(x))))
}

/// The work of a circuit that opens when its first call fails. It is made through the one
/// loop: called from a second place, the call would not be inlined there.
pub(crate) fn opened(work: Box<dyn Work>) -> Box<dyn Work> {
    assert!(!work.run(1), "the first call fails and opens the circuit");
    work
}
