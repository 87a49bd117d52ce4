//! A breaker on an `impl` block.

use std::pin::Pin;

use async_trait::async_trait;
use breakerbox::circuit_breaker;
use breakerbox::retry;

use super::Count;
use super::PayError;
use crate::macros::calls;

type R = Result<u32, PayError>;

struct Client;

#[circuit_breaker(service = "block-plain", threshold = 99)]
impl Client {
    const N: u32 = 1;

    async fn asynchronous(&self, n: u16) -> R {
        Err(PayError::Status(n))
    }

    #[allow(clippy::manual_async_fn)]
    fn returns(&self) -> impl Future<Output = R> {
        async { Ok(Self::N) }
    }

    fn boxed(&self) -> Pin<Box<dyn Future<Output = R> + Send + '_>> {
        Box::pin(async { Ok(Self::N) })
    }

    #[retry(idempotent)]
    async fn retried(&self, body: &Count) -> R {
        body.begin();
        Err(PayError::Status(500))
    }

    fn plain(&self) -> R {
        Ok(1)
    }

    #[unguarded]
    async fn left_out(&self) -> R {
        Ok(1)
    }

    #[circuit_breaker(service = "block-own")]
    async fn own(&self) -> R {
        Ok(1)
    }
}

#[tokio::test(start_paused = true)]
async fn each_method_that_makes_a_future_is_guarded() {
    let client = Client;
    assert!(client.asynchronous(1).await.is_err());
    assert_eq!(client.returns().await, Ok(1));
    assert_eq!(client.boxed().await, Ok(1));
    assert_eq!((client.plain(), client.left_out().await), (Ok(1), Ok(1)));
    assert_eq!(client.own().await, Ok(1));
    let seen = calls("block-plain");
    assert_eq!((seen.failure, seen.success), (1, 2));
    assert_eq!(calls("block-own").success, 1);
    // Its breaker stands at the top: it sees one call.
    let body = Count::new();
    assert!(client.retried(&body).await.is_err());
    assert_eq!((body.get(), calls("block-plain").failure), (3, 2));
}

#[async_trait]
trait Api {
    async fn call(&self, fails: bool) -> R;
}

#[async_trait]
#[circuit_breaker(service = "block-below")]
impl Api for u8 {
    async fn call(&self, fails: bool) -> R {
        if fails {
            Err(PayError::Status(1))
        } else {
            Ok(1)
        }
    }
}

#[circuit_breaker(service = "block-above")]
#[async_trait]
impl Api for u16 {
    async fn call(&self, fails: bool) -> R {
        if fails {
            Err(PayError::Status(1))
        } else {
            Ok(1)
        }
    }
}

#[tokio::test]
async fn it_may_stand_on_either_side_of_async_trait() {
    for fails in [true, false] {
        assert_eq!(1_u8.call(fails).await.is_err(), fails);
        assert_eq!(1_u16.call(fails).await.is_err(), fails);
    }
    for service in ["block-above", "block-below"] {
        let seen = calls(service);
        assert_eq!((seen.failure, seen.success), (1, 1), "{service}");
    }
}
