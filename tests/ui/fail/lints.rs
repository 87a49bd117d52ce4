//! Lints about the user's own code still speak, at the user's code.
#![deny(warnings)]

use breakerbox::circuit_breaker;

type Answer = Result<u32, breakerbox::Rejected>;

#[circuit_breaker(service = "a")]
async fn variables(a: u32, mut b: u32, (c, d): (u32, u32)) -> Answer {
    let e = 1;
    let mut f = 2;
    Ok(b + d + f)
}

#[circuit_breaker(service = "a")]
async fn moved(a: Vec<u8>, mut b: Vec<u8>, c: Vec<u8>) -> Answer {
    Ok(b.len() as u32 + c.len() as u32)
}

#[circuit_breaker(service = "a")]
fn sync(a: u32, mut b: u32) -> Answer {
    return Ok(b);
    Ok(1)
}

#[circuit_breaker(service = "a", fallback = { let unused = 1; Ok(1) })]
async fn fallback() -> Answer {
    Ok(1)
}

#[deprecated]
fn old() {}

#[circuit_breaker(service = "a")]
async fn body() -> Answer {
    old();
    variables(1, 2, (3, 4));
    if (true) {}
    Ok(1)
}

fn main() {
    let _ = (moved(vec![], vec![], vec![]), sync(1, 2), fallback(), body());
}
