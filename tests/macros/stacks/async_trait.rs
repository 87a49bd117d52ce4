//! Methods under `#[async_trait]`.

use async_trait::async_trait;
use breakerbox::circuit_breaker;
use breakerbox::fallback;
use breakerbox::resilient;
use breakerbox::retry;
use breakerbox::timeout;

use super::Count;
use super::PayError;
use super::hang;
use crate::macros::calls;

type R = Result<u32, PayError>;

#[async_trait]
trait Api {
    async fn by_ref(&self, text: String, n: &u16) -> R;
    async fn by_mut(&mut self, mut buffer: Vec<u8>, (a, b): (u16, u16)) -> R;
    async fn hangs(&self) -> R;
    #[retry(idempotent)]
    async fn default(&self, n: u16) -> R {
        self.by_ref(String::new(), &n).await
    }
}

struct Client {
    calls: u32,
}

static BODY: Count = Count::new();

#[async_trait]
impl Api for Client {
    #[retry(idempotent, clone(text))]
    #[circuit_breaker(service = "async-trait-ref", threshold = 99)]
    async fn by_ref(&self, text: String, n: &u16) -> R {
        BODY.begin();
        let text: String = text;
        Err(PayError::Status(*n + text.len() as u16 + self.calls as u16))
    }

    #[resilient(timeout("5s"), retry(idempotent, clone(buffer)), timeout("1s"))]
    async fn by_mut(&mut self, mut buffer: Vec<u8>, (a, b): (u16, u16)) -> R {
        self.calls += 1;
        buffer.push(1);
        Err(PayError::Status(a + b + buffer.len() as u16))
    }

    #[fallback(Ok(7), when = timed_out)]
    #[circuit_breaker(service = "async-trait-hangs")]
    #[timeout("1s")]
    async fn hangs(&self) -> R {
        hang().await
    }
}

#[tokio::test(start_paused = true)]
async fn methods_under_async_trait_are_stacked_inside_their_boxes() {
    let mut client = Client { calls: 0 };
    let out = client.by_ref("abc".into(), &10).await;
    assert_eq!(out, Err(PayError::Status(13)));
    assert_eq!((BODY.get(), calls("async-trait-ref").failure), (3, 3));
    let out = client.by_mut(vec![0; 2], (10, 20)).await;
    assert_eq!(out, Err(PayError::Status(33)));
    assert_eq!(client.calls, 3);
    assert_eq!(client.hangs().await, Ok(7));
    assert_eq!(calls("async-trait-hangs").failure, 1);
    assert_eq!(client.default(1).await, Err(PayError::Status(4)));
    assert_eq!(BODY.get(), 3 + 9);
    fn is_send<T: Send>(_: T) {}
    is_send(client.by_ref(String::new(), &1));
}
