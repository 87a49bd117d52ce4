//! The law as data: what the breaker does, one line a scenario.
//!
//! A scenario is a policy and a line in the notation of [`notation`]; [`runner`] plays
//! it through every way of making a guarded call that can say what is in it. A new
//! scenario is one more line in one of the tables. The ids in the names are those of
//! the list of what users of breakers rely on: B consecutive failures, E openings, F
//! half-open, G classification, I composition, J concurrency, K what is told.

#![allow(clippy::unwrap_used)]

pub(crate) mod drivers;
pub(crate) mod law;
pub(crate) mod notation;
pub(crate) mod pending;
pub(crate) mod runner;
pub(crate) mod seen;

mod classification;
mod composition;
mod concurrency;
mod consecutive;
mod half_open;
mod last_failure;
mod openings;
// mod random;
mod told;
mod validation;
