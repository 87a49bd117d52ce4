//! Calls that are made again.
//!
//! [`Retrying`] is one call, driven by [`Retry`] or by an expansion. [`Retries`] is what the
//! calls to one service share.

mod budget;
mod call;
#[cfg_attr(
    not(feature = "metrics"),
    allow(dead_code, reason = "counted, and read by metrics alone")
)]
mod counts;
mod delays;
mod pause;
mod repeats;
mod retries;
mod retrying;

pub use call::Retry;
pub use call::RetryCall;
pub use pause::Pause;
pub use repeats::Idempotent;
pub use repeats::Repeats;
pub use repeats::RetryOn;
pub use repeats::Undecided;
pub use retrying::Refusal;
pub use retrying::Retrying;

pub(crate) use retries::Retries;
