//! The answer to numbers that a policy beside the breaker cannot work with.

/// A number that no bulkhead, rate limit or retry can work with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LimitError {
    key: &'static str,
    message: &'static str,
}

impl LimitError {
    pub(crate) const fn new(key: &'static str, message: &'static str) -> Self {
        Self { key, message }
    }

    /// The key to change, as it is written in the attribute.
    #[must_use]
    pub const fn key(&self) -> &'static str {
        self.key
    }

    /// What is wrong and what to write.
    #[must_use]
    pub const fn message(&self) -> &'static str {
        self.message
    }
}
