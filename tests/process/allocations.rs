//! What a guarded call allocates: nothing, whether it is made or rejected.
//!
//! A process of its own, because the allocator counts for all threads.

use std::alloc::System;
use std::io;
use std::pin::pin;
use std::task::Context;
use std::task::Poll;
use std::task::Waker;

use breakerbox::Registry;
use breakerbox::Rejected;
use breakerbox::circuit_breaker;
use stats_alloc::INSTRUMENTED_SYSTEM;
use stats_alloc::Region;
use stats_alloc::StatsAlloc;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[derive(Debug)]
enum Failed {
    NotSent,
    Sent,
}

impl From<Rejected> for Failed {
    fn from(_: Rejected) -> Self {
        Self::NotSent
    }
}

#[circuit_breaker(service = "allocations", threshold = 1, cooldown = "1h")]
async fn call(fails: bool) -> Result<(), Failed> {
    if fails { Err(Failed::Sent) } else { Ok(()) }
}

fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(out) => out,
        Poll::Pending => panic!("the body never waits"),
    }
}

fn allocated(calls: impl Fn()) -> usize {
    let region = Region::new(ALLOCATOR);
    for _ in 0..1_000 {
        calls();
    }
    region.change().allocations
}

#[test]
fn a_guarded_call_allocates_nothing() -> io::Result<()> {
    let registry = Registry::builder().build().map_err(io::Error::other)?;
    let _entered = registry.enter();
    // The breaker and this thread's cell are made by the first call.
    now(call(false)).map_err(|_| io::Error::other("closed"))?;
    let breaker = registry
        .breaker("allocations")
        .ok_or_else(|| io::Error::other("declared"))?;

    assert_eq!(allocated(|| assert!(now(call(false)).is_ok())), 0);
    let by_permit = || match breaker.try_acquire() {
        Ok(permit) => permit.success(),
        Err(rejected) => panic!("{rejected}"),
    };
    assert_eq!(allocated(by_permit), 0);

    assert!(matches!(now(call(true)), Err(Failed::Sent)));
    let rejected = || assert!(matches!(now(call(false)), Err(Failed::NotSent)));
    assert_eq!(allocated(rejected), 0);
    assert_eq!(allocated(|| assert!(breaker.try_acquire().is_err())), 0);
    assert_eq!(breaker.snapshot().calls.rejected, 2_000);
    Ok(())
}
