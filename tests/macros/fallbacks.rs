//! `fallback`, `fallback_when`, `map_rejected` and `wrap_error`: what the caller gets.

use std::io;

use breakerbox::Error;
use breakerbox::Rejected;
use breakerbox::State;
use breakerbox::Verdict;
use breakerbox::circuit_breaker;

use crate::macros::Big;
use crate::macros::breaker;
use crate::macros::calls;

async fn cached(n: u16) -> Result<u16, Big> {
    tokio::task::yield_now().await;
    if n == 99 {
        Err(Big::Status(0))
    } else {
        Ok(n + 1000)
    }
}

fn answer(status: u16) -> Result<u16, Big> {
    if status < 300 {
        Ok(status)
    } else {
        Err(Big::Status(status))
    }
}

#[tokio::test]
async fn a_fallback_answers_rejections_and_nothing_else() {
    #[circuit_breaker(service = "fallback-plain", threshold = 1, fallback = cached(status).await)]
    async fn f(status: u16) -> Result<u16, Big> {
        answer(status)
    }
    assert_eq!(f(500).await, Err(Big::Status(500)));
    assert_eq!(f(200).await, Ok(1200));
    assert_eq!(calls("fallback-plain").rejected, 1);
}

#[tokio::test]
async fn a_fallback_may_take_the_arguments() {
    #[circuit_breaker(service = "fallback-move", threshold = 1, fallback = Ok(name))]
    async fn f(name: String) -> Result<String, Big> {
        drop(name);
        Err(Big::Status(500))
    }
    #[circuit_breaker(service = "fallback-move-sync", threshold = 1, fallback = { let name = name; Ok(name) })]
    fn g(mut name: String) -> Result<String, Big> {
        name.push('!');
        Err(Big::Status(name.len() as u16))
    }
    #[circuit_breaker(service = "fallback-mut", threshold = 1, fallback = {
        name.push_str(&other);
        Ok(name)
    })]
    async fn h(mut name: String, other: String) -> Result<String, Big> {
        drop((name, other));
        Err(Big::Status(500))
    }
    f("a".into()).await.unwrap_err();
    assert_eq!(f("a".into()).await, Ok("a".into()));
    h("a".into(), "b".into()).await.unwrap_err();
    assert_eq!(h("a".into(), "b".into()).await, Ok("ab".into()));
    g("a".into()).unwrap_err();
    assert_eq!(g("a".into()), Ok("a".into()));
}

#[tokio::test]
async fn a_fallback_closure_is_given_the_rejection_and_may_await_and_return() {
    #[circuit_breaker(service = "fallback-closure", threshold = 1, fallback = |rejected| {
        if status == 1 {
            return Err(Big::Rejected(rejected));
        }
        let n = cached(status).await?;
        assert_eq!(rejected.service(), "fallback-closure");
        Ok(n)
    })]
    async fn f(status: u16) -> Result<u16, Big> {
        answer(status)
    }
    f(500).await.unwrap_err();
    assert_eq!(f(200).await, Ok(1200));
    assert_eq!(f(99).await, Err(Big::Status(0)));
    assert!(matches!(f(1).await, Err(Big::Rejected(_))));

    #[circuit_breaker(service = "fallback-typed", threshold = 1, fallback = |_: Rejected| -> Result<u16, Big> { Ok(7) })]
    fn typed(status: u16) -> Result<u16, Big> {
        answer(status)
    }
    typed(500).unwrap_err();
    assert_eq!(typed(200), Ok(7));

    #[circuit_breaker(service = "fallback-diverges", threshold = 1, fallback = |_| panic!("no answer"))]
    fn diverges(status: u16) -> Result<u16, Big> {
        answer(status)
    }
    assert_eq!(diverges(200), Ok(200));
}

#[tokio::test]
async fn a_fallback_for_failures_runs_after_the_breaker_knows() {
    #[circuit_breaker(
        service = "fallback-failed",
        threshold = 2,
        fails_on = matches(Big::Status(500..)),
        fallback_when = failed,
        fallback = |error| {
            let Big::Status(status) = error else { panic!("{error}") };
            cached(status).await
        }
    )]
    async fn f(status: u16) -> Result<u16, Big> {
        answer(status)
    }
    assert_eq!(f(200).await, Ok(200));
    assert_eq!(f(500).await, Ok(1500));
    // An error that does not count is the caller's.
    assert_eq!(f(404).await, Err(Big::Status(404)));
    assert_eq!(f(500).await, Ok(1500));
    assert_eq!(f(501).await, Ok(1501));
    assert_eq!(breaker("fallback-failed").state(), State::Open);
    // A rejection is no failure of the call.
    assert!(matches!(f(200).await, Err(Big::Rejected(_))));
    let calls = calls("fallback-failed");
    assert_eq!((calls.success, calls.failure, calls.rejected), (2, 3, 1));
}

#[tokio::test]
async fn a_fallback_for_anything_runs_for_failures_and_rejections() {
    #[circuit_breaker(
        service = "fallback-any",
        threshold = 1,
        ignores = matches(Big::Status(404)),
        fallback_when = any,
        fallback = |error| match error {
            Big::Rejected(_) => Ok(1),
            _ => Ok(2),
        }
    )]
    async fn closure(status: u16) -> Result<u16, Big> {
        answer(status)
    }
    assert_eq!(closure(200).await, Ok(200));
    assert_eq!(closure(404).await, Err(Big::Status(404)));
    assert_eq!(closure(500).await, Ok(2));
    assert_eq!(closure(200).await, Ok(1));

    #[circuit_breaker(service = "fallback-any-value", threshold = 1, fallback_when = any, fallback = Ok(3))]
    fn value(status: u16) -> Result<u16, Big> {
        answer(status)
    }
    assert_eq!(value(500), Ok(3));
    assert_eq!(value(200), Ok(3));
    assert_eq!(calls("fallback-any-value").failure, 1);

    #[circuit_breaker(
        service = "fallback-any-mapped",
        threshold = 1,
        map_rejected = |_| Big::Status(0),
        fallback_when = any,
        fallback = |error| Err(error)
    )]
    fn mapped(status: u16) -> Result<u16, Big> {
        answer(status)
    }
    assert_eq!(mapped(500), Err(Big::Status(500)));
    assert_eq!(mapped(200), Err(Big::Status(0)));
}

#[tokio::test]
async fn a_fallback_may_ask_the_error() {
    fn is_busy(error: &Big) -> bool {
        matches!(error, Big::Status(503))
    }
    #[circuit_breaker(service = "fallback-path", fallback_when = is_busy, fallback = Ok(1))]
    async fn path(status: u16) -> Result<u16, Big> {
        answer(status)
    }
    #[circuit_breaker(
        service = "fallback-asks",
        threshold = 3,
        fails_on = matches(Big::Status(500..)),
        fallback_when = |error| is_busy(error) || matches!(error, Big::Status(404)),
        fallback = |error| if is_busy(&error) { Ok(1) } else { Ok(2) }
    )]
    async fn closure(status: u16) -> Result<u16, Big> {
        answer(status)
    }
    assert_eq!(path(503).await, Ok(1));
    assert_eq!(path(500).await, Err(Big::Status(500)));
    assert_eq!(closure(503).await, Ok(1));
    assert_eq!(closure(500).await, Err(Big::Status(500)));
    // It is filtered: the service answered.
    assert_eq!(closure(404).await, Err(Big::Status(404)));
    for _ in 0..3 {
        closure(503).await.unwrap();
    }
    assert!(matches!(closure(200).await, Err(Big::Rejected(_))));
}

#[tokio::test]
async fn a_fallback_goes_with_a_verdict_about_the_output() {
    #[circuit_breaker(
        service = "fallback-classify",
        threshold = 2,
        classify = |out: &Option<u16>| match out {
            Some(404) => Verdict::Ignore,
            Some(_) => Verdict::Success,
            None => Verdict::Failure,
        },
        fallback_when = any,
        fallback = Some(1)
    )]
    async fn f(out: Option<u16>) -> Option<u16> {
        out
    }
    assert_eq!(f(Some(200)).await, Some(200));
    assert_eq!(f(Some(404)).await, Some(404));
    assert_eq!(f(None).await, Some(1));
    assert_eq!(f(None).await, Some(1));
    assert_eq!(f(Some(200)).await, Some(1));
    assert_eq!(calls("fallback-classify").rejected, 1);
}

#[tokio::test]
async fn map_rejected_makes_any_error() {
    #[derive(Debug, PartialEq)]
    struct Foreign(&'static str);
    fn unavailable(rejected: Rejected) -> Foreign {
        Foreign(rejected.service())
    }
    #[circuit_breaker(service = "map-path", threshold = 1, map_rejected = unavailable)]
    async fn path() -> Result<u16, Foreign> {
        Err(Foreign("own"))
    }
    #[circuit_breaker(service = "map-closure", threshold = 1, map_rejected = |_| Foreign(name))]
    fn closure(name: &'static str) -> Result<u16, Foreign> {
        Err(Foreign("own"))
    }
    assert_eq!(path().await, Err(Foreign("own")));
    assert_eq!(path().await, Err(Foreign("map-path")));
    assert_eq!(closure("x"), Err(Foreign("own")));
    assert_eq!(closure("x"), Err(Foreign("x")));
}

#[tokio::test]
async fn wrap_error_keeps_the_body_and_the_predicates_on_the_plain_error() {
    fn is_timeout(error: &io::Error) -> bool {
        error.kind() == io::ErrorKind::TimedOut
    }
    #[circuit_breaker(service = "wrap", threshold = 1, wrap_error, fails_on = is_timeout)]
    async fn f(text: &str) -> Result<u16, Error<io::Error>> {
        if text.is_empty() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let n = text.parse().map_err(io::Error::other)?;
        Ok(n)
    }
    assert_eq!(f("7").await.unwrap(), 7);
    assert!(matches!(f("x").await, Err(Error::Inner(_))));
    assert!(matches!(f("").await, Err(Error::Inner(error)) if is_timeout(&error)));
    assert!(matches!(f("7").await, Err(Error::Rejected(_))));

    #[circuit_breaker(
        service = "wrap-fallback",
        threshold = 1,
        wrap_error,
        fallback_when = any,
        fallback = |error| match error {
            Error::Inner(error) if error.kind() == io::ErrorKind::Other => Ok(vec![1].into_iter()),
            Error::Rejected(_) => Ok(vec![2].into_iter()),
            error => Err(error),
        }
    )]
    fn sync(fail: bool) -> Result<std::vec::IntoIter<u8>, Error<io::Error>> {
        if fail {
            Err(io::Error::other("x"))?
        }
        Ok(vec![].into_iter())
    }
    assert_eq!(sync(false).unwrap().next(), None);
    assert_eq!(sync(true).unwrap().next(), Some(1));
    assert_eq!(sync(false).unwrap().next(), Some(2));

    #[circuit_breaker(service = "wrap-impl", wrap_error)]
    async fn opaque() -> Result<impl Iterator<Item = u8>, Error<io::Error>> {
        Ok([1, 2].into_iter())
    }
    #[circuit_breaker(service = "wrap-boxed", wrap_error)]
    fn boxed() -> std::pin::Pin<Box<dyn Future<Output = Result<u8, Error<io::Error>>> + Send>> {
        Box::pin(async {
            if false {
                Err(io::Error::other("x"))?
            }
            Ok(3)
        })
    }
    assert_eq!(opaque().await.unwrap().sum::<u8>(), 3);
    assert_eq!(boxed().await.unwrap(), 3);
}

/// The predicate sees every failure there is, also that of a call that was not made.
#[tokio::test]
async fn a_predicate_is_asked_about_rejections_as_well() {
    #[circuit_breaker(
        service = "fallback-asked",
        threshold = 1,
        fallback_when = |error| matches!(error, Big::Rejected(_)),
        fallback = |error| {
            assert!(matches!(error, Big::Rejected(_)));
            Ok(1)
        }
    )]
    async fn inline() -> Result<u32, Big> {
        Err(Big::Status(500))
    }
    #[circuit_breaker(service = "fallback-asked", threshold = 1, fallback_when = not_rejected, fallback = Ok(2))]
    async fn value() -> Result<u32, Big> {
        Err(Big::Status(500))
    }
    fn not_rejected(error: &Big) -> bool {
        !matches!(error, Big::Rejected(_))
    }
    assert!(matches!(inline().await, Err(Big::Status(500))));
    assert!(matches!(inline().await, Ok(1)));
    assert!(matches!(value().await, Err(Big::Rejected(_))));
}

/// With `wrap_error` it sees what the caller would get.
#[tokio::test]
async fn with_wrap_error_the_predicate_sees_the_wrapper() {
    type Wrapped = Result<u32, Error<std::fmt::Error>>;

    #[circuit_breaker(
        service = "fallback-wrapped",
        threshold = 1,
        wrap_error,
        fallback_when = |error| error.rejected().is_some(),
        fallback = Ok(1)
    )]
    async fn call() -> Wrapped {
        Err(std::fmt::Error)
    }
    assert!(matches!(call().await, Err(Error::Inner(_))));
    assert!(matches!(call().await, Ok(1)));
}
