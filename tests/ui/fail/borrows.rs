//! B213: mistakes of borrowing are shown in the body.
use breakerbox::circuit_breaker;

#[derive(Debug)]
pub struct Own;

impl From<breakerbox::Rejected> for Own {
    fn from(_: breakerbox::Rejected) -> Self {
        Self
    }
}

#[circuit_breaker(service = "a")]
async fn moved(text: String) -> Result<String, Own> {
    drop(text);
    Ok(text)
}

#[circuit_breaker(service = "a")]
async fn not_mut(text: String) -> Result<String, Own> {
    text.push('a');
    Ok(text)
}

#[circuit_breaker(service = "a")]
async fn dangling<'a>() -> Result<&'a str, Own> {
    let text = String::new();
    Ok(&text)
}

#[circuit_breaker(service = "a", fails_on = |_| text.is_empty())]
async fn taken_by_the_body(text: String) -> Result<String, Own> {
    Ok(text)
}

fn spawn<F: Future + Send>(_: F) {}

#[circuit_breaker(service = "a")]
async fn not_send() -> Result<(), Own> {
    let shared = std::rc::Rc::new(1);
    std::future::ready(()).await;
    drop(shared);
    Ok(())
}

fn main() {
    spawn(not_send());
}
