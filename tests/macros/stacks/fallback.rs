//! When a fallback runs, what it is given, and what nobody hears of.

use std::error::Error as _;

use breakerbox::FirstError;
use breakerbox::KeepsFirst;
use breakerbox::Rejected;
use breakerbox::RejectedKind;
use breakerbox::State;
use breakerbox::TimedOut;
use breakerbox::bulkhead;
use breakerbox::circuit_breaker;
use breakerbox::fallback;
use breakerbox::retry;
use breakerbox::timeout;
use tokio::time::Instant;

use super::Count;
use super::PayError;
use super::SECOND;
use super::hang;
use super::is_server;
use crate::macros::breaker;
use crate::macros::calls;

type R = Result<u32, PayError>;

/// I11 I12 B085 B086
#[tokio::test(start_paused = true)]
async fn a_fallback_answers_what_was_rejected_and_is_given_why() {
    static BODY: Count = Count::new();
    #[fallback(|rejected: Rejected| {
        assert_eq!(rejected.kind(), RejectedKind::Open);
        Ok(name.len() as u32)
    })]
    #[circuit_breaker(service = "stack-fallback-open", threshold = 1)]
    async fn f(name: String, fails: bool) -> R {
        BODY.begin();
        drop(name);
        if fails {
            Err(PayError::Status(500))
        } else {
            Ok(223)
        }
    }
    assert_eq!(f("ab".into(), false).await, Ok(223));
    assert_eq!(f("ab".into(), true).await, Err(PayError::Status(500)));
    assert_eq!(f("ab".into(), false).await, Ok(2));
    assert_eq!(BODY.get(), 2);
    assert_eq!(calls("stack-fallback-open").rejected, 1);
}

/// A rejection that comes out of the body is the body's error.
#[tokio::test(start_paused = true)]
async fn a_nested_rejection_does_not_call_the_fallback() {
    #[circuit_breaker(service = "stack-fallback-nested", threshold = 1)]
    async fn inner() -> R {
        Err(PayError::Status(500))
    }
    #[fallback(Ok(7))]
    #[circuit_breaker(service = "stack-fallback-outer", threshold = 9)]
    async fn outer() -> R {
        inner().await
    }
    assert_eq!(outer().await, Err(PayError::Status(500)));
    assert_eq!(outer().await.unwrap_err().kind(), Some(RejectedKind::Open));
    assert_eq!(calls("stack-fallback-outer").failure, 2);
}

/// Every occasion, over one breaker and one timeout.
#[tokio::test(start_paused = true)]
async fn each_occasion_is_answered_and_no_other() {
    macro_rules! check {
        ($service:literal, $when:tt, $closure:expr; $($expected:tt)*) => {{
            #[fallback($closure, when = $when)]
            #[circuit_breaker(service = $service, threshold = 3, fails_on = is_server)]
            #[timeout("1s")]
            async fn f(status: u16) -> R {
                match status {
                    0 => hang().await,
                    200 => Ok(200),
                    _ => Err(PayError::Status(status)),
                }
            }
            let mut answered = Vec::new();
            for status in [200, 404, 500, 0, 503, 200] {
                answered.push(f(status).await == Ok(7));
            }
            assert_eq!(answered, [$($expected)*], $service);
            assert_eq!(breaker($service).state(), State::Open, $service);
            assert_eq!(calls($service).failure, 3, $service);
            assert_eq!(calls($service).rejected, 1, $service);
        }};
    }
    check!("occasion-1", rejected, Ok(7); false, false, false, false, false, true);
    check!("occasion-2", timed_out, Ok(7); false, false, false, true, false, false);
    check!("occasion-3", failed, Ok(7); false, false, true, false, true, false);
    check!("occasion-4", any, Ok(7); false, false, true, true, true, true);
    check!("occasion-5", is_server, Ok(7); false, false, true, false, true, false);
}

#[tokio::test(start_paused = true)]
async fn a_closure_is_given_the_error_and_may_await_and_return() {
    #[fallback(
        |error| {
            tokio::task::yield_now().await;
            match error {
                PayError::Rejected(_) => Ok(1),
                PayError::TimedOut(_) => return Ok(2),
                PayError::Status(_) => Err(error)?,
            }
        },
        when = any
    )]
    #[circuit_breaker(service = "stack-fallback-closure", threshold = 2)]
    #[timeout("1s")]
    async fn f(hangs: bool) -> R {
        if hangs {
            hang().await
        } else {
            Err(PayError::Status(500))
        }
    }
    assert_eq!(f(true).await, Ok(2));
    assert_eq!(f(false).await, Err(PayError::Status(500)));
    assert_eq!(f(false).await, Ok(1));
}

/// B076
#[tokio::test(start_paused = true)]
async fn a_fallback_inside_of_a_retry_is_an_attempt() {
    static BODY: Count = Count::new();
    static FALLBACK: Count = Count::new();
    #[retry(idempotent)]
    #[fallback(answer(FALLBACK.begin()), when = failed)]
    async fn f() -> R {
        BODY.begin();
        Err(PayError::Status(500))
    }
    fn answer(n: u32) -> R {
        if n == 2 {
            Ok(n)
        } else {
            Err(PayError::Status(1))
        }
    }
    assert_eq!(f().await, Ok(2));
    assert_eq!((BODY.get(), FALLBACK.get()), (2, 2));
}

/// The money rule inside of a retry: a later refusal does not call the fallback.
#[tokio::test(start_paused = true)]
async fn a_refused_attempt_after_one_that_ran_is_not_the_fallbacks() {
    static FALLBACK: Count = Count::new();
    #[retry(idempotent)]
    #[fallback({ FALLBACK.begin(); Ok(7) })]
    #[circuit_breaker(service = "stack-fallback-in-retry", threshold = 1)]
    async fn f() -> R {
        Err(PayError::Status(500))
    }
    assert_eq!(f().await, Err(PayError::Status(500)));
    assert_eq!(FALLBACK.get(), 0);
    assert_eq!(f().await, Ok(7));
    assert_eq!(FALLBACK.get(), 1);
}

/// A fallback inside of a timeout has no more time than that.
#[tokio::test(start_paused = true)]
async fn a_deadline_holds_for_a_fallback_below_it() {
    #[timeout("5s")]
    #[fallback({ tokio::time::sleep(wait * SECOND).await; Ok(7) }, when = timed_out)]
    #[timeout("2s")]
    async fn f(wait: u32) -> R {
        hang().await
    }
    assert_eq!(f(1).await, Ok(7));
    let now = Instant::now();
    assert!(matches!(f(60).await, Err(PayError::TimedOut(_))));
    assert_eq!(now.elapsed(), 5 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn two_fallbacks_answer_two_occasions() {
    #[fallback(Ok(1))]
    #[fallback(Ok(2), when = failed)]
    #[bulkhead(service = "stack-fallback-two", max_concurrent = 1)]
    async fn f() -> R {
        tokio::task::yield_now().await;
        Err(PayError::Status(500))
    }
    let (a, b) = tokio::join!(f(), f());
    assert_eq!((a, b), (Ok(2), Ok(1)));
}

/// Where nothing can be an error, a fallback stands for it.
#[tokio::test]
async fn a_function_that_returns_no_result_has_a_fallback_all_the_same() {
    #[fallback(None)]
    #[circuit_breaker(
        service = "stack-fallback-option",
        threshold = 1,
        classify = |out: &Option<u32>| out.is_none()
    )]
    async fn f(out: Option<u32>) -> Option<u32> {
        out
    }
    assert_eq!(f(Some(1)).await, Some(1));
    assert_eq!(f(None).await, None);
    assert_eq!(f(Some(1)).await, None);
}

/// A decline is an answer: nobody else is asked, whichever attempt brought it.
#[tokio::test(start_paused = true)]
async fn an_error_that_is_no_failure_is_the_callers_also_after_one_that_was() {
    static BODY: Count = Count::new();
    #[fallback(Ok(7), when = any)]
    #[retry(idempotent, attempts = 2)]
    #[circuit_breaker(service = "stack-fallback-counted", threshold = 9, fails_on = is_server)]
    async fn f() -> R {
        match BODY.begin() {
            1 => Err(PayError::Status(500)),
            _ => Err(PayError::Status(402)),
        }
    }
    assert_eq!(f().await, Err(PayError::Status(402)));
    assert_eq!(calls("stack-fallback-counted").success, 1);
}

/// The outer one is asked about what the inner one has answered.
#[tokio::test(start_paused = true)]
async fn a_fallback_that_fails_may_have_a_fallback() {
    #[fallback(Ok(2), when = failed)]
    #[fallback(answer, when = timed_out)]
    #[circuit_breaker(service = "stack-fallback-twice", threshold = 2)]
    #[timeout("1s")]
    async fn f(answer: R) -> R {
        hang().await
    }
    assert_eq!(f(Err(PayError::Status(1))).await, Ok(2));
    assert_eq!(f(Ok(1)).await, Ok(1));
    assert_eq!(calls("stack-fallback-twice").failure, 2);
}

/// It is counted, and a retry above it sees it.
#[tokio::test(start_paused = true)]
async fn what_leaves_a_fallback_early_is_its_answer() {
    static BODY: Count = Count::new();
    #[retry(idempotent)]
    #[fallback(Ok(nobody()? + 1), when = any)]
    #[circuit_breaker(service = "fallback-leaves", threshold = 9)]
    async fn f() -> R {
        BODY.begin();
        Err(PayError::Status(500))
    }
    const fn nobody() -> R {
        Err(PayError::Status(404))
    }
    assert_eq!(f().await, Err(PayError::Status(404)));
    assert_eq!(BODY.get(), 3);
    assert_eq!(breakerbox::policies("fallback-leaves").fallbacks(), [0, 3]);
}

#[test]
fn what_leaves_a_fallback_early_is_its_answer_on_a_thread_too() {
    #[fallback(
        {
            if true {
                return Ok(7);
            }
            Err(PayError::Status(404))
        },
        when = any
    )]
    #[circuit_breaker(service = "fallback-leaves-thread", threshold = 9)]
    fn f() -> R {
        Err(PayError::Status(500))
    }
    assert_eq!(f(), Ok(7));
    let counted = breakerbox::policies("fallback-leaves-thread").fallbacks();
    assert_eq!(counted, [1, 0]);
}

/// The error of a fallback that fails, and the one that it was to answer for.
#[derive(Debug, thiserror::Error)]
enum BothFailed {
    #[error(transparent)]
    Rejected(#[from] Rejected),
    #[error(transparent)]
    TimedOut(#[from] TimedOut),
    #[error("the first provider failed")]
    First,
    #[error("the other provider failed")]
    Other,
    #[error("{second}, too")]
    Both {
        second: Box<Self>,
        source: FirstError,
    },
}

impl KeepsFirst for BothFailed {
    fn keep_first(self, first: FirstError) -> Self {
        Self::Both {
            second: Box::new(self),
            source: first,
        }
    }
}

type Kept = Result<u32, BothFailed>;

/// What an error says, and what its source does.
#[track_caller]
fn told(out: Kept) -> (String, String) {
    let error = out.unwrap_err();
    let source = error.source().expect("it keeps the first");
    (error.to_string(), source.to_string())
}

/// I13
#[tokio::test(start_paused = true)]
async fn a_fallback_that_fails_keeps_the_first_error_and_the_breaker_does_not_hear_of_it() {
    #[fallback(Err(BothFailed::Other), when = any)]
    #[circuit_breaker(service = "fallback-fails-too", threshold = 2)]
    #[timeout("1s")]
    async fn f(hangs: bool) -> Kept {
        if hangs {
            hang().await
        } else {
            Err(BothFailed::First)
        }
    }
    let (error, source) = told(f(false).await);
    assert_eq!(error, "the other provider failed, too");
    assert_eq!(source, "the first provider failed");
    let error = f(true).await.unwrap_err();
    assert!(TimedOut::find(&error).is_some(), "nobody knows");
    let error = f(false).await.unwrap_err();
    let BothFailed::Both { source, .. } = &error else {
        panic!("{error:?}");
    };
    assert!(Rejected::find(source.get()).is_some());
    // The other provider has been called.
    assert_eq!(Rejected::find(&error), None);
    let calls = calls("fallback-fails-too");
    assert_eq!((calls.failure, calls.rejected), (2, 1));
    assert_eq!(
        breakerbox::policies("fallback-fails-too").fallbacks(),
        [0, 3]
    );
}

/// I13: on every occasion, and wherever the code is left.
#[tokio::test(start_paused = true)]
async fn each_occasion_keeps_its_first_error() {
    fn other() -> Kept {
        Err(BothFailed::Other)
    }
    fn is_any(_: &BothFailed) -> bool {
        true
    }
    macro_rules! check {
        ($service:literal, $when:tt, $($first:literal)*) => {{
            #[fallback({ tokio::task::yield_now().await; Ok(other()? + 1) }, when = $when)]
            #[circuit_breaker(service = $service, threshold = 2)]
            #[timeout("1s")]
            async fn f(hangs: bool) -> Kept {
                if hangs {
                    hang().await
                } else {
                    Err(BothFailed::First)
                }
            }
            fn is_sent<T: Send>(it: T) -> T {
                it
            }
            let mut kept = Vec::new();
            for hangs in [false, true, false] {
                let error = is_sent(f(hangs)).await.unwrap_err();
                if let BothFailed::Both { second, source } = error {
                    assert_eq!(second.to_string(), "the other provider failed");
                    let first: String = source.to_string();
                    kept.push(first.split(' ').next().unwrap_or_default().to_owned());
                }
            }
            assert_eq!(kept, [$($first),*] as [&str; _], $service);
        }};
    }
    check!("keeps-1", rejected, "circuit");
    check!("keeps-2", timed_out, "`keeps-2`");
    check!("keeps-3", failed, "the");
    check!("keeps-4", any, "the" "`keeps-4`" "circuit");
    check!("keeps-5", is_any, "the" "`keeps-5`" "circuit");
}

/// What an outer fallback answers for is the error of the inner one, with all it keeps.
#[tokio::test(start_paused = true)]
async fn a_second_fallback_keeps_what_the_first_one_kept() {
    #[timeout("9s")]
    #[fallback(Err(BothFailed::Other), when = failed)]
    #[fallback(Err(BothFailed::Other))]
    #[bulkhead(service = "keeps-twice", max_concurrent = 1)]
    async fn f() -> Kept {
        tokio::task::yield_now().await;
        Ok(1)
    }
    let (first, second) = tokio::join!(f(), f());
    assert_eq!(first.unwrap(), 1);
    let error = second.unwrap_err();
    assert_eq!(Rejected::find(&error), None);
    let (error, source) = told(Err(error));
    assert_eq!(error, "the other provider failed, too");
    assert_eq!(source, "the other provider failed, too");
}

#[test]
fn a_thread_keeps_the_first_error_too() {
    #[fallback(Err(BothFailed::Other), when = failed)]
    #[bulkhead(service = "keeps-thread", max_concurrent = 1)]
    fn f(name: &str) -> Result<std::slice::Iter<'_, u8>, BothFailed> {
        let _ = name;
        Err(BothFailed::First)
    }
    let error = f("a").map(|_| 1).unwrap_err();
    assert_eq!(told(Err(error)).1, "the first provider failed");
}

/// A success that counts as a failure is no error to keep.
#[tokio::test]
async fn there_is_nothing_to_keep_where_nothing_was_an_error() {
    #[fallback(Err(BothFailed::Other), when = failed)]
    #[circuit_breaker(service = "keeps-nothing", classify = |_: &Kept| true)]
    async fn f() -> Kept {
        Ok(7)
    }
    let error = f().await.unwrap_err();
    assert!(matches!(error, BothFailed::Other), "{error:?}");
}

/// I13: a closure has the first error at hand, and nobody puts it there twice.
#[tokio::test]
async fn a_closure_keeps_the_first_error_itself() {
    #[fallback(
        |first| Err(BothFailed::Both {
            second: BothFailed::Other.into(),
            source: FirstError::new(first),
        }),
        when = any
    )]
    #[circuit_breaker(service = "keeps-closure", threshold = 1)]
    async fn f() -> Kept {
        Err(BothFailed::First)
    }
    let (error, source) = told(f().await);
    assert_eq!(error, "the other provider failed, too");
    assert_eq!(source, "the first provider failed");
    assert_eq!(Rejected::find(&f().await.unwrap_err()), None);
}

/// An error type that nobody has written it for gets through as it is, also one that only the
/// caller knows, or that is behind an `impl`.
#[tokio::test]
async fn errors_that_keep_nothing_are_left_alone() {
    #[fallback(Err(error.into()), when = failed)]
    #[bulkhead(service = "keeps-generic", max_concurrent = 1)]
    async fn generic<E: From<Rejected> + From<u8>>(error: u8) -> Result<impl Send, E> {
        Err::<u8, E>(E::from(error + 1))
    }
    #[fallback(Err(E::from(1)), when = failed)]
    #[bulkhead(service = "keeps-generic", max_concurrent = 1)]
    async fn named<E: From<Rejected> + From<u8>>() -> Result<u8, E> {
        Err(E::from(2))
    }
    #[derive(Debug, PartialEq)]
    struct Bare(u8);
    impl From<u8> for Bare {
        fn from(number: u8) -> Self {
            Self(number)
        }
    }
    impl From<Rejected> for Bare {
        fn from(_: Rejected) -> Self {
            Self(0)
        }
    }
    assert!(matches!(generic::<Bare>(7).await, Err(Bare(7))));
    assert_eq!(named::<Bare>().await, Err(Bare(1)));
}
