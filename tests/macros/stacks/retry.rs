//! What is repeated, with which arguments, and what the caller gets in the end.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use breakerbox::RejectedKind;
use breakerbox::State;
use breakerbox::Verdict;
use breakerbox::circuit_breaker;
use breakerbox::fallback;
use breakerbox::resilient;
use breakerbox::retry;
use breakerbox::timeout;
use tokio::time::Instant;

use super::Count;
use super::PayError;
use super::SECOND;
use super::is_server;
use crate::macros::breaker;

type R = Result<u32, PayError>;

#[tokio::test(start_paused = true)]
async fn only_what_the_predicate_says_yes_to_is_repeated() {
    static BODY: Count = Count::new();
    #[retry(retry_on = is_server)]
    async fn by_path(status: u16) -> R {
        BODY.begin();
        Err(PayError::Status(status))
    }
    #[retry(retry_on = |error| !matches!(error, PayError::Status(404)))]
    async fn by_closure(status: u16) -> R {
        BODY.begin();
        Err(PayError::Status(status))
    }
    #[retry(retry_on = matches(PayError::Status(status) if *status >= 500))]
    async fn by_pattern(status: u16) -> R {
        BODY.begin();
        Err(PayError::Status(status))
    }
    for status in [404, 503] {
        assert_eq!(by_path(status).await, Err(PayError::Status(status)));
        assert_eq!(by_closure(status).await, Err(PayError::Status(status)));
        assert_eq!(by_pattern(status).await, Err(PayError::Status(status)));
    }
    assert_eq!(BODY.get(), 3 * (1 + 3));
}

/// B103
#[tokio::test(start_paused = true)]
async fn the_delays_grow_by_the_factor() {
    static BODY: Count = Count::new();
    #[retry(
        idempotent,
        attempts = 6,
        delay = "50ms",
        factor = 2,
        max_delay = "300ms",
        jitter = false
    )]
    async fn f(starts: &mut Vec<Duration>, from: Instant) -> R {
        BODY.begin();
        starts.push(from.elapsed());
        Err(PayError::Status(500))
    }
    let mut starts = Vec::new();
    assert!(f(&mut starts, Instant::now()).await.is_err());
    let ms = Duration::from_millis;
    assert_eq!(starts, [ms(0), ms(50), ms(150), ms(350), ms(650), ms(950)]);
    assert_eq!(BODY.get(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_verdict_that_names_a_time_is_obeyed() {
    static BODY: Count = Count::new();
    #[retry(idempotent, attempts = 2)]
    #[circuit_breaker(
        service = "retry-after",
        threshold = 9,
        classify = |out: &R| match out {
            Ok(429) => Verdict::RetryAfter(7 * SECOND),
            _ => Verdict::Success,
        }
    )]
    async fn f() -> R {
        match BODY.begin() {
            1 => Ok(429),
            _ => Ok(200),
        }
    }
    let now = Instant::now();
    assert_eq!(f().await, Ok(200));
    assert_eq!((BODY.get(), now.elapsed()), (2, 7 * SECOND));
}

/// The circuit would turn down whatever is made earlier.
#[tokio::test(start_paused = true)]
async fn a_ban_ends_the_call_unless_an_open_circuit_is_waited_for() {
    static BODY: Count = Count::new();
    macro_rules! banned {
        ($f:ident $service:literal $(, $wait:ident)?) => {
            #[retry(idempotent $(, $wait)?)]
            #[circuit_breaker(service = $service, threshold = 9, classify = |out: &R| match out {
                Ok(_) => Verdict::Success,
                Err(_) => Verdict::OpenFor(30 * SECOND),
            })]
            async fn $f() -> R {
                match BODY.begin() % 2 {
                    1 => Err(PayError::Status(403)),
                    _ => Ok(200),
                }
            }
        };
    }
    banned!(at_once "retry-ban");
    banned!(waits "retry-ban-wait", wait_for_circuit);
    let now = Instant::now();
    assert_eq!(at_once().await, Err(PayError::Status(403)));
    assert_eq!((BODY.get(), now.elapsed()), (1, Duration::ZERO));
    assert_eq!(breaker("retry-ban").state(), State::Open);
    assert_eq!(breakerbox::policies("retry-ban").retried(), 0);
    BODY.begin();
    assert_eq!(waits().await, Ok(200));
    assert_eq!((BODY.get(), now.elapsed()), (4, 30 * SECOND));
    // It came as the probe, and was not turned down before.
    let calls = crate::macros::calls("retry-ban-wait");
    assert_eq!((calls.rejected, calls.success), (0, 1));
}

/// Unlike `RetryAfter` it does not ask anybody to come back.
#[tokio::test(start_paused = true)]
async fn a_success_that_bans_is_not_repeated() {
    static BODY: Count = Count::new();
    #[retry(idempotent, wait_for_circuit)]
    #[circuit_breaker(service = "retry-ban-ok", classify = |_: &R| Verdict::OpenFor(SECOND))]
    async fn f() -> R {
        Ok(BODY.begin())
    }
    assert_eq!(f().await, Ok(1));
    assert_eq!(BODY.get(), 1);
}

/// The verdict is about the output of the body, which nobody gets.
#[tokio::test(start_paused = true)]
async fn the_answer_of_a_fallback_is_not_repeated_for_what_the_service_asked() {
    static BODY: Count = Count::new();
    #[retry(idempotent)]
    #[fallback(another(), when = failed)]
    #[circuit_breaker(
        service = "retry-after-fallback",
        threshold = 9,
        classify = |_: &R| Verdict::RetryAfter(SECOND)
    )]
    async fn f() -> R {
        BODY.begin();
        Err(PayError::Status(503))
    }
    const fn another() -> R {
        Ok(7)
    }
    assert_eq!(f().await, Ok(7));
    assert_eq!(BODY.get(), 1);
}

/// B100
#[tokio::test(start_paused = true)]
async fn each_attempt_has_a_copy_of_what_is_cloned() {
    #[retry(idempotent, clone(buffer, c))]
    async fn f(seen: &mut Vec<usize>, mut buffer: Vec<u8>, (c, d): (String, u8)) -> R {
        seen.push(buffer.len() + c.len() + usize::from(d));
        buffer.clear();
        drop(c);
        Err(PayError::Status(500))
    }
    let mut seen = Vec::new();
    assert!(f(&mut seen, vec![1; 5], ("ab".into(), 1)).await.is_err());
    assert_eq!(seen, [8, 8, 8]);
}

/// B098: what is borrowed can be used by every attempt.
#[tokio::test(start_paused = true)]
async fn references_and_functions_are_lent_to_each_attempt() {
    struct Client {
        calls: u32,
    }
    impl Client {
        #[retry(idempotent)]
        async fn by_mut(&mut self, buffer: &mut [u8], count: &mut impl FnMut()) -> R {
            self.calls += 1;
            buffer[0] += 1;
            count();
            Err(PayError::Status(500))
        }

        #[retry(idempotent)]
        async fn by_arc(self: Arc<Self>, name: String) -> R {
            Err(PayError::Status((name.len() as u16) + (self.calls as u16)))
        }

        #[retry(idempotent, attempts = 2)]
        async fn by_pin(mut self: std::pin::Pin<&mut Self>) -> R {
            self.as_mut().calls += 1;
            Err(PayError::Status(500))
        }

        #[retry(idempotent)]
        async fn by_value(self) -> R {
            Err(PayError::Status(self.calls as u16))
        }
    }
    let (mut buffer, mut counted) = ([0], 0);
    let mut client = Client { calls: 0 };
    assert!(
        client
            .by_mut(&mut buffer, &mut || counted += 1)
            .await
            .is_err()
    );
    assert_eq!((client.calls, buffer[0], counted), (3, 3, 3));
    assert!(std::pin::Pin::new(&mut client).by_pin().await.is_err());
    assert_eq!(client.calls, 5);
    assert_eq!(
        Arc::new(client).by_arc("ab".into()).await,
        Err(PayError::Status(7))
    );
    assert_eq!(
        Client { calls: 4 }.by_value().await,
        Err(PayError::Status(4))
    );
}

/// A copy need not be shared between threads, so the future can be sent.
#[tokio::test(start_paused = true)]
async fn a_copy_that_is_not_sync_leaves_the_future_send() {
    #[retry(idempotent, clone(cell))]
    async fn f(cell: Cell<u16>) -> R {
        cell.set(cell.get() + 1);
        tokio::task::yield_now().await;
        Err(PayError::Status(cell.get()))
    }
    let out = tokio::spawn(f(Cell::new(4))).await.unwrap();
    assert_eq!(out, Err(PayError::Status(5)));
}

#[tokio::test(start_paused = true)]
async fn with_wrap_error_the_predicates_see_the_inner_error() {
    static BODY: Count = Count::new();
    #[resilient(
        service = "retry-wrapped",
        retry(retry_on = |status: &u16| *status >= 500),
        circuit_breaker(threshold = 9, fails_on = |status: &u16| *status >= 400),
        timeout("1s", wrap_error)
    )]
    async fn f(status: u16) -> Result<u32, breakerbox::Error<u16>> {
        BODY.begin();
        if status == 0 {
            super::hang::<()>().await;
        }
        Err(status)?
    }
    assert_eq!(f(503).await, Err(breakerbox::Error::Inner(503)));
    assert_eq!(BODY.get(), 3);
    assert_eq!(f(404).await, Err(breakerbox::Error::Inner(404)));
    assert_eq!(BODY.get(), 4);
    // A timeout is no error of the body: nobody knows whether it may be repeated.
    assert!(matches!(f(0).await, Err(breakerbox::Error::TimedOut(_))));
    assert_eq!(BODY.get(), 5);
    assert_eq!(crate::macros::calls("retry-wrapped").failure, 5);
}

/// B105
#[tokio::test(start_paused = true)]
async fn retries_of_nested_calls_multiply() {
    static BODY: Count = Count::new();
    #[retry(idempotent)]
    async fn outer() -> R {
        inner().await
    }
    #[retry(idempotent)]
    async fn inner() -> R {
        BODY.begin();
        Err(PayError::Status(500))
    }
    assert!(outer().await.is_err());
    assert_eq!(BODY.get(), 9);
}

/// B095: the executor may be late after the pause, too.
#[tokio::test(start_paused = true)]
async fn a_task_that_wakes_after_the_deadline_begins_no_attempt() {
    static BODY: Count = Count::new();
    #[timeout("1s", service = "retry-late")]
    #[retry(idempotent, delay = "900ms", jitter = false, attempts = 2)]
    async fn f() -> R {
        BODY.begin();
        Err(PayError::Status(500))
    }
    let mut call = std::pin::pin!(f());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(call.as_mut().poll(&mut context).is_pending());
    tokio::time::advance(SECOND + SECOND / 2).await;
    let answer = call.as_mut().poll(&mut context);
    assert_eq!(answer, std::task::Poll::Ready(Err(PayError::Status(500))));
    assert_eq!(BODY.get(), 1);
    assert_eq!(breakerbox::policies("retry-late").retried(), 0);
}

/// B095: nor after the wait for the circuit.
#[tokio::test(start_paused = true)]
async fn a_task_that_wakes_after_the_deadline_does_not_ask_the_circuit_again() {
    static BODY: Count = Count::new();
    #[timeout("20s")]
    #[retry(idempotent, wait_for_circuit, delay = "1s", jitter = false)]
    #[circuit_breaker(service = "retry-late-circuit", threshold = 1, cooldown = "10s")]
    async fn f() -> R {
        BODY.begin();
        Err(PayError::Status(500))
    }
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    for expected in [None, Some(RejectedKind::Open)] {
        let mut call = std::pin::pin!(f());
        assert!(call.as_mut().poll(&mut context).is_pending());
        // Where a body ran, the delay is over now, and the circuit is found open.
        tokio::time::advance(SECOND).await;
        assert!(call.as_mut().poll(&mut context).is_pending());
        tokio::time::advance(30 * SECOND).await;
        let std::task::Poll::Ready(Err(error)) = call.as_mut().poll(&mut context) else {
            panic!("it is too late");
        };
        assert_eq!(error.kind(), expected);
        assert_eq!(BODY.get(), 1);
        // The probe, so that the circuit is open once more.
        let probe = breaker("retry-late-circuit").try_acquire();
        probe.expect("the cooldown has passed").failure();
    }
}
