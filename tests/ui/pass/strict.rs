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

#[circuit_breaker(
    service = "d",
    window = "60s",
    failure_rate = "50%",
    min_failures = 3,
    slow_call = "2s",
    slow_call_rate = 0.8,
    backoff = 2,
    max_cooldown = "20m",
    jitter = 0.1,
    probe_failure_rate = 0.5,
    ramp = "30s",
    shadow
)]
async fn j(n: u32) -> Result<u32, Own> {
    Ok(n)
}

#[circuit_breaker(service = "e", key = tenant, max_keys = 50, window = 100, min_instances = 2, probe_wait = "0s")]
async fn k(tenant: String, n: &str) -> Result<&str, Own> {
    drop(tenant);
    Ok(n)
}

#[circuit_breaker(service = format!("e-{tenant}"), key = tenant.to_string())]
fn l(tenant: u32) -> Result<u32, Own> {
    Ok(tenant)
}

fn main() {
    drop((f(1, String::new(), String::new(), Vec::new()), h(1), i("")));
    drop((j(1), k(String::new(), "")));
    g(1).unwrap();
    assert_eq!(l(1).unwrap(), 1);
}
