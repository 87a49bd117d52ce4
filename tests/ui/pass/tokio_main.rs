//! M86 B241: other attributes above and below.
#![deny(warnings)]

use breakerbox::circuit_breaker;

mod above {
    use super::*;

    #[tokio::main(flavor = "current_thread")]
    #[circuit_breaker(service = "a")]
    pub async fn main() -> Result<(), std::io::Error> {
        tokio::task::yield_now().await;
        Ok(())
    }
}

mod below {
    use super::*;

    #[circuit_breaker(service = "a")]
    #[tokio::main(flavor = "current_thread")]
    pub async fn main() -> Result<(), std::io::Error> {
        tokio::task::yield_now().await;
        Ok(())
    }
}

fn main() {
    above::main().unwrap();
    below::main().unwrap();
    assert_eq!(breakerbox::breaker("a").unwrap().snapshot().calls.success, 2);
}
