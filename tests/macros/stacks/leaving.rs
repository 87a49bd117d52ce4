//! A fallback that is left early, in every kind of function and place.

use std::ops::ControlFlow;
use std::pin::Pin;

use breakerbox::bulkhead;
use breakerbox::circuit_breaker;
use breakerbox::fallback;
use breakerbox::policies;
use breakerbox::resilient;
use breakerbox::retry;
use breakerbox::timeout;

use super::Count;
use super::PayError;
use super::SECOND;
use super::hang;

type R = Result<u32, PayError>;

const fn nobody() -> R {
    Err(PayError::Status(404))
}

fn fallbacks(service: &str) -> [u64; 2] {
    policies(service).fallbacks()
}

/// What leaves the inner one is an answer of its own, for the outer to answer in turn.
#[tokio::test(start_paused = true)]
async fn what_leaves_the_inner_fallback_early_is_seen_by_the_outer_one() {
    #[fallback(|error| match error {
        PayError::Status(404) => Ok(1),
        _ => return Err(error),
    }, when = failed)]
    #[fallback(Ok(nobody()? + 1), when = timed_out)]
    #[circuit_breaker(service = "leaves-inner", threshold = 9)]
    #[timeout("1s")]
    async fn f(hangs: bool) -> R {
        if hangs {
            hang().await
        } else {
            Err(PayError::Status(500))
        }
    }
    assert_eq!(f(true).await, Ok(1));
    assert_eq!(f(false).await, Err(PayError::Status(500)));
    // The inner one failed once; the outer one answered once and gave up once.
    assert_eq!(fallbacks("leaves-inner"), [1, 2]);
}

/// It leaves the fallback, and neither the retry around it nor the function.
#[tokio::test(start_paused = true)]
async fn leaving_it_early_is_one_attempt_of_the_retry_around_it() {
    static BODY: Count = Count::new();
    static FALLBACK: Count = Count::new();
    #[retry(retry_on = |error| matches!(error, PayError::Status(404)), attempts = 4)]
    #[fallback(
        {
            if FALLBACK.begin() == 3 {
                return Ok(3);
            }
            nobody()?;
            unreachable!()
        },
        when = any
    )]
    #[circuit_breaker(service = "leaves-retry", threshold = 9)]
    async fn f() -> R {
        BODY.begin();
        Err(PayError::Status(500))
    }
    assert_eq!(f().await, Ok(3));
    assert_eq!((BODY.get(), FALLBACK.get()), (3, 3));
    assert_eq!(fallbacks("leaves-retry"), [1, 2]);
}

/// What is left early inside of it, by a closure, a block or a future of its own, is not it.
#[tokio::test(start_paused = true)]
async fn what_leaves_something_inside_of_a_fallback_does_not_leave_it() {
    #[fallback(
        {
            let closure = || -> R { Ok(nobody()? + 1) };
            let future = async {
                if nobody().is_err() {
                    return nobody();
                }
                Ok::<u32, PayError>(1)
            };
            let block = 'block: {
                for n in 0..5 {
                    if n == 3 {
                        break 'block n;
                    }
                }
                9
            };
            let flow = (0..9).try_for_each(|n| match n {
                4 => ControlFlow::Break(n),
                _ => ControlFlow::Continue(()),
            });
            let failed = [closure().is_err(), future.await.is_err()];
            Ok(block + u32::from(failed == [true; 2]) * 10 + u32::from(flow.is_break()) * 100)
        },
        when = any
    )]
    #[circuit_breaker(service = "leaves-inside")]
    async fn f() -> R {
        Err(PayError::Status(500))
    }
    assert_eq!(f().await, Ok(113));
    assert_eq!(fallbacks("leaves-inside"), [1, 0]);
}

/// Under a deadline, and when that strikes it.
#[tokio::test(start_paused = true)]
async fn a_fallback_under_a_timeout_is_left_early_or_given_up() {
    #[timeout("5s")]
    #[fallback(
        |error| {
            match error {
                PayError::Status(1) => return Ok(7),
                PayError::Status(2) => nobody()?,
                _ => hang().await,
            };
            Ok(8)
        },
        when = any
    )]
    #[circuit_breaker(service = "leaves-bounded", threshold = 9)]
    async fn f(status: u16) -> R {
        Err(PayError::Status(status))
    }
    assert_eq!(f(1).await, Ok(7));
    assert_eq!(f(2).await, Err(PayError::Status(404)));
    assert!(matches!(f(3).await, Err(PayError::TimedOut(_))));
    // What was given up gave no answer.
    assert_eq!(fallbacks("leaves-bounded"), [1, 1]);
}

#[allow(clippy::manual_async_fn)]
#[fallback(Ok(nobody()? + 1), when = any)]
#[circuit_breaker(service = "leaves-block")]
fn block(status: u16) -> impl Future<Output = R> + Send {
    async move { Err(PayError::Status(status)) }
}

#[fallback(if name.len() > 1 { return Ok(2) } else { Ok(nobody()?) }, when = rejected)]
#[bulkhead(service = "leaves-boxed", max_concurrent = 1)]
fn boxed<'a>(name: String) -> Pin<Box<dyn Future<Output = R> + Send + 'a>> {
    Box::pin(async move {
        hang::<()>().await;
        drop(name);
        Ok(1)
    })
}

struct Client {
    backup: R,
}

impl Client {
    #[resilient(
        service = "leaves-method",
        fallback(|error| Ok(self.backup.clone().map_err(|_| error)? + 1), when = any),
        circuit_breaker(threshold = 9),
    )]
    async fn by_ref(&self) -> R {
        Err(PayError::Status(500))
    }

    #[fallback({ self.backup = Ok(self.backup.clone()? + 1); Ok(0) }, when = any)]
    #[circuit_breaker(service = "leaves-method", threshold = 9)]
    fn by_mut(&mut self) -> R {
        Err(PayError::Status(500))
    }
}

#[async_trait::async_trait]
trait Api {
    async fn call(&self) -> R;
}

#[async_trait::async_trait]
impl Api for Client {
    #[fallback(Ok(self.backup.clone()? + 1), when = any)]
    #[circuit_breaker(service = "leaves-async-trait", threshold = 9)]
    async fn call(&self) -> R {
        Err(PayError::Status(500))
    }
}

#[tokio::test(start_paused = true)]
async fn it_is_left_early_in_every_shape_of_function() {
    assert_eq!(block(500).await, Err(PayError::Status(404)));
    assert_eq!(fallbacks("leaves-block"), [0, 1]);

    let running = tokio::spawn(boxed("first".into()));
    tokio::task::yield_now().await;
    assert_eq!(boxed("ab".into()).await, Ok(2));
    assert_eq!(boxed("a".into()).await, Err(PayError::Status(404)));
    assert_eq!(fallbacks("leaves-boxed"), [1, 1]);
    running.abort();

    let mut well = Client { backup: Ok(1) };
    let mut sick = Client { backup: nobody() };
    assert_eq!(well.by_ref().await, Ok(2));
    assert_eq!(sick.by_ref().await, Err(PayError::Status(500)));
    assert_eq!((well.by_mut(), well.backup.clone()), (Ok(0), Ok(2)));
    assert_eq!(sick.by_mut(), Err(PayError::Status(404)));
    assert_eq!(fallbacks("leaves-method"), [2, 2]);
    assert_eq!(well.call().await, Ok(3));
    assert_eq!(sick.call().await, Err(PayError::Status(404)));
    assert_eq!(fallbacks("leaves-async-trait"), [1, 1]);
}

/// Given up while it waits, it has given no answer, and nothing is left of it.
#[tokio::test(start_paused = true)]
async fn a_fallback_that_is_dropped_has_answered_nothing() {
    #[fallback(Ok(hang::<R>().await? + 1), when = any)]
    #[circuit_breaker(service = "leaves-dropped", threshold = 9)]
    #[bulkhead(max_concurrent = 1)]
    async fn f() -> R {
        Err(PayError::Status(500))
    }
    for _ in 0..3 {
        // The place in the bulkhead is not kept for it.
        assert!(tokio::time::timeout(SECOND, f()).await.is_err());
    }
    let seen = breakerbox::breaker("leaves-dropped").unwrap().snapshot();
    assert_eq!((seen.calls.failure, seen.calls.cancelled), (3, 0));
    assert_eq!(fallbacks("leaves-dropped"), [0, 0]);
}
