//! The series of one service through its whole life.

use std::panic;
use std::panic::AssertUnwindSafe;
use std::time::Duration;
use std::time::SystemTime;
use std::time::UNIX_EPOCH;

use breakerbox::Breaker;
use breakerbox::Error;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::State;
use breakerbox::Verdict;
use tokio::time::advance;

use super::Exporter;
use super::exposition::Exposition;

const COOLDOWN: Duration = Duration::from_secs(60);

fn registry(service: &str, policy: Policy) -> (Registry, &'static Breaker) {
    let registry = Registry::builder()
        .declare_with(service, policy)
        .build()
        .expect("a good policy");
    let breaker = registry.breaker(service).expect("declared above");
    (registry, breaker)
}

/// K3, B195, B196
#[tokio::test(start_paused = true)]
async fn exactly_one_state_is_one_at_every_step_and_it_is_the_state_of_the_breaker() {
    let policy = Policy::new().threshold(2).cooldown(COOLDOWN);
    let (registry, breaker) = registry("life", policy);
    let exporter = Exporter::new();
    let stands = |state: State| {
        assert_eq!(breaker.state(), state);
        assert_eq!(
            exporter.published(&registry).states("life"),
            [state.label()]
        );
    };

    stands(State::Closed);
    breaker.try_acquire().unwrap().failure();
    stands(State::Closed);
    breaker.try_acquire().unwrap().failure();
    stands(State::Open);
    advance(COOLDOWN).await;
    // Nobody has come, and asking changes nothing.
    stands(State::Open);
    let probe = breaker.try_acquire().unwrap();
    stands(State::HalfOpen);
    probe.failure();
    stands(State::Open);
    advance(COOLDOWN).await;
    let probe = breaker.try_acquire().unwrap();
    stands(State::HalfOpen);
    drop(probe);
    stands(State::HalfOpen);
    breaker.try_acquire().unwrap().success();
    stands(State::Closed);

    let mut moves = exporter.scrape().moves("life");
    moves.sort_by(|one, other| one.0.cmp(&other.0));
    let expected = [
        ("closed>open:threshold", 1.0),
        ("half_open>closed:probes_succeeded", 1.0),
        ("half_open>open:probe_failed", 1.0),
        ("open>half_open:cooldown", 2.0),
    ];
    assert_eq!(
        moves,
        expected.map(|(name, count)| (name.to_owned(), count))
    );
}

/// The first move by each reason, one breaker a row.
#[tokio::test(start_paused = true)]
async fn each_reason_has_a_series_of_its_own() {
    let policy = Policy::new().threshold(1).cooldown(COOLDOWN);
    let (registry, breaker) = registry("reasons", policy.probe_timeout(COOLDOWN));
    let exporter = Exporter::new();
    let ban = Verdict::OpenFor(COOLDOWN);

    breaker.try_acquire().unwrap().record(ban);
    advance(COOLDOWN).await;
    breaker.try_acquire().unwrap().record(ban);
    advance(COOLDOWN).await;
    let hung = breaker.try_acquire().unwrap();
    advance(COOLDOWN).await;
    let hung_too = breaker.try_acquire().unwrap();
    advance(COOLDOWN).await;
    assert!(breaker.try_acquire().is_err());

    let moves = exporter.published(&registry).moves("reasons");
    for expected in [
        "closed>open:open_for",
        "half_open>open:open_for",
        "half_open>open:probes_hung",
    ] {
        let count = moves.iter().find(|(name, _)| name == expected);
        assert_eq!(count.map(|(_, count)| *count), Some(1.0), "{expected}");
    }
    drop((hung, hung_too));
}

/// The calls of a service by outcome, without those at zero.
fn outcomes(scrape: &Exposition, service: &str) -> Vec<(String, f64)> {
    scrape
        .of("breakerbox_calls_total", service)
        .filter(|(_, count)| *count != 0.0)
        .map(|(labels, count)| (labels["outcome"].clone(), count))
        .collect()
}

/// K1
#[tokio::test(start_paused = true)]
async fn each_call_counts_once_and_under_its_own_outcome() {
    let policy = Policy::new().threshold(2).cooldown(COOLDOWN);
    let (registry, breaker) = registry("outcomes", policy);
    let exporter = Exporter::new();
    let mut before: Vec<(String, f64)> = Vec::new();
    let mut adds = |outcome: &str| {
        let now = outcomes(&exporter.published(&registry), "outcomes");
        let mut expected = before.clone();
        match expected.iter_mut().find(|(name, _)| name == outcome) {
            Some((_, count)) => *count += 1.0,
            None => expected.push((outcome.to_owned(), 1.0)),
        }
        expected.sort_by(|one, other| one.0.cmp(&other.0));
        assert_eq!(now, expected, "after a call that was {outcome}");
        before = now;
    };

    breaker.try_acquire().unwrap().success();
    adds("success");
    breaker.try_acquire().unwrap().record(Verdict::Ignore);
    adds("ignored");
    drop(breaker.try_acquire().unwrap());
    adds("cancelled");
    let panicked = panic::catch_unwind(AssertUnwindSafe(|| {
        let _: Result<(), Error<()>> =
            breaker.call_blocking(|| panic::resume_unwind(Box::new("its own")));
    }));
    assert!(panicked.is_err());
    adds("panicked");
    let early = breaker.try_acquire().unwrap();
    breaker.try_acquire().unwrap().failure();
    adds("failure");
    assert_eq!(breaker.state(), State::Open);
    early.success();
    adds("late");
    assert!(breaker.try_acquire().is_err());
    adds("rejected");
    advance(COOLDOWN).await;
    breaker.try_acquire().unwrap().success();
    adds("success");
}

#[test]
fn calls_in_flight_are_counted_until_they_end() {
    let (registry, breaker) = registry("in flight", Policy::new());
    let exporter = Exporter::new();
    let flying = || {
        let scrape = exporter.published(&registry);
        scrape.value("breakerbox_in_flight", &[("service", "in flight")])
    };
    assert_eq!(flying(), Some(0.0));
    let permits: Vec<_> = (0..3).map(|_| breaker.try_acquire().unwrap()).collect();
    assert_eq!(flying(), Some(3.0));
    drop(permits);
    assert_eq!(flying(), Some(0.0));
}

fn since_1970(time: SystemTime) -> f64 {
    let since = time.duration_since(UNIX_EPOCH);
    since.expect("a clock of our days").as_secs_f64()
}

/// What is published is `expected` from when it was published, to the hundredth.
#[track_caller]
fn is_in(publish: impl FnOnce() -> Exposition, service: &str, expected: Duration) {
    let before = since_1970(SystemTime::now() + expected);
    let at = publish().open_until(service).expect("it is always there");
    let after = since_1970(SystemTime::now() + expected);
    let rounded = before - 0.01..after + 0.01;
    assert!(rounded.contains(&at), "{at} is not in {rounded:?}");
}

#[tokio::test(start_paused = true)]
async fn the_end_of_an_opening_is_told_and_is_zero_while_the_circuit_is_not_open() {
    let policy = Policy::new().threshold(1).cooldown(COOLDOWN);
    let (registry, breaker) = registry("until", policy.max_open_for(10 * COOLDOWN));
    let exporter = Exporter::new();
    let published = || exporter.published(&registry);
    let zero = |scrape: &Exposition| assert_eq!(scrape.open_until("until"), Some(0.0));

    zero(&exporter.published(&registry));
    breaker.try_acquire().unwrap().failure();
    is_in(published, "until", COOLDOWN);
    advance(COOLDOWN / 2).await;
    is_in(published, "until", COOLDOWN / 2);
    advance(COOLDOWN / 2).await;
    is_in(published, "until", Duration::ZERO);

    let probe = breaker.try_acquire().unwrap();
    zero(&exporter.published(&registry));
    probe.record(Verdict::OpenFor(3 * COOLDOWN));
    is_in(published, "until", 3 * COOLDOWN);
    advance(3 * COOLDOWN).await;
    breaker.try_acquire().unwrap().success();
    zero(&exporter.published(&registry));
}

/// K11, B066
#[test]
fn an_opening_without_an_end_has_a_time_that_can_be_drawn() {
    let policy = Policy::new().threshold(1).cooldown(Duration::MAX);
    let (registry, breaker) = registry("for ever", policy);
    breaker.try_acquire().unwrap().failure();
    let until = Exporter::new().published(&registry).open_until("for ever");
    let until = until.expect("it is always there");
    let in_a_century = since_1970(SystemTime::now()) + 100.0 * 365.25 * 86_400.0;
    assert!(until.is_finite() && until > in_a_century, "{until}");
}
