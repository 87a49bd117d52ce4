//! Attributes on `impl` blocks.
use breakerbox::circuit_breaker;
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

fn main() {}
