//! I: guards together with fallbacks, and several functions behind one service.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use breakerbox::BuildError;
use breakerbox::Key;
use breakerbox::Policy;
use breakerbox::Problem;
use breakerbox::Registry;
use breakerbox::Rejected;
use breakerbox::RejectedKind;
use breakerbox::State;
use breakerbox::circuit_breaker;
use breakerbox::with_registry;

use super::drivers;
use super::drivers::seconds;

#[derive(Debug, PartialEq, thiserror::Error)]
enum StockError {
    #[error(transparent)]
    Rejected(#[from] Rejected),
    #[error("down")]
    Down,
}

static BODIES: AtomicUsize = AtomicUsize::new(0);

#[circuit_breaker(
    service = "scenario",
    fallback = |rejected| Ok((0, Some(rejected)))
)]
async fn stock(is_up: bool) -> Result<(u32, Option<Rejected>), StockError> {
    BODIES.fetch_add(1, SeqCst);
    if is_up {
        Ok((7, None))
    } else {
        Err(StockError::Down)
    }
}

/// I11, I12
#[tokio::test(start_paused = true)]
async fn i11_i12_the_fallback_answers_with_the_rejection_in_hand_and_only_then() {
    let registry = drivers::registry(Policy::new().threshold(1));
    let breaker = drivers::breaker(&registry);
    with_registry(registry, async {
        assert_eq!(stock(true).await, Ok((7, None)));
        // It was sent, so it is the function's own error that counts.
        assert_eq!(stock(false).await, Err(StockError::Down));
        assert_eq!(BODIES.load(SeqCst), 2);

        tokio::time::advance(seconds(20)).await;
        let (number, rejected) = stock(true).await.unwrap();
        assert_eq!(number, 0);
        let rejected = rejected.unwrap();
        assert_eq!(rejected.kind(), RejectedKind::Open);
        assert_eq!(rejected.retry_after(), Some(seconds(40)));
        assert_eq!(BODIES.load(SeqCst), 2);
        assert_eq!(breaker.snapshot().calls.rejected, 1);
    })
    .await;
}

#[circuit_breaker(service = "scenario")]
async fn charge(is_up: bool) -> Result<(), StockError> {
    if is_up { Ok(()) } else { Err(StockError::Down) }
}

#[circuit_breaker(service = "scenario")]
async fn refund(is_up: bool) -> Result<(), StockError> {
    if is_up { Ok(()) } else { Err(StockError::Down) }
}

/// I15
#[tokio::test]
async fn i15_two_functions_of_one_service_share_one_breaker() {
    let registry = drivers::registry(Policy::new().threshold(4));
    let breaker = drivers::breaker(&registry);
    with_registry(registry, async {
        for _ in 0..5 {
            charge(true).await.unwrap();
            refund(true).await.unwrap();
        }
        assert_eq!(breaker.snapshot().calls.success, 10);
        for _ in 0..2 {
            charge(false).await.unwrap_err();
            refund(false).await.unwrap_err();
        }
        assert_eq!(breaker.state(), State::Open);
        for rejected in [charge(true).await, refund(true).await] {
            assert!(matches!(rejected, Err(StockError::Rejected(_))));
        }
    })
    .await;
}

const FIRST_LINE: u32 = line!() + 2;

#[circuit_breaker(service = "scenario: two minds", threshold = 3)]
async fn one_mind() -> Result<(), StockError> {
    Ok(())
}

#[circuit_breaker(service = "scenario: two minds", threshold = 4, cooldown = "5s")]
async fn another_mind() -> Result<(), StockError> {
    Ok(())
}

/// I16
#[tokio::test]
async fn i16_two_functions_that_disagree_about_their_service_are_both_named() {
    let Err(BuildError::Problems(problems)) = Registry::builder().strict().build() else {
        panic!("a strict registry lets a contradiction pass");
    };
    let mine: Vec<_> = problems
        .iter()
        .filter_map(|problem| match problem {
            Problem::Conflict(conflict) if conflict.service() == "scenario: two minds" => {
                Some(conflict)
            }
            _ => None,
        })
        .collect();
    let [conflict] = mine[..] else {
        panic!("expected one conflict, found {mine:?}");
    };
    assert_eq!(conflict.first().file(), file!());
    assert_eq!(conflict.second().file(), file!());
    assert_eq!(conflict.first().line(), FIRST_LINE);
    assert_eq!(conflict.second().line(), FIRST_LINE + 5);
    assert!(conflict.keys().eq([Key::Threshold, Key::Cooldown]));

    // Without `strict` it is reported and the first one's numbers are in force.
    let registry = Registry::builder().build().unwrap();
    assert!(registry.conflicts().contains(conflict));
    with_registry(registry.clone(), async {
        another_mind().await.unwrap();
        one_mind().await.unwrap();
    })
    .await;
    let breaker = registry.breaker("scenario: two minds").unwrap();
    assert_eq!(breaker.policy(), Policy::new().threshold(3));
}
