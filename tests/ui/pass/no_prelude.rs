//! M77: a crate without a prelude.
#![no_implicit_prelude]
#![deny(warnings)]

use ::breakerbox::bulkhead;
use ::breakerbox::circuit_breaker;
use ::breakerbox::fallback;
use ::breakerbox::rate_limit;
use ::breakerbox::retry;
use ::breakerbox::timeout;

pub struct Own;

impl ::core::convert::From<::breakerbox::Rejected> for Own {
    fn from(_: ::breakerbox::Rejected) -> Self {
        Self
    }
}

impl ::core::convert::From<::breakerbox::TimedOut> for Own {
    fn from(_: ::breakerbox::TimedOut) -> Self {
        Self
    }
}

#[fallback(|_| ::core::result::Result::Ok(1), when = any)]
#[timeout("8s")]
#[retry(idempotent, clone(n))]
#[circuit_breaker(service = "stack", fails_on = matches(Own))]
#[rate_limit("1/s")]
#[bulkhead(max_concurrent = 1)]
#[timeout("2s")]
async fn stacked(n: u8) -> ::core::result::Result<u8, Own> {
    ::core::result::Result::Ok(n)
}

#[fallback(::core::result::Result::Err(Own), when = |_| true)]
#[fallback(::core::result::Result::Err(Own))]
#[bulkhead(service = "stack", max_concurrent = 1)]
async fn answered(n: u8) -> ::core::result::Result<u8, Own> {
    ::core::result::Result::Ok(n)
}

#[retry(retry_on = |_| true)]
#[circuit_breaker(service = "stack", classify = |_| false)]
#[bulkhead(max_concurrent = 1)]
fn plain(n: u8) -> ::core::result::Result<u8, Own> {
    ::core::result::Result::Ok(n)
}

#[circuit_breaker(service = "a", threshold = 5, cooldown = "60s", fails_on = matches(Own))]
async fn f(n: u8) -> ::core::result::Result<u8, Own> {
    ::core::result::Result::Ok(n)
}

#[circuit_breaker(service = "a", threshold = 5, cooldown = "60s", fallback = |_| ::core::result::Result::Ok(2))]
fn g(n: u8) -> ::core::result::Result<u8, Own> {
    ::core::result::Result::Ok(n)
}

#[circuit_breaker(service = "b", key = n, window = "60s", failure_rate = 0.5, shadow)]
async fn h(n: &str) -> ::core::result::Result<&str, Own> {
    ::core::result::Result::Ok(n)
}

#[circuit_breaker(service = { "c" }, key = n, window = 30)]
fn i(n: &str) -> ::core::result::Result<&str, Own> {
    ::core::result::Result::Ok(n)
}

fn main() {
    ::core::mem::drop(stacked(1));
    ::core::mem::drop(answered(1));
    ::core::mem::drop(plain(1));
    ::core::mem::drop(h("c"));
    ::core::mem::drop(i("c"));
    ::core::mem::drop(f(1));
    ::core::mem::drop(g(1));
}
