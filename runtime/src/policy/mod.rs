//! What was asked for: plain data, built in `const`, judged once.

mod breaker;
mod bulkhead;
mod check;
mod key;
mod limit_error;
#[cfg(feature = "rate-limit")]
mod rate;
#[cfg(feature = "retry")]
mod retry;
#[cfg(feature = "redis")]
mod text;

pub use breaker::OnCancel;
pub use breaker::Policy;
pub use breaker::Window;
pub use bulkhead::BulkheadPolicy;
pub use check::PolicyError;
pub use key::Key;
pub use limit_error::LimitError;
#[cfg(feature = "rate-limit")]
pub use rate::RatePolicy;
#[cfg(feature = "retry")]
pub use retry::RetryPolicy;
#[cfg(feature = "redis")]
pub(crate) use text::PolicyText;
#[cfg(feature = "redis")]
pub(crate) use text::written;
