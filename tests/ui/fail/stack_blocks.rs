//! Attributes on `impl` blocks.
use breakerbox::circuit_breaker;
use breakerbox::fallback;
use breakerbox::resilient;
use breakerbox::retry;

pub struct Client;

type R = Result<(), breakerbox::Rejected>;

#[circuit_breaker(service = "a")]
impl Client {
    fn plain(&self) -> R {
        Ok(())
    }
}

#[circuit_breaker(service = "a")]
impl Client {
    #[unguarded]
    async fn left_out(&self) -> R {
        Ok(())
    }
}

#[circuit_breaker(service = "a")]
impl Client {
    #[circuit_breaker(service = "b")]
    async fn own(&self) -> R {
        Ok(())
    }
}

#[circuit_breaker(treshold = 5, operation = "x")]
impl Client {
    async fn said_once(&self) -> R {
        Ok(())
    }
    #[unguarded]
    async fn and_comes_back(&self) -> R {
        self.said_once().await
    }
}

#[retry(idempotent)]
impl Client {
    async fn retried(&self) -> R {
        Ok(())
    }
}

#[circuit_breaker(service = "a")]
impl Client {
    #[fallback(Ok(()))]
    async fn cannot_stand_above_it(&self) -> R {
        Ok(())
    }
    #[resilient(fallback(Ok(())))]
    async fn nor_this(&self) -> R {
        Ok(())
    }
    #[fallback(Ok(()))]
    #[circuit_breaker(service = "a")]
    async fn as_it_says(&self) -> R {
        Ok(())
    }
}

#[circuit_breaker(service = "a", fallback = Ok(()))]
impl Client {
    async fn answered(&self) -> R {
        Ok(())
    }
    #[retry(idempotent)]
    async fn beside_another(&self) -> R {
        Ok(())
    }
}

fn main() {}
