//! M77: a crate without a prelude.
#![no_implicit_prelude]
#![deny(warnings)]

use ::breakerbox::circuit_breaker;

pub struct Own;

impl ::core::convert::From<::breakerbox::Rejected> for Own {
    fn from(_: ::breakerbox::Rejected) -> Self {
        Self
    }
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
    ::core::mem::drop(h("c"));
    ::core::mem::drop(i("c"));
    ::core::mem::drop(f(1));
    ::core::mem::drop(g(1));
}
