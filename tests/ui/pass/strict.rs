//! M76: nothing of the expansion is linted.
#![deny(warnings)]
#![forbid(unsafe_code)]
#![deny(missing_docs, unreachable_pub, unused_qualifications, single_use_lifetimes, unused_lifetimes)]
#![deny(unused, nonstandard_style, rust_2018_idioms, elided_lifetimes_in_paths, let_underscore)]
#![deny(trivial_casts, trivial_numeric_casts, unused_results, redundant_lifetimes, unit_bindings)]

use breakerbox::circuit_breaker;

/// An error.
#[derive(Debug)]
pub struct Own;

impl From<breakerbox::Rejected> for Own {
    fn from(_: breakerbox::Rejected) -> Self {
        Self
    }
}

#[circuit_breaker(service = "a", threshold = 5, cooldown = "60s", fails_on = matches(Own))]
async fn f(_a: u32, b: String, mut c: String, _d: Vec<u8>) -> Result<(), Own> {
    c.push_str(&b);
    Ok(())
}

#[circuit_breaker(service = "a", threshold = 5, cooldown = "60s", fallback = Ok(()))]
fn g(_a: u32) -> Result<(), Own> {
    Ok(())
}

#[circuit_breaker(service = "b", ignores = |_| true, fallback_when = any, fallback = |_| Ok(1))]
fn h(n: u32) -> impl Future<Output = Result<u32, Own>> + Send {
    async move { Ok(n) }
}

#[circuit_breaker(service = "c", boxed, on_cancel = failure)]
async fn i(n: &str) -> Result<&str, Own> {
    Ok(n)
}

fn main() {
    drop((f(1, String::new(), String::new(), Vec::new()), h(1), i("")));
    g(1).unwrap();
}
