//! The attribute in every edition, in crates that know breakerbox by another name.
#![deny(warnings)]

/// What drops when, in this edition.
#[cfg(test)]
#[path = "../macros/drop_order.rs"]
mod drop_order;

#[cfg(test)]
extern crate resilience as breakerbox;

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::Pin;

    use resilience::bulkhead;
    use resilience::circuit_breaker;
    use resilience::fallback;
    use resilience::rate_limit;
    use resilience::retry;
    use resilience::timeout;

    #[derive(Debug, PartialEq)]
    struct Own;

    impl From<resilience::Rejected> for Own {
        fn from(_: resilience::Rejected) -> Self {
            Own
        }
    }

    #[circuit_breaker(
        crate = resilience,
        service = "edition",
        threshold = 1,
        cooldown = "60s",
        fails_on = matches(Own),
        on_cancel = after("1s"),
        fallback = Ok(3)
    )]
    async fn plain(mut n: u32, fail: bool) -> Result<u32, Own> {
        n += 1;
        if fail {
            return Err(Own);
        }
        Ok(n)
    }

    #[circuit_breaker(crate = ::resilience, service = "edition-dyn", ignores = |_| true)]
    fn sync<'a>(text: &'a str, r#dyn: &dyn Fn(&'a str) -> &'a str) -> Result<&'a str, Own> {
        Ok(r#dyn(text))
    }

    #[circuit_breaker(crate = ::resilience, service = name, fallback_when = any, fallback = |_| Ok(7))]
    #[allow(clippy::manual_async_fn)]
    fn opaque<'a>(name: &'a str) -> impl Future<Output = Result<u32, Own>> + 'a {
        async move {
            let _ = name;
            Err(Own)
        }
    }

    #[circuit_breaker(crate = ::resilience, service = "edition-boxed")]
    fn boxed<'a>(n: &'a u32) -> Pin<Box<dyn Future<Output = Result<&'a u32, Own>> + Send + 'a>> {
        let future = async move { Ok(n) };
        Box::pin(future)
    }

    /// # Safety
    /// None is needed.
    #[circuit_breaker(crate = ::resilience, service = "edition-unsafe")]
    async unsafe fn dangerous(p: usize) -> Result<usize, Own> {
        Ok(p + 1)
    }

    /// M44: calling it would take `unsafe`, which nothing in this project needs.
    #[test]
    fn an_unsafe_function_stays_unsafe() {
        let _: unsafe fn(usize) -> _ = dangerous;
    }

    struct Client {
        breaker: &'static resilience::Breaker,
    }

    impl Client {
        #[circuit_breaker(crate = resilience, handle = self.breaker, boxed)]
        async fn method(&mut self, n: &u32) -> Result<&mut Self, Own> {
            let _ = n;
            Ok(self)
        }
    }

    impl From<resilience::TimedOut> for Own {
        fn from(_: resilience::TimedOut) -> Self {
            Own
        }
    }

    #[fallback(Ok(name.len()), when = any, crate = resilience)]
    #[timeout("8s")]
    #[retry(idempotent, clone(more), delay = "1ns")]
    #[resilience::circuit_breaker(service = "edition-stack", fails_on = |_| true, threshold = 3)]
    #[rate_limit("100/s")]
    #[bulkhead(max_concurrent = 2)]
    #[timeout("2s")]
    async fn stacked(name: &str, mut more: String) -> Result<usize, Own> {
        more.push('!');
        if name.is_empty() {
            return Err(Own);
        }
        Ok(more.len())
    }

    /// B251
    #[tokio::test]
    async fn every_shape_compiles_and_runs() {
        assert_eq!(plain(1, false).await, Ok(2));
        assert_eq!(plain(1, true).await, Err(Own));
        assert_eq!(plain(1, false).await, Ok(3));
        assert_eq!(sync("a", &|text| text), Ok("a"));
        assert_eq!(opaque("edition-named").await, Ok(7));
        assert_eq!(boxed(&1).await, Ok(&1));
        let breaker = resilience::breaker("edition-boxed").unwrap();
        let mut client = Client { breaker };
        assert!(client.method(&1).await.is_ok());
        assert_eq!(breaker.snapshot().calls.success, 2);
        assert_eq!(stacked("a", "bc".to_owned()).await, Ok(3));
        assert_eq!(stacked("", String::new()).await, Ok(0));
        let calls = resilience::breaker("edition-stack")
            .unwrap()
            .snapshot()
            .calls;
        assert_eq!((calls.success, calls.failure), (1, 3));
    }
}
