//! Calls that are made again.
//!
//! [`Retrying`] is one call, driven by whoever makes the attempts. [`Retries`] is what the
//! calls to one service share.

mod blocking;
mod budget;
mod counts;
mod delays;
mod pause;
mod retries;
mod retrying;

pub use pause::Pause;
pub use retrying::Refusal;
pub use retrying::Retrying;

pub(crate) use counts::Counts;
pub(crate) use retries::Retries;
