//! What was asked for: plain data, built in `const`, judged once.

mod breaker;
mod check;
mod key;

pub use breaker::OnCancel;
pub use breaker::Policy;
pub use breaker::Window;
pub use check::PolicyError;
pub use key::Key;
