//! The law as data: what the breaker does, one line a scenario.
//!
//! A scenario is a policy and a line in the notation of [`notation`]; [`runner`] plays
//! it through every way of making a guarded call that can say what is in it, and beside
//! each through [`law`], the law written once more, which has to show the same. A new
//! scenario is one more line in one of the tables. The ids in the names are those of
//! the list of what users of breakers rely on: A count windows, B consecutive failures, C
//! time windows, D slow calls, E openings, F half-open, G classification, H by hand, I
//! composition, J concurrency, K what is told.

#![allow(clippy::unwrap_used)]

pub(crate) mod drivers;
pub(crate) mod law;
pub(crate) mod notation;
pub(crate) mod runner;
pub(crate) mod seen;

mod by_hand;
mod classification;
mod composition;
mod concurrency;
mod consecutive;
mod count_window;
mod half_open;
mod last_failure;
mod live;
mod openings;
mod ramps;
mod random;
mod slow_calls;
mod time_window;
mod told;
mod validation;
