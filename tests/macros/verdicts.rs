//! `fails_on`, `ignores` and `classify`: what an outcome says about the service.

use std::time::Duration;

use breakerbox::Rejected;
use breakerbox::State;
use breakerbox::Verdict;
use breakerbox::circuit_breaker;

use crate::macros::Big;
use crate::macros::breaker;
use crate::macros::calls;

const DOWN: u16 = 503;

impl Big {
    fn is_infra(&self) -> bool {
        matches!(self, Self::Status(500..))
    }
}

fn is_busy(error: &Big) -> bool {
    matches!(error, Big::Status(429))
}

fn answer(status: u16) -> Result<u16, Big> {
    if status < 300 {
        Ok(status)
    } else {
        Err(Big::Status(status))
    }
}

#[tokio::test]
async fn without_options_every_error_is_a_failure() {
    #[circuit_breaker(service = "verdict-none")]
    async fn f(status: u16) -> Result<u16, Big> {
        answer(status)
    }
    f(200).await.unwrap();
    f(404).await.unwrap_err();
    f(500).await.unwrap_err();
    let calls = calls("verdict-none");
    assert_eq!((calls.success, calls.failure, calls.ignored), (1, 2, 0));
}

#[tokio::test]
async fn what_fails_on_denies_is_a_success() {
    #[circuit_breaker(service = "verdict-path", fails_on = Big::is_infra)]
    async fn path(status: u16) -> Result<u16, Big> {
        answer(status)
    }
    #[circuit_breaker(service = "verdict-closure", fails_on = |error| error.is_infra() && limit > 1)]
    async fn closure(status: u16, limit: u8) -> Result<u16, Big> {
        answer(status)
    }
    #[circuit_breaker(
        service = "verdict-pattern",
        fails_on = matches(Big::Status(500..=599 | 429) | Big::Parse(_))
    )]
    async fn pattern(status: u16) -> Result<u16, Big> {
        answer(status)
    }
    #[circuit_breaker(
        service = "verdict-guard",
        fails_on = matches(Big::Status(status) if *status >= limit)
    )]
    fn guard(answered: u16, limit: u16) -> Result<u16, Big> {
        answer(answered)
    }
    #[circuit_breaker(service = "verdict-constant", fails_on = matches(Big::Status(DOWN)))]
    fn constant(status: u16) -> Result<u16, Big> {
        answer(status)
    }
    for status in [200, 404, 503] {
        let _ = path(status).await;
        let _ = closure(status, 2).await;
        let _ = pattern(status).await;
        let _ = guard(status, 500);
        let _ = constant(status);
    }
    for service in ["path", "closure", "pattern", "guard", "constant"] {
        let calls = calls(&format!("verdict-{service}"));
        assert_eq!((calls.success, calls.failure), (2, 1), "{service}");
    }
}

#[tokio::test]
async fn what_ignores_accepts_has_no_vote_and_wins() {
    #[circuit_breaker(service = "verdict-ignores", ignores = is_busy)]
    async fn alone(status: u16) -> Result<u16, Big> {
        answer(status)
    }
    #[circuit_breaker(
        service = "verdict-both",
        ignores = matches(Big::Status(429 | 503)),
        fails_on = Big::is_infra
    )]
    async fn both(status: u16) -> Result<u16, Big> {
        answer(status)
    }
    for status in [200, 404, 429, 500, 503] {
        let _ = alone(status).await;
        let _ = both(status).await;
    }
    let alone = calls("verdict-ignores");
    assert_eq!((alone.success, alone.failure, alone.ignored), (1, 3, 1));
    let both = calls("verdict-both");
    assert_eq!((both.success, both.failure, both.ignored), (2, 1, 2));
}

#[tokio::test]
async fn classify_sees_the_whole_output() {
    fn judge(out: &Result<u16, Big>) -> Verdict {
        match out {
            Ok(200..=299) => Verdict::Success,
            Ok(404) | Err(_) => Verdict::Ignore,
            Ok(429) => Verdict::RetryAfter(Duration::from_secs(7)),
            Ok(_) => Verdict::Failure,
        }
    }
    #[circuit_breaker(service = "verdict-classify", classify = judge)]
    async fn path(status: u16) -> Result<u16, Big> {
        Ok(status)
    }
    #[circuit_breaker(service = "verdict-bool", classify = |out| out.as_ref().is_ok_and(|n| *n >= limit))]
    fn closure(status: u16, limit: u16) -> Result<u16, Big> {
        Ok(status)
    }
    for status in [200, 404, 429, 500] {
        path(status).await.unwrap();
        closure(status, 500).unwrap();
    }
    let path = calls("verdict-classify");
    assert_eq!((path.success, path.failure, path.ignored), (1, 2, 1));
    let closure = calls("verdict-bool");
    assert_eq!((closure.success, closure.failure), (3, 1));
}

#[tokio::test]
async fn a_verdict_may_ban_the_service() {
    #[circuit_breaker(service = "verdict-ban", classify = |_| Verdict::OpenFor(Duration::from_secs(600)))]
    async fn banned() -> Result<u16, Big> {
        Ok(403)
    }
    banned().await.unwrap();
    let Err(Big::Rejected(rejected)) = banned().await else {
        panic!("the circuit is open");
    };
    assert!(rejected.retry_after().unwrap() > Duration::from_secs(590));
}

/// A rejection that comes out of a body is that body's error and no rejection of the
/// breaker around it.
#[tokio::test]
async fn in_a_chain_of_three_services_a_nested_rejection_is_an_error_of_the_middle() {
    #[circuit_breaker(service = "chain-bank", threshold = 1)]
    async fn bank() -> Result<u16, Big> {
        answer(500)
    }
    #[circuit_breaker(service = "chain-payments", threshold = 2, fallback = Ok(1))]
    async fn payments() -> Result<u16, Big> {
        bank().await
    }
    #[circuit_breaker(service = "chain-orders", ignores = matches(Big::Rejected(_)))]
    async fn orders() -> Result<u16, Big> {
        payments().await
    }

    assert!(matches!(orders().await, Err(Big::Status(500))));
    assert_eq!(breaker("chain-bank").state(), State::Open);

    // The bank rejects: a failure for payments, whose fallback is not asked, and
    // nothing for orders, which knows better.
    let Err(Big::Rejected(rejected)) = orders().await else {
        panic!("the rejection of the bank comes through");
    };
    assert_eq!(rejected.service(), "chain-bank");
    assert_eq!(breaker("chain-payments").state(), State::Open);

    assert_eq!(orders().await, Ok(1));
    let orders = calls("chain-orders");
    assert_eq!((orders.success, orders.failure, orders.ignored), (1, 1, 1));
    let payments = calls("chain-payments");
    assert_eq!((payments.failure, payments.rejected), (2, 1));
}

#[tokio::test]
async fn open_circuits_do_not_cascade_where_rejections_are_ignored() {
    #[circuit_breaker(service = "cascade-inner", threshold = 1)]
    async fn inner() -> Result<u16, Big> {
        answer(500)
    }
    #[circuit_breaker(service = "cascade-outer", threshold = 2, ignores = Rejected::is_cause_of)]
    async fn outer() -> Result<u16, Big> {
        inner().await
    }
    for _ in 0..5 {
        outer().await.unwrap_err();
    }
    assert_eq!(breaker("cascade-inner").state(), State::Open);
    assert_eq!(breaker("cascade-outer").state(), State::Closed);
    assert_eq!(calls("cascade-outer").ignored, 4);
}
