//! The law of the breaker, as pure functions.
//!
//! Nothing here reads a clock, locks, logs, counts or awaits: `now` comes in, the
//! next state goes out. A step may run twice, so it changes nothing but the
//! circuit it is given.

mod breaker;
mod closed;
mod half_open;
mod opening;
mod ticket;

pub(crate) use breaker::Admission;
pub(crate) use breaker::Change;
pub(crate) use breaker::Circuit;
pub(crate) use breaker::GENERATIONS;
pub(crate) use breaker::Mode;
pub(crate) use breaker::Settled;
pub(crate) use breaker::admit;
pub(crate) use breaker::settle;
pub(crate) use closed::Count;
pub(crate) use closed::count;
pub(crate) use opening::Opening;
pub(crate) use ticket::Ticket;
