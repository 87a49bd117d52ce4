//! Breakers by name: who shares one, which registry is in force, and what is refused.

mod anywhere;
mod builder;
mod closing;
mod dynamic;
mod neighbour;
mod scope;
mod sharing;
mod unwinding;

use std::io;
use std::pin::pin;
use std::task::Context;
use std::task::Poll;
use std::task::Waker;

use breakerbox::Rejected;

/// What a guarded function of these tests does.
fn body(fails: bool) -> io::Result<()> {
    if fails {
        return Err(io::Error::other("no"));
    }
    Ok(())
}

/// Whether the call was not made.
fn is_rejection(out: &io::Result<()>) -> bool {
    out.as_ref().is_err_and(Rejected::is_cause_of)
}

/// Runs a future that never waits, without any runtime.
#[track_caller]
fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(out) => out,
        Poll::Pending => panic!("it waits"),
    }
}
