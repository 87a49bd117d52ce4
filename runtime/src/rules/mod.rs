//! The law of the breaker, as pure functions.
//!
//! Nothing here reads a clock, locks, logs, counts or awaits: `now` comes in, the
//! next state goes out. A step may run twice, so it changes nothing but the
//! circuit it is given.

#[cfg(feature = "redis")]
mod adopt;
mod change;
mod circuit;
mod closed;
#[cfg(feature = "redis")]
pub(crate) mod fleet;
mod half_open;
mod opening;
mod overlay;
mod ramp;
mod ticket;
mod window;

#[cfg(feature = "redis")]
pub(crate) use adopt::Ruling;
#[cfg(feature = "redis")]
pub(crate) use adopt::adopt;
pub(crate) use change::Change;
pub(crate) use change::Changes;
pub(crate) use change::Scope;
pub(crate) use circuit::Admission;
pub(crate) use circuit::Circuit;
pub(crate) use circuit::Closed;
pub(crate) use circuit::GENERATIONS;
pub(crate) use circuit::Law;
pub(crate) use circuit::Mode;
pub(crate) use circuit::Settled;
pub(crate) use circuit::admit;
pub(crate) use circuit::settle;
pub(crate) use closed::Count;
pub(crate) use closed::count;
pub(crate) use overlay::Command;
pub(crate) use overlay::command;
pub(crate) use overlay::expire;
pub(crate) use overlay::renumber;
pub(crate) use ticket::Outcome;
pub(crate) use ticket::Ticket;
pub(crate) use window::Observed;
pub(crate) use window::Sums;
pub(crate) use window::Time;
