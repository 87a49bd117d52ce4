//! What was asked for: plain data, built in `const`, judged once.

mod breaker;

pub use breaker::OnCancel;
pub use breaker::Policy;
pub use breaker::PolicyError;
