//! What counts as a failure.

use std::error::Error;
use std::io;
use std::sync::Arc;

use breakerbox::Policy;
use breakerbox::Rejected;
use breakerbox::State;
use breakerbox::circuit_breaker;
use breakerbox::with_registry;

use super::ONE;
use crate::scenarios::drivers;
use crate::scenarios::drivers::CallError;
use crate::scenarios::notation::Ending;
use crate::scenarios::runner::scenarios;

scenarios! {
    /// B055: one bad client does not take a healthy service from all.
    errors_that_are_no_failures_never_open: Policy::new(), "100xN =closed success:100 count:0";
    /// B055: the same where they are ignored.
    ignored_errors_never_open: Policy::new(), "100xI =closed ignored:100 count:0";
    /// B056
    after_an_unjudged_probe_the_next_call_is_admitted_at_once: ONE.probes(2),
        "F +60s N =half-open S =closed rejected:0";
    /// B056
    after_an_ignored_probe_the_next_call_is_admitted_at_once: ONE, "F +60s I S =closed rejected:0";
    /// B055: and they do not hide an outage either, where they are ignored.
    ignored_errors_between_failures_hide_no_outage: Policy::new(), "4x(F 3xI) F =open";
    /// The documented effect of an answer between failures.
    answers_between_failures_reset: Policy::new(), "9x(4xF N) =closed";
}

#[derive(Debug, thiserror::Error)]
#[error("connection refused")]
struct Refused;

#[derive(Debug, thiserror::Error)]
#[error("while charging")]
struct Charging(#[source] Refused);

fn has_refused(error: &(dyn Error + 'static)) -> bool {
    error.is::<Refused>() || error.source().is_some_and(has_refused)
}

fn refused_behind_anyhow(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.is::<Refused>())
}

#[circuit_breaker(service = "scenario", fails_on = refused_behind_anyhow)]
async fn anyhow(is_refused: bool) -> anyhow::Result<()> {
    let cause = match is_refused {
        true => anyhow::Error::from(Refused),
        false => anyhow::Error::msg("card declined"),
    };
    Err(cause.context("charging").context("ordering"))
}

#[circuit_breaker(service = "scenario", fails_on = |error| has_refused(error.as_ref()))]
async fn boxed(is_refused: bool) -> Result<(), Box<dyn Error + Send + Sync>> {
    match is_refused {
        true => Err(Box::new(Charging(Refused))),
        false => Err("card declined".into()),
    }
}

#[derive(Clone, Debug)]
struct Shared(Arc<dyn Error + Send + Sync>);

impl From<Rejected> for Shared {
    fn from(rejected: Rejected) -> Self {
        Self(Arc::new(rejected))
    }
}

#[circuit_breaker(service = "scenario", fails_on = |error: &Shared| has_refused(&*error.0))]
async fn shared(is_refused: bool) -> Result<(), Shared> {
    match is_refused {
        true => Err(Shared(Arc::new(Charging(Refused)))),
        false => Err(Shared(Arc::new(io::Error::other("card declined")))),
    }
}

/// B058: the predicate gets the function's own error, and the chain behind it.
#[tokio::test]
async fn a_predicate_finds_the_cause_behind_every_wrapper() {
    for wrapper in 0..3 {
        let registry = drivers::registry(ONE);
        let breaker = drivers::breaker(&registry);
        with_registry(registry, async {
            for (is_refused, state) in [(false, State::Closed), (true, State::Open)] {
                let failed = match wrapper {
                    0 => anyhow(is_refused).await.is_err(),
                    1 => boxed(is_refused).await.is_err(),
                    _ => shared(is_refused).await.is_err(),
                };
                assert!(failed);
                assert_eq!(breaker.state(), state, "wrapper {wrapper}");
            }
            // The rejection is found in the same way.
            let found = match wrapper {
                0 => Rejected::find(anyhow(true).await.unwrap_err().as_ref()),
                1 => Rejected::find(boxed(true).await.unwrap_err().as_ref()),
                _ => Rejected::find(&*shared(true).await.unwrap_err().0),
            };
            assert!(found.is_some(), "wrapper {wrapper}");
        })
        .await;
    }
}

#[circuit_breaker(service = "scenario")]
async fn broken_endpoint() -> Result<(), CallError> {
    Err(CallError::Ended(Ending::Failure))
}

#[circuit_breaker(service = "scenario")]
async fn healthy_endpoint() -> Result<(), CallError> {
    Ok(())
}

/// B063: the documented effect of sharing. Who does not want it names two services.
#[tokio::test(start_paused = true)]
async fn a_healthy_endpoint_resets_the_count_of_a_broken_one_of_the_same_service() {
    let registry = drivers::registry(Policy::new().threshold(3));
    let breaker = drivers::breaker(&registry);
    with_registry(registry, async {
        for _ in 0..20 {
            for _ in 0..2 {
                broken_endpoint().await.unwrap_err();
            }
            healthy_endpoint().await.unwrap();
        }
        assert_eq!(breaker.state(), State::Closed);
        for _ in 0..3 {
            broken_endpoint().await.unwrap_err();
        }
        assert_eq!(breaker.state(), State::Open);
        // And it probes for it.
        tokio::time::advance(drivers::seconds(60)).await;
        healthy_endpoint().await.unwrap();
        assert_eq!(breaker.state(), State::Closed);
    })
    .await;
}

#[circuit_breaker(service = "fault: deeper down", threshold = 1)]
async fn deeper_down() -> Result<(), CallError> {
    Err(CallError::Ended(Ending::Failure))
}

#[circuit_breaker(service = "scenario")]
async fn counts_it() -> Result<(), CallError> {
    deeper_down().await
}

#[circuit_breaker(service = "scenario", ignores = Rejected::is_cause_of)]
async fn ignores_it() -> Result<(), CallError> {
    deeper_down().await
}

/// A rejection from deeper down is the body's error, unless it is ignored.
#[tokio::test]
async fn an_open_circuit_deeper_down_cascades_only_where_it_is_let() {
    let registry = drivers::registry(Policy::new().threshold(2));
    let breaker = drivers::breaker(&registry);
    with_registry(registry, async {
        deeper_down().await.unwrap_err();
        for _ in 0..9 {
            let error = ignores_it().await.unwrap_err();
            assert!(
                matches!(error, CallError::Rejected(it) if it.service() == "fault: deeper down")
            );
        }
        assert_eq!(breaker.state(), State::Closed);
        assert_eq!(breaker.snapshot().calls.ignored, 9);
        for _ in 0..2 {
            let error = counts_it().await.unwrap_err();
            assert!(
                matches!(error, CallError::Rejected(it) if it.service() == "fault: deeper down")
            );
        }
        assert_eq!(breaker.state(), State::Open);
        assert_eq!(breaker.snapshot().calls.rejected, 0);
    })
    .await;
}
