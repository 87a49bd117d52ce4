//! What was asked for: plain data, built in `const`, judged once.

mod breaker;
mod check;
mod key;
#[cfg(feature = "retry")]
mod limit_error;
#[cfg(feature = "retry")]
mod retry;

pub use breaker::OnCancel;
pub use breaker::Policy;
pub use breaker::Window;
pub use check::PolicyError;
pub use key::Key;
#[cfg(feature = "retry")]
pub use limit_error::LimitError;
#[cfg(feature = "retry")]
pub use retry::RetryPolicy;
