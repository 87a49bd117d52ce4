//! What a service has beside its breaker: its bulkhead, its rate limit, its retries, and what
//! is counted of them.

mod activity;
mod declared;
mod limits;
mod site;
#[cfg(feature = "metrics")]
mod uses;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use once_cell::race::OnceBox;

use crate::bulkhead::Bulkhead;
use crate::host::Host;
use crate::policy::BulkheadPolicy;
use crate::policy::LimitError;
#[cfg(feature = "rate-limit")]
use crate::policy::RatePolicy;
#[cfg(feature = "retry")]
use crate::policy::RetryPolicy;
#[cfg(feature = "rate-limit")]
use crate::rate_limit::RateLimiter;
#[cfg(feature = "retry")]
use crate::retry::Retries;
#[cfg(feature = "retry")]
use crate::retry::Retry;

use activity::Told;
use declared::First;
#[cfg(feature = "metrics")]
use uses::Uses;

pub use limits::Limits;
pub use site::DeclaredPolicies;
pub use site::DynamicPolicySite;
pub use site::PolicySite;

pub(crate) use declared::conflicts;
pub(crate) use site::policy_sites;

/// What one service has beside its breaker, shared by every function that names it.
///
/// A registry makes one for each service, once, and never replaces it. The attributes find it
/// by themselves; [`policies`](crate::policies()) is for code without them:
///
/// ```
/// use std::time::Duration;
/// use breakerbox::BulkheadPolicy;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let s3 = breakerbox::policies("s3");
/// let slot = s3.bulkhead(BulkheadPolicy::new(6))?.try_acquire()?;
/// // ... the call ...
/// drop(slot);
/// # Ok(())
/// # }
/// ```
pub struct Policies {
    service: Option<&'static str>,
    /// The name behind one thin pointer, for rejections.
    label: &'static &'static str,
    host: Arc<Host>,
    bulkhead: OnceBox<Bulkhead>,
    #[cfg(feature = "rate-limit")]
    rate_limiter: OnceBox<RateLimiter>,
    #[cfg(feature = "retry")]
    retries: Retries,
    #[cfg(feature = "metrics")]
    uses: Uses,
    first: First,
    told: Told,
    timeouts: AtomicU64,
    /// Fallbacks that gave an answer, and those that failed.
    fallbacks: [AtomicU64; 2],
}

impl Policies {
    /// Those of a service, or of functions that name none.
    pub(crate) fn new(service: Option<&'static str>, host: Arc<Host>) -> Self {
        Self {
            service,
            label: Box::leak(Box::new(service.unwrap_or("unnamed"))),
            #[cfg(feature = "retry")]
            retries: Retries::new(Arc::clone(&host), service.unwrap_or_default()),
            host,
            bulkhead: OnceBox::new(),
            #[cfg(feature = "rate-limit")]
            rate_limiter: OnceBox::new(),
            #[cfg(feature = "metrics")]
            uses: Uses::default(),
            first: First::default(),
            told: Told::default(),
            timeouts: AtomicU64::new(0),
            fallbacks: [const { AtomicU64::new(0) }; 2],
        }
    }

    /// The service; `None` for functions that name none.
    #[must_use]
    pub const fn service(&self) -> Option<&'static str> {
        self.service
    }

    /// The bulkhead of the service. It has the numbers of whoever asked first: an attribute,
    /// or code.
    ///
    /// # Errors
    ///
    /// Where no bulkhead can work with the numbers.
    pub fn bulkhead(&self, policy: BulkheadPolicy) -> Result<&Bulkhead, LimitError> {
        policy.check()?;
        Ok(self.bulkhead_or(policy))
    }

    /// The bulkhead, if the service has one.
    #[must_use]
    pub fn get_bulkhead(&self) -> Option<&Bulkhead> {
        self.bulkhead.get()
    }

    fn bulkhead_or(&self, policy: BulkheadPolicy) -> &Bulkhead {
        let new = || Bulkhead::new(self.label, policy, Arc::clone(&self.host));
        self.bulkhead.get_or_init(|| Box::new(new()))
    }

    /// The rate limiter of the service. It has the numbers of whoever asked first: an
    /// attribute, or code.
    ///
    /// # Errors
    ///
    /// Where no rate limiter can work with the numbers.
    #[cfg(feature = "rate-limit")]
    pub fn rate_limiter(&self, policy: RatePolicy) -> Result<&RateLimiter, LimitError> {
        policy.check()?;
        Ok(self.rate_limiter_or(policy))
    }

    /// The rate limiter, if the service has one.
    #[cfg(feature = "rate-limit")]
    #[must_use]
    pub fn get_rate_limiter(&self) -> Option<&RateLimiter> {
        self.rate_limiter.get()
    }

    #[cfg(feature = "rate-limit")]
    fn rate_limiter_or(&self, policy: RatePolicy) -> &RateLimiter {
        let new = || RateLimiter::new(self.label, policy, Arc::clone(&self.host));
        self.rate_limiter.get_or_init(|| Box::new(new()))
    }

    /// Retries of calls to this service, with these numbers and with the budget that all its
    /// retries share.
    ///
    /// # Errors
    ///
    /// Where nobody can retry with the numbers.
    #[cfg(feature = "retry")]
    pub fn retry(&self, policy: RetryPolicy) -> Result<Retry<'_>, LimitError> {
        policy.check()?;
        Ok(Retry::new(&self.retries, policy))
    }

    /// How many attempts after the first have begun. One that follows a wait for the circuit is
    /// not among them: the one before it was not made.
    #[cfg(feature = "retry")]
    #[must_use]
    pub fn retried(&self) -> u64 {
        self.retries.counts().attempts()
    }

    /// How often a timeout gave a call up while it ran.
    #[must_use]
    pub fn timeouts(&self) -> u64 {
        self.timeouts.load(Relaxed)
    }

    /// How often a fallback gave an answer, and how often it failed.
    #[must_use]
    pub fn fallbacks(&self) -> [u64; 2] {
        self.fallbacks.each_ref().map(|count| count.load(Relaxed))
    }

    #[inline]
    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    #[cfg(feature = "retry")]
    pub(crate) const fn retries(&self) -> &Retries {
        &self.retries
    }

    #[cfg(feature = "metrics")]
    pub(crate) const fn uses(&self) -> &Uses {
        &self.uses
    }

    pub(crate) fn count_timeout(&self) {
        self.timeouts.fetch_add(1, Relaxed);
    }

    /// A fallback ran, and gave an answer or `failed`.
    pub(crate) fn count_fallback(&self, failed: bool) {
        self.fallbacks[usize::from(failed)].fetch_add(1, Relaxed);
    }
}

impl fmt::Debug for Policies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policies")
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}
