//! Stacked policies where names are others, nothing is linted and nothing is warned of.
#![deny(warnings)]
#![forbid(unsafe_code)]
#![deny(missing_docs, unreachable_pub, unused_qualifications, single_use_lifetimes, unused_lifetimes)]
#![deny(unused, nonstandard_style, rust_2018_idioms, elided_lifetimes_in_paths, let_underscore)]
#![deny(trivial_casts, trivial_numeric_casts, redundant_lifetimes, unit_bindings, unused_results)]

use breakerbox as safe;
use breakerbox::bulkhead;
use breakerbox::circuit_breaker;
use breakerbox::fallback;
use breakerbox::rate_limit;
use breakerbox::resilient as with;
use breakerbox::retry;
use breakerbox::timeout;

/// An error.
#[derive(Debug)]
pub enum Own {
    /// Not made.
    Rejected(breakerbox::Rejected),
    /// Unknown.
    TimedOut(breakerbox::TimedOut),
}

impl From<breakerbox::Rejected> for Own {
    fn from(rejected: breakerbox::Rejected) -> Self {
        Self::Rejected(rejected)
    }
}

impl From<breakerbox::TimedOut> for Own {
    fn from(timed_out: breakerbox::TimedOut) -> Self {
        Self::TimedOut(timed_out)
    }
}

#[fallback(Ok(0), when = any)]
#[timeout("8s", service = "a")]
#[retry(idempotent, clone(b))]
#[circuit_breaker(threshold = 5, fails_on = matches(Own::TimedOut(_)))]
#[rate_limit("100/s")]
#[bulkhead(max_concurrent = 5, counts)]
#[timeout("2s")]
async fn all(_a: u32, mut b: String, c: Vec<u8>, _d: Vec<u8>) -> Result<u32, Own> {
    b.push('!');
    Ok(u32::from(c.len() == b.len()))
}

#[retry(retry_on = |_| true)]
#[fallback(|error| Err(error), when = failed)]
#[circuit_breaker(service = "b")]
#[bulkhead(max_concurrent = 5)]
fn plain(a: &str) -> Result<&str, Own> {
    Ok(a)
}

#[safe::timeout("1s", crate = safe)]
#[safe::circuit_breaker(service = "c")]
async fn under_another_name() -> Result<u32, Own> {
    Ok(1)
}

#[with(service = format!("d-{tenant}"), retry(idempotent), circuit_breaker, timeout("1s"))]
async fn in_one(tenant: &str) -> Result<&str, Own> {
    Ok(tenant)
}

#[breakerbox::retry(idempotent)]
#[cfg_attr(all(), timeout("1s"))]
#[cfg_attr(any(), retry)]
#[breakerbox::circuit_breaker(service = "e")]
async fn by_paths() -> Result<u32, Own> {
    Ok(1)
}

/// What a macro of another crate goes through.
pub mod facade {
    pub use breakerbox;
}

macro_rules! by_a_macro {
    ($name:ident) => {
        #[$crate::facade::breakerbox::retry(idempotent)]
        #[$crate::facade::breakerbox::circuit_breaker(service = "g")]
        #[$crate::facade::breakerbox::timeout("1s")]
        async fn $name() -> Result<u32, Own> {
            Ok(1)
        }
    };
}
by_a_macro!(in_a_macro);

/// Keeps the first error.
#[derive(Debug)]
pub struct Keeping(Option<breakerbox::FirstError>);

impl std::fmt::Display for Keeping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("it failed")
    }
}

impl std::error::Error for Keeping {}

impl From<breakerbox::Rejected> for Keeping {
    fn from(rejected: breakerbox::Rejected) -> Self {
        Self(Some(breakerbox::FirstError::new(rejected)))
    }
}

impl breakerbox::KeepsFirst for Keeping {
    fn keep_first(self, first: breakerbox::FirstError) -> Self {
        Self(self.0.or(Some(first)))
    }
}

#[fallback(Err(Keeping(None)), when = any)]
#[retry(idempotent)]
#[fallback(plainly(a), when = |_| true)]
#[fallback(plainly(a))]
#[bulkhead(service = "h", max_concurrent = 5)]
async fn keeping(a: &str) -> Result<&str, Keeping> {
    Ok(a)
}

#[fallback(plainly(a), when = failed)]
#[bulkhead(service = "h", max_concurrent = 5)]
fn plainly(a: &str) -> Result<&str, Keeping> {
    Ok(a)
}

/// A client.
#[derive(Debug)]
pub struct Client;

#[circuit_breaker(service = "f")]
impl Client {
    /// It is documented.
    #[retry(idempotent)]
    #[must_use]
    pub async fn call(&mut self) -> Result<u32, Own> {
        Ok(1)
    }

    /// It is left out.
    #[unguarded]
    pub async fn left_out(&self) {}
}

/// Takes anything that can be sent.
fn send<T: Send>(_: T) {}

fn main() {
    send(all(1, String::new(), vec![], vec![]));
    assert!(plain("a").is_ok());
    send(under_another_name());
    send(in_one("a"));
    send(by_paths());
    send(in_a_macro());
    send(keeping("a"));
    assert!(plainly("a").is_ok());
    send(Client.call());
    send(Client.left_out());
}
