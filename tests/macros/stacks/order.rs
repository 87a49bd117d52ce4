//! The order is the one in which they are written, in one attribute or in many.

use std::time::Duration;

use breakerbox::RejectedKind;
use breakerbox::State;
use breakerbox::circuit_breaker;
use breakerbox::fallback;
use breakerbox::resilient;
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

/// B080
#[tokio::test(start_paused = true)]
async fn a_retry_above_a_breaker_asks_it_for_each_attempt() {
    static BODY: Count = Count::new();
    #[retry(idempotent)]
    #[circuit_breaker(service = "order-retry-breaker", threshold = 9)]
    async fn f() -> R {
        BODY.begin();
        Err(PayError::Status(500))
    }
    assert_eq!(f().await, Err(PayError::Status(500)));
    assert_eq!(BODY.get(), 3);
    assert_eq!(calls("order-retry-breaker").failure, 3);
}

/// I14
#[tokio::test(start_paused = true)]
async fn a_retry_below_a_breaker_is_one_call() {
    static BODY: Count = Count::new();
    #[circuit_breaker(service = "order-breaker-retry", threshold = 9)]
    #[retry(retry_on = is_server)]
    async fn f() -> R {
        BODY.begin();
        Err(PayError::Status(500))
    }
    assert_eq!(f().await, Err(PayError::Status(500)));
    assert_eq!(BODY.get(), 3);
    assert_eq!(calls("order-breaker-retry").failure, 1);
}

#[tokio::test(start_paused = true)]
async fn one_attribute_is_the_same_as_many() {
    static BODY: Count = Count::new();
    #[resilient(
        service = "order-resilient",
        breakerbox::retry(idempotent, attempts = 2),
        circuit_breaker(threshold = 9),
        timeout("1s")
    )]
    async fn f() -> R {
        BODY.begin();
        hang().await
    }
    assert!(matches!(f().await, Err(PayError::TimedOut(_))));
    assert_eq!(BODY.get(), 2);
    assert_eq!(calls("order-resilient").failure, 2);
}

#[tokio::test(start_paused = true)]
async fn attributes_behind_cfg_attr_are_found() {
    static BODY: Count = Count::new();
    #[cfg_attr(all(), retry(idempotent))]
    #[cfg_attr(any(), timeout("1ns"))]
    #[cfg_attr(
        all(),
        breakerbox::circuit_breaker(service = "order-cfg", threshold = 9)
    )]
    async fn f() -> R {
        BODY.begin();
        Err(PayError::Status(1))
    }
    assert_eq!(f().await, Err(PayError::Status(1)));
    assert_eq!((BODY.get(), calls("order-cfg").failure), (3, 3));
}

/// B075 I6: in both orders a hanging service opens the circuit.
#[tokio::test(start_paused = true)]
async fn a_timeout_on_either_side_of_a_breaker_opens_it() {
    static BODY: Count = Count::new();
    #[circuit_breaker(service = "order-breaker-timeout", threshold = 5, fails_on = is_server)]
    #[timeout("1s")]
    async fn inside() -> R {
        BODY.begin();
        hang().await
    }
    #[timeout("1s")]
    #[circuit_breaker(service = "order-timeout-breaker", threshold = 5, fails_on = is_server)]
    async fn outside() -> R {
        BODY.begin();
        hang().await
    }
    for _ in 0..5 {
        assert!(matches!(inside().await, Err(PayError::TimedOut(_))));
        assert!(matches!(outside().await, Err(PayError::TimedOut(_))));
    }
    for service in ["order-breaker-timeout", "order-timeout-breaker"] {
        assert_eq!(breaker(service).state(), State::Open, "{service}");
    }
    for out in [inside().await, outside().await] {
        assert_eq!(out.unwrap_err().kind(), Some(RejectedKind::Open));
    }
    assert_eq!(BODY.get(), 10);
}

/// I7: what is said of timeouts is obeyed.
#[tokio::test(start_paused = true)]
async fn a_breaker_may_ignore_the_timeout_inside_of_it() {
    #[circuit_breaker(
        service = "order-ignored-timeout",
        threshold = 1,
        ignores = |error| matches!(error, PayError::TimedOut(_))
    )]
    #[timeout("1s")]
    async fn f() -> R {
        hang().await
    }
    // Where the compiler knows both it would not compile.
    const LATE: Duration = Duration::from_secs(5);
    #[timeout(SECOND)]
    #[circuit_breaker(service = "order-late-cancel", threshold = 1, on_cancel = after(LATE))]
    async fn g() -> R {
        hang().await
    }
    assert!(matches!(f().await, Err(PayError::TimedOut(_))));
    assert!(matches!(g().await, Err(PayError::TimedOut(_))));
    assert_eq!(calls("order-ignored-timeout").ignored, 1);
    assert_eq!(breaker("order-late-cancel").state(), State::Closed);
}

/// I1: the body ran, so the caller gets its error and no rejection.
#[tokio::test(start_paused = true)]
async fn a_circuit_that_opens_between_two_attempts_does_not_hide_that_something_was_sent() {
    static BODY: Count = Count::new();
    static FALLBACK: Count = Count::new();
    #[fallback({ FALLBACK.begin(); Ok(7) })]
    #[retry(idempotent, attempts = 8)]
    #[circuit_breaker(service = "order-opens", threshold = 4)]
    async fn f() -> R {
        Err(PayError::Status(BODY.begin().try_into().unwrap()))
    }
    assert_eq!(f().await, Err(PayError::Status(4)));
    assert_eq!((BODY.get(), FALLBACK.get()), (4, 0));
    assert_eq!(calls("order-opens").rejected, 1);
    // Nothing is sent now, so the fallback may answer.
    assert_eq!(f().await, Ok(7));
    assert_eq!((BODY.get(), FALLBACK.get()), (4, 1));
}

/// B078 I5
#[tokio::test(start_paused = true)]
async fn a_rejection_is_not_repeated() {
    static BODY: Count = Count::new();
    #[retry(idempotent)]
    #[circuit_breaker(service = "order-rejected", threshold = 1)]
    async fn f() -> R {
        BODY.begin();
        Err(PayError::Status(500))
    }
    assert_eq!(f().await, Err(PayError::Status(500)));
    let (before, now) = (calls("order-rejected").rejected, Instant::now());
    assert_eq!(f().await.unwrap_err().kind(), Some(RejectedKind::Open));
    assert_eq!(calls("order-rejected").rejected, before + 1);
    assert_eq!((BODY.get(), now.elapsed()), (1, Duration::ZERO));
}

/// I4
#[tokio::test(start_paused = true)]
async fn a_retry_may_wait_for_the_circuit_once() {
    static BODY: Count = Count::new();
    #[retry(idempotent, wait_for_circuit)]
    #[circuit_breaker(service = "order-waits", threshold = 1, cooldown = "10s")]
    async fn f() -> R {
        match BODY.begin() {
            1 => Err(PayError::Status(500)),
            n => Ok(n),
        }
    }
    let now = Instant::now();
    assert_eq!(f().await, Ok(2));
    assert_eq!(BODY.get(), 2);
    assert!(now.elapsed() >= 10 * SECOND, "{:?}", now.elapsed());
}

/// A timeout above a retry bounds all of it, one below each attempt.
#[tokio::test(start_paused = true)]
async fn timeouts_bound_an_attempt_and_all_of_them() {
    static BODY: Count = Count::new();
    #[timeout("5s")]
    #[retry(idempotent, attempts = 50, delay = "1ms", max_delay = "1ms")]
    #[timeout("2s")]
    async fn f() -> R {
        BODY.begin();
        hang().await
    }
    let now = Instant::now();
    let Err(PayError::TimedOut(timed_out)) = f().await else {
        panic!("nothing ends")
    };
    assert_eq!((timed_out.limit(), now.elapsed()), (5 * SECOND, 5 * SECOND));
    assert_eq!(BODY.get(), 3);
}

/// The whole of it, on a service that is well, one that fails and one that hangs.
#[tokio::test(start_paused = true)]
async fn all_policies_together_let_a_healthy_call_through_once() {
    static BODY: Count = Count::new();
    #[resilient(
        service = "order-all",
        fallback(|rejected| Err(PayError::Rejected(rejected))),
        timeout("20s"),
        retry(retry_on = is_server, attempts = 2, budget = "100%"),
        circuit_breaker(threshold = 3, fails_on = is_server),
        rate_limit("1000/s", max_wait = "50ms"),
        bulkhead(max_concurrent = 2, max_wait = "50ms"),
        timeout("2s")
    )]
    async fn f(answer: R) -> R {
        BODY.begin();
        answer.clone()
    }
    assert_eq!(f(Ok(1)).await, Ok(1));
    assert_eq!(
        f(Err(PayError::Status(404))).await,
        Err(PayError::Status(404))
    );
    assert_eq!(BODY.get(), 2);
    assert_eq!(
        f(Err(PayError::Status(500))).await,
        Err(PayError::Status(500))
    );
    assert_eq!(BODY.get(), 4);
    assert_eq!(
        f(Err(PayError::Status(500))).await,
        Err(PayError::Status(500))
    );
    assert_eq!(BODY.get(), 5);
    assert_eq!(f(Ok(1)).await.unwrap_err().kind(), Some(RejectedKind::Open));
    assert_eq!(BODY.get(), 5);
}

/// What is known of one attempt is not said of the next.
#[tokio::test(start_paused = true)]
async fn an_attempt_that_answers_is_not_judged_as_the_one_that_timed_out_before_it() {
    static BODY: Count = Count::new();
    #[fallback(Ok(7), when = timed_out)]
    #[retry(idempotent, attempts = 2)]
    #[circuit_breaker(service = "order-next-attempt", threshold = 9, fails_on = is_server)]
    #[timeout("1s")]
    async fn f() -> R {
        match BODY.begin() {
            1 => hang().await,
            _ => Err(PayError::Status(404)),
        }
    }
    assert_eq!(f().await, Err(PayError::Status(404)));
    let seen = calls("order-next-attempt");
    assert_eq!((seen.failure, seen.success), (1, 1));
}

/// The output that is given back in the end is judged by what it is.
#[tokio::test(start_paused = true)]
async fn an_attempt_that_is_refused_does_not_hide_that_the_last_one_timed_out() {
    static BODY: Count = Count::new();
    #[fallback(Ok(7), when = timed_out)]
    #[retry(idempotent)]
    #[circuit_breaker(service = "order-last-attempt", threshold = 1)]
    #[timeout("1s")]
    async fn f() -> R {
        BODY.begin();
        hang().await
    }
    assert_eq!(f().await, Ok(7));
    assert_eq!(BODY.get(), 1);
    assert_eq!(f().await.unwrap_err().kind(), Some(RejectedKind::Open));
}
