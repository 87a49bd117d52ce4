//! Every shape of function under a stack, without a warning.
#![deny(warnings, clippy::all, clippy::pedantic, clippy::nursery)]
#![allow(
    unreachable_pub,
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    clippy::manual_async_fn
)]

use std::fmt::Debug;
use std::pin::Pin;

use breakerbox::Breaker;
use breakerbox::bulkhead;
use breakerbox::circuit_breaker;
use breakerbox::fallback;
use breakerbox::resilient;
use breakerbox::retry;
use breakerbox::timeout;

use super::Count;
use super::PayError;
use crate::macros::breaker;
use crate::macros::calls;

type R = Result<u32, PayError>;

static BODY: Count = Count::new();

#[retry(idempotent)]
#[circuit_breaker(service = "shape-block")]
pub fn block(n: u16) -> impl Future<Output = R> + Send {
    async move {
        BODY.begin();
        Err(PayError::Status(n))
    }
}

#[retry(idempotent, clone(name))]
#[circuit_breaker(service = "shape-boxed")]
#[timeout("1s")]
pub fn boxed<'a>(name: String, n: &'a u16) -> Pin<Box<dyn Future<Output = R> + Send + 'a>> {
    Box::pin(async move {
        BODY.begin();
        drop(name);
        Err(PayError::Status(*n))
    })
}

/// The warning about it is answered as it advises.
#[allow(deprecated)]
#[bulkhead(service = "shape-meant", max_concurrent = 2)]
#[retry(idempotent)]
pub async fn meant(n: u16) -> R {
    BODY.begin();
    Err(PayError::Status(n))
}

struct Client<T> {
    breaker: &'static Breaker,
    of: T,
}

impl<T: Debug + Send + Sync> Client<T> {
    #[fallback(Ok(u32::from(self.of.to_string() == "5")), when = |error| self.is(error))]
    #[timeout("5s")]
    #[retry(idempotent)]
    #[circuit_breaker(handle = self.breaker)]
    #[timeout("2s", boxed)]
    async fn generic<const N: usize>(&self, (a, _): (u16, u8), _: [u8; N]) -> R
    where
        T: ToString,
    {
        BODY.begin();
        Err(PayError::Status(a))
    }

    fn is(&self, error: &PayError) -> bool {
        matches!(error, PayError::Status(n) if n.to_string() == format!("{:?}", self.of))
    }
}

#[resilient(service = format!("shape-{name}"), retry(idempotent), circuit_breaker(key = name), timeout("1s"))]
async fn dynamic(name: &str) -> R {
    BODY.begin();
    Err(PayError::Status(u16::try_from(name.len()).unwrap_or(0)))
}

trait Api {
    async fn call(&self) -> R;

    #[retry(idempotent)]
    #[circuit_breaker(service = "shape-default")]
    async fn default(&self) -> R {
        self.call().await
    }
}

impl Api for u16 {
    #[timeout("1s")]
    #[circuit_breaker(service = "shape-trait", threshold = 99)]
    async fn call(&self) -> R {
        BODY.begin();
        Err(PayError::Status(*self))
    }
}

#[timeout("5s")]
#[retry(idempotent)]
#[circuit_breaker(service = "shape-impl")]
#[timeout("1s")]
async fn impl_trait(
    words: impl IntoIterator<Item = &'static str> + Clone + Send + Sync,
) -> Result<impl Debug, PayError> {
    let n = words.clone().into_iter().count();
    if BODY.begin() > 1_000 {
        return Err(PayError::Status(1));
    }
    Ok(n)
}

/// None of these is one of the expansion's own.
#[fallback(Ok(__out + __policies), when = failed)]
#[retry(retry_on = |__error| __error.kind().is_none() && __retry_1 > 0)]
#[circuit_breaker(service = "shape-names")]
#[timeout("1s")]
async fn names(__out: u32, __policies: u32, __retry_1: u32, __bound_3: u32) -> R {
    let __guard = BODY.begin() + __bound_3;
    Err(PayError::Status(u16::from(__guard > 0)))
}

#[tokio::test(start_paused = true)]
async fn every_shape_runs_its_body_once_an_attempt() {
    let client = Client {
        breaker: breaker("shape-trait"),
        of: 5_u16,
    };
    let mut before = 0;
    let mut attempts = || {
        let ran = BODY.get() - before;
        before += ran;
        ran
    };
    assert_eq!(block(1).await, Err(PayError::Status(1)));
    assert_eq!((attempts(), calls("shape-block").failure), (3, 3));
    assert_eq!(boxed("a".into(), &2).await, Err(PayError::Status(2)));
    assert_eq!((attempts(), calls("shape-boxed").failure), (3, 3));
    assert_eq!(meant(8).await, Err(PayError::Status(8)));
    assert_eq!(attempts(), 3);
    assert_eq!(
        client.generic((4, 0), [0; 3]).await,
        Err(PayError::Status(4))
    );
    assert_eq!(client.generic((5, 0), [0; 3]).await, Ok(1));
    assert_eq!(attempts(), 6);
    assert_eq!(dynamic("abc").await, Err(PayError::Status(3)));
    assert_eq!(attempts(), 3);
    assert_eq!(7_u16.default().await, Err(PayError::Status(7)));
    assert_eq!(attempts(), 3);
    // The client has this breaker as well.
    assert_eq!(calls("shape-trait").failure, 6 + 3);
    assert_eq!(
        format!("{:?}", impl_trait(["a", "b"]).await.ok()),
        "Some(2)"
    );
    assert_eq!(attempts(), 1);
    assert_eq!(names(1, 2, 3, 4).await, Ok(3));
    assert_eq!(names(1, 2, 0, 4).await, Ok(3));
    assert_eq!(attempts(), 3 + 1);
}
