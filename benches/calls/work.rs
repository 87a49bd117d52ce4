//! What is called in every row, and the loop around it.

use std::hint::black_box;

use crate::harness::work::Work;
use crate::harness::work::now;

/// Work that makes `call` in a loop and polls its future in place.
pub(crate) fn polled<F, T, E>(call: impl Fn(u64) -> F + Send + Sync + 'static) -> Box<dyn Work>
where
    F: Future<Output = Result<T, E>>,
{
    plain(move |x| now(call(x)))
}

/// Work that makes `call` in a loop, where there is nothing to poll.
pub(crate) fn plain<T, E>(
    call: impl Fn(u64) -> Result<T, E> + Send + Sync + 'static,
) -> Box<dyn Work> {
    Box::new(move |calls: u64| {
        let mut is_ok = false;
        for x in 0..calls {
            is_ok = black_box(call(black_box(x))).is_ok();
        }
        is_ok
    })
}

/// The error of the body.
#[derive(Debug, thiserror::Error)]
#[error("the service failed")]
pub(crate) struct Failed;

/// The body that everybody guards.
pub(crate) async fn succeeds(x: u64) -> Result<u64, Failed> {
    Ok(black_box(x) + 1)
}

/// A body that fails once in a hundred calls.
pub(crate) async fn fails_1pct(x: u64) -> Result<u64, Failed> {
    if x % 100 == 99 {
        return Err(Failed);
    }
    Ok(black_box(x) + 1)
}

/// A body that always fails, to open a circuit with.
pub(crate) async fn fails(_: u64) -> Result<u64, Failed> {
    Err(Failed)
}
