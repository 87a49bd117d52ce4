//! Functions that return a future, and what `#[async_trait]` makes of methods.
#![deny(warnings, clippy::all, clippy::pedantic, clippy::nursery)]
#![allow(
    unreachable_pub,
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    clippy::manual_async_fn,
    clippy::type_complexity
)]

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use breakerbox::Breaker;
use breakerbox::State;
use breakerbox::circuit_breaker;

use crate::macros::E;
use crate::macros::breaker;
use crate::macros::calls;

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

async fn answer(n: u32) -> Result<u32, E> {
    tokio::task::yield_now().await;
    if n == 0 { Err(E) } else { Ok(n) }
}

/// M72 B218
#[circuit_breaker(service = "m72-block", threshold = 2)]
pub fn block(n: u32) -> impl Future<Output = Result<u32, E>> + Send {
    let m = n;
    async move { answer(m).await }
}

/// M72 B218
#[circuit_breaker(service = "m72-call", threshold = 2)]
pub fn call(n: u32) -> impl Future<Output = Result<u32, E>> + Send {
    if n == 100 {
        return answer(101);
    }
    answer(n)
}

/// M73 B218
#[circuit_breaker(service = "m73-block", threshold = 2)]
pub fn boxed_block(n: u32) -> Pin<Box<dyn Future<Output = Result<u32, E>> + Send>> {
    Box::pin(async move { answer(n).await })
}

/// M73 B218
#[circuit_breaker(service = "m73-call", threshold = 2)]
pub fn boxed_call(n: u32) -> BoxFuture<'static, Result<u32, E>> {
    if n == 100 {
        return Box::pin(async { Ok(101) });
    }
    Box::pin(answer(n))
}

#[tokio::test]
async fn a_returned_future_is_guarded_while_it_runs_and_not_when_it_is_made() {
    macro_rules! check {
        ($f:ident, $service:literal, never polled: $dropped:literal) => {
            drop($f(0));
            let calls_so_far = calls($service);
            assert_eq!(calls_so_far.cancelled, $dropped, $service);
            assert_eq!(
                calls_so_far.by_label().map(|(_, n)| n).sum::<u64>(),
                $dropped,
                $service
            );
            assert_eq!($f(3).await, Ok(3), $service);
            assert_eq!($f(0).await, Err(E), $service);
            let waiting = $f(0);
            assert_eq!(breaker($service).state(), State::Closed, $service);
            assert_eq!(waiting.await, Err(E), $service);
            assert_eq!(breaker($service).state(), State::Open, $service);
            assert_eq!($f(3).await, Err(E), $service);
            let calls = calls($service);
            assert_eq!(
                (calls.success, calls.failure, calls.rejected),
                (1, 2, 1),
                $service
            );
        };
    }
    // The code around the block has run, so that dropping the future is the end of a call.
    check!(block, "m72-block", never polled: 1);
    check!(call, "m72-call", never polled: 1);
    check!(boxed_block, "m73-block", never polled: 0);
    check!(boxed_call, "m73-call", never polled: 1);
}

/// A rejection says that nothing left the process: what such a function does before its
/// future exists must not be done either.
#[tokio::test]
async fn the_code_around_the_future_is_not_run_for_a_call_that_is_rejected() {
    static SENT: AtomicU32 = AtomicU32::new(0);

    #[circuit_breaker(service = "eager", threshold = 1)]
    fn boxed() -> BoxFuture<'static, Result<u32, E>> {
        SENT.fetch_add(1, Relaxed);
        Box::pin(async { Err(E) })
    }
    #[circuit_breaker(service = "eager", threshold = 1)]
    fn opaque() -> impl Future<Output = Result<u32, E>> {
        SENT.fetch_add(1, Relaxed);
        async { Err(E) }
    }
    #[circuit_breaker(service = "eager", threshold = 1, fallback = Ok(7))]
    fn with_fallback() -> impl Future<Output = Result<u32, E>> {
        SENT.fetch_add(1, Relaxed);
        answer(0)
    }
    assert_eq!(boxed().await, Err(E));
    assert_eq!(boxed().await, Err(E));
    assert_eq!(opaque().await, Err(E));
    assert_eq!(with_fallback().await, Ok(7));
    assert_eq!(SENT.load(Relaxed), 1);
    let calls = calls("eager");
    assert_eq!((calls.failure, calls.rejected), (1, 3));
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_is_made_and_never_polled_gives_its_place_back() {
    #[circuit_breaker(service = "unpolled", threshold = 1, cooldown = "60s")]
    fn call(n: u32) -> impl Future<Output = Result<u32, E>> {
        let n = n + 1;
        answer(n - 1)
    }
    assert_eq!(call(0).await, Err(E));
    tokio::time::advance(Duration::from_secs(60)).await;
    let probe = call(1);
    assert_eq!(call(1).await, Err(E));
    drop(probe);
    assert_eq!(breaker("unpolled").state(), State::HalfOpen);
    assert_eq!(call(1).await, Ok(1));
    assert_eq!(breaker("unpolled").state(), State::Closed);
}

#[test]
fn a_panic_before_the_future_exists_is_a_failure() {
    #[circuit_breaker(service = "eager-panic", threshold = 1)]
    fn call(n: u32) -> impl Future<Output = Result<u32, E>> {
        let n = n.checked_sub(1).expect("as the test wants");
        answer(n)
    }
    assert!(std::panic::catch_unwind(|| drop(call(0))).is_err());
    assert_eq!(calls("eager-panic").panicked, 1);
    assert_eq!(breaker("eager-panic").state(), State::Open);
}

#[tokio::test]
async fn an_early_return_of_a_future_is_guarded_as_well() {
    #[circuit_breaker(service = "m72-early")]
    fn opaque(n: u32) -> impl Future<Output = Result<u32, E>> {
        if n == 100 {
            return answer(101);
        }
        answer(n)
    }
    #[circuit_breaker(service = "m73-early")]
    fn boxed(n: u32) -> BoxFuture<'static, Result<u32, E>> {
        if n == 100 {
            return Box::pin(async { Ok(101) });
        }
        Box::pin(async move { answer(n).await })
    }
    assert_eq!(opaque(100).await, Ok(101));
    assert_eq!(boxed(100).await, Ok(101));
    assert_eq!(boxed(1).await, Ok(1));
    assert_eq!(calls("m72-early").success, 1);
    assert_eq!(calls("m73-early").success, 2);
}

#[tokio::test]
async fn the_code_before_the_future_runs_when_the_function_is_called() {
    static LOG: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    fn log(text: &'static str) {
        LOG.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(text);
    }

    #[circuit_breaker(service = "m72-eager")]
    fn opaque(n: u32) -> impl Future<Output = Result<u32, E>> {
        log("opaque called");
        let m = n + 1;
        async move {
            log("opaque polled");
            Ok(m)
        }
    }
    #[circuit_breaker(service = "m73-eager")]
    fn boxed(s: &str) -> BoxFuture<'_, Result<usize, E>> {
        log("boxed called");
        let len = s.len();
        Box::pin(async move {
            log("boxed polled");
            Ok(len + s.len())
        })
    }
    let opaque = opaque(1);
    let boxed = boxed("ab");
    log("awaited");
    assert_eq!(opaque.await, Ok(2));
    assert_eq!(boxed.await, Ok(4));
    assert_eq!(
        *LOG.lock().unwrap(),
        [
            "opaque called",
            "boxed called",
            "awaited",
            "opaque polled",
            "boxed polled"
        ]
    );
}

#[tokio::test]
async fn coercions_happen_in_a_block_that_is_returned() {
    #[circuit_breaker(service = "m73-coerce")]
    fn boxed(b: bool) -> Pin<Box<dyn Future<Output = Result<Box<dyn Debug>, E>>>> {
        Box::pin(async move {
            if b {
                return Ok(Box::new(1) as _);
            }
            Ok(Box::new("x"))
        })
    }
    #[circuit_breaker(service = "m72-coerce")]
    fn opaque(
        s: &str,
    ) -> impl Future<Output = Result<Box<dyn Debug>, Box<dyn std::error::Error + Send + Sync>>>
    {
        async move {
            let n: u32 = s.parse()?;
            Ok(Box::new(n))
        }
    }
    assert_eq!(format!("{:?}", boxed(true).await.unwrap()), "1");
    assert_eq!(format!("{:?}", opaque("3").await.unwrap()), "3");
    opaque("x").await.unwrap_err();
}

#[tokio::test]
async fn a_returned_future_has_a_fallback_of_its_own_scope() {
    #[circuit_breaker(service = "m72-fallback", threshold = 1, fallback = answer(n + 10).await)]
    fn opaque(n: u32) -> impl Future<Output = Result<u32, E>> + Send {
        async move { answer(n).await }
    }
    #[circuit_breaker(service = "m73-fallback", threshold = 1, fallback_when = any, fallback = |E| {
        let n = answer(n + 10).await?;
        Ok(n)
    })]
    fn boxed(n: u32) -> BoxFuture<'static, Result<u32, E>> {
        let future = answer(n);
        Box::pin(future)
    }
    assert_eq!(opaque(0).await, Err(E));
    assert_eq!(opaque(0).await, Ok(10));
    assert_eq!(boxed(0).await, Ok(10));
    assert_eq!(boxed(1).await, Ok(11));
}

/// M17 M18
mod async_trait_methods {
    use async_trait::async_trait;

    use super::*;

    #[derive(Clone)]
    pub struct S {
        name: &'static str,
        breaker: &'static Breaker,
        made: u32,
    }

    #[async_trait]
    pub trait Client: Sized + Send + Sync {
        async fn shared(&self, s: &str) -> Result<usize, E>;
        async fn exclusive(&mut self, mut n: u32) -> Result<&u32, E>;
        async fn owned(self, (a, b): (u32, u32)) -> Result<Self, E>;
        async fn generic<T: Send + Sync + Clone + 'static>(&self, value: &T) -> Result<Vec<T>, E>
        where
            T: Debug;
        async fn held(&self, fail: bool) -> Result<(), E>;
        async fn named(&self) -> Result<(), E>;
        async fn saved(&mut self, name: String) -> Result<String, E>;
        #[circuit_breaker(service = "m18", threshold = 1)]
        async fn provided(&self, fail: bool) -> Result<Box<dyn Debug + Send>, E> {
            if fail {
                return Err(E);
            }
            Ok(Box::new(1))
        }
    }

    #[async_trait]
    impl Client for S {
        #[circuit_breaker(service = "m17-shared")]
        async fn shared(&self, s: &str) -> Result<usize, E> {
            Ok(s.len() + self.name.len())
        }
        #[circuit_breaker(service = "m17-exclusive")]
        async fn exclusive(&mut self, mut n: u32) -> Result<&u32, E> {
            n += 1;
            self.made += n;
            Ok(&self.made)
        }
        #[circuit_breaker(service = "m17-owned")]
        async fn owned(mut self, (a, b): (u32, u32)) -> Result<Self, E> {
            self.made = a + b;
            Ok(self)
        }
        #[circuit_breaker(service = "m17-generic", fails_on = |_| true)]
        async fn generic<T: Send + Sync + Clone + 'static>(&self, value: &T) -> Result<Vec<T>, E>
        where
            T: Debug,
        {
            Ok(vec![value.clone()])
        }
        #[circuit_breaker(handle = self.breaker)]
        async fn held(&self, fail: bool) -> Result<(), E> {
            if fail { Err(E) } else { Ok(()) }
        }
        #[circuit_breaker(service = self.name)]
        async fn named(&self) -> Result<(), E> {
            Ok(())
        }
        #[circuit_breaker(service = "m17-saved", threshold = 1, fallback = Ok(name + self.name))]
        async fn saved(&mut self, name: String) -> Result<String, E> {
            self.made += 1;
            drop(name);
            Err(E)
        }
    }

    #[tokio::test]
    async fn methods_of_async_trait_are_guarded_inside_their_box() {
        #[circuit_breaker(service = "m17-held")]
        fn declare() -> Result<(), E> {
            Ok(())
        }
        declare().unwrap();
        let mut s = S {
            name: "m17-named",
            breaker: breaker("m17-held"),
            made: 0,
        };
        assert_eq!(s.shared("abc").await, Ok(12));
        assert_eq!(s.exclusive(1).await, Ok(&2));
        assert_eq!(s.clone().owned((1, 2)).await.unwrap().made, 3);
        assert_eq!(s.generic(&1).await, Ok(vec![1]));
        assert_eq!(s.held(true).await, Err(E));
        assert_eq!(s.named().await, Ok(()));
        drop(s.shared("not polled"));
        assert_eq!(s.saved("x".into()).await, Err(E));
        assert_eq!(s.saved("x-".into()).await, Ok("x-m17-named".into()));
        assert_eq!(s.made, 3);

        s.provided(true).await.unwrap_err();
        s.provided(false).await.unwrap_err();
        assert_eq!(calls("m18").rejected, 1);
        for service in [
            "m17-shared",
            "m17-exclusive",
            "m17-owned",
            "m17-generic",
            "m17-named",
        ] {
            assert_eq!(calls(service).success, 1, "{service}");
        }
        assert_eq!(
            (calls("m17-held").success, calls("m17-held").failure),
            (1, 1)
        );
    }

    /// B238
    #[async_trait]
    pub trait Lifetimes {
        async fn f<'a>(&'a self, s: &'a str, t: &str) -> Result<&'a str, E>;
    }
    #[async_trait]
    impl Lifetimes for S {
        #[circuit_breaker(service = "b238")]
        async fn f<'a>(&'a self, s: &'a str, t: &str) -> Result<&'a str, E> {
            if t.is_empty() { Ok(s) } else { Ok(self.name) }
        }
    }

    #[tokio::test]
    async fn a_breaker_named_in_a_field_is_known_to_boards_after_its_first_call() {
        let s = S {
            name: "m17-field",
            breaker: breaker("m17-shared"),
            made: 0,
        };
        assert_eq!(s.f("a", "").await, Ok("a"));
        assert!(breakerbox::breaker("m17-field").is_none());
        s.named().await.unwrap();
        assert_eq!(calls("m17-field").success, 1);
    }
}
