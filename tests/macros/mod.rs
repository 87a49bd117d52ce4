//! The attributes: every shape of function they can stand on, every key, and how they stack.

mod bodies;
mod cost;
mod drop_order;
mod fallbacks;
mod futures;
mod hygiene;
mod keyed;
mod keys;
mod returns;
mod sends;
mod signatures;
mod stacks;
mod verdicts;

use std::num::ParseIntError;

use breakerbox::Breaker;
use breakerbox::Calls;
use breakerbox::Rejected;

/// An error that says nothing but that there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct E;

impl From<Rejected> for E {
    fn from(_: Rejected) -> Self {
        Self
    }
}

/// An error with more than one source.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Big {
    #[error(transparent)]
    Rejected(#[from] Rejected),
    #[error(transparent)]
    Parse(#[from] ParseIntError),
    #[error("status {0}")]
    Status(u16),
}

/// The breaker of a service that some function here is annotated with.
fn breaker(service: &str) -> &'static Breaker {
    breakerbox::breaker(service).unwrap_or_else(|| panic!("nothing here guards `{service}`"))
}

fn calls(service: &str) -> Calls {
    breaker(service).snapshot().calls
}
