//! B213 B216: mistakes in a body are shown in the body.
use breakerbox::circuit_breaker;

#[derive(Debug)]
pub struct Own;

impl From<breakerbox::Rejected> for Own {
    fn from(_: breakerbox::Rejected) -> Self {
        Self
    }
}

async fn other() -> Result<u32, Own> {
    Ok(1)
}

#[circuit_breaker(service = "a")]
async fn wrong_type() -> Result<String, Own> {
    Ok("text")
}

#[circuit_breaker(service = "a")]
async fn no_await() -> Result<u32, Own> {
    let n = other()?;
    Ok(n)
}

#[circuit_breaker(service = "a")]
async fn wrong_error(text: &str) -> Result<u32, Own> {
    let n: u32 = text.parse()?;
    Ok(n)
}

#[circuit_breaker(service = "a")]
async fn no_value() -> Result<u32, Own> {
    other().await;
}

#[circuit_breaker(service = "a")]
async fn two_returns(b: bool) -> Result<(), Own> {
    if b {
        return 1;
    }
    return Ok(());
}

#[circuit_breaker(service = "a")]
fn sync_no_value(b: bool) -> Result<u32, Own> {
    if b {
        return Ok("1");
    }
}

#[circuit_breaker(service = "a")]
async fn unknown_name() -> Result<u32, Own> {
    Ok(missing)
}

#[circuit_breaker(service = "a")]
fn opaque() -> impl Future<Output = Result<u32, Own>> {
    async move { Ok("1") }
}

fn main() {}
