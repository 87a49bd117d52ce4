//! What one function says about its policies beside the breaker.

use crate::policy::BulkheadPolicy;
#[cfg(feature = "rate-limit")]
use crate::policy::RatePolicy;

/// What the stack of one function declares for its service: plain data, built in `const`.
#[derive(Clone, Copy, Debug, Default)]
#[must_use = "it does nothing by itself"]
pub struct Limits {
    pub(crate) bulkhead: Option<BulkheadPolicy>,
    #[cfg(feature = "rate-limit")]
    pub(crate) rate_limit: Option<RatePolicy>,
    #[cfg(feature = "retry")]
    pub(crate) retries: bool,
    pub(crate) timeouts: bool,
    pub(crate) fallbacks: bool,
}

impl Limits {
    /// Nothing yet.
    pub const fn new() -> Self {
        Self {
            bulkhead: None,
            #[cfg(feature = "rate-limit")]
            rate_limit: None,
            #[cfg(feature = "retry")]
            retries: false,
            timeouts: false,
            fallbacks: false,
        }
    }

    /// It has a bulkhead.
    pub const fn bulkhead(mut self, policy: BulkheadPolicy) -> Self {
        self.bulkhead = Some(policy);
        self
    }

    /// It has a rate limit.
    #[cfg(feature = "rate-limit")]
    pub const fn rate_limit(mut self, policy: RatePolicy) -> Self {
        self.rate_limit = Some(policy);
        self
    }

    /// It retries.
    #[cfg(feature = "retry")]
    pub const fn retries(mut self) -> Self {
        self.retries = true;
        self
    }

    /// It has timeouts.
    pub const fn timeouts(mut self) -> Self {
        self.timeouts = true;
        self
    }

    /// It has fallbacks.
    pub const fn fallbacks(mut self) -> Self {
        self.fallbacks = true;
        self
    }

    /// What no service can work with, if anything.
    pub(crate) const fn wrong(&self) -> Option<&'static str> {
        if let Some(bulkhead) = &self.bulkhead
            && let Err(error) = bulkhead.check()
        {
            return Some(error.message());
        }
        #[cfg(feature = "rate-limit")]
        if let Some(rate_limit) = &self.rate_limit
            && let Err(error) = rate_limit.check()
        {
            return Some(error.message());
        }
        None
    }
}
