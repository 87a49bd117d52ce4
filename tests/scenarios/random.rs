//! Random calls at random times, held against the naive law.
//!
//! The seed is fixed, so that a run says the same each time. `PROPTEST_RNG_SEED` and
//! `PROPTEST_CASES` go looking elsewhere.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::Duration;

use breakerbox::OnCancel;
use breakerbox::RejectedKind;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::Config;
use proptest::test_runner::RngSeed;
use proptest::test_runner::TestError;
use proptest::test_runner::TestRunner;

use super::drivers;
use super::drivers::Driver;
use super::drivers::Held;
use super::drivers::seconds;
use super::law::Answer;
use super::law::Law;
use super::law::Numbers;
use super::law::View;
use super::notation::Ending;

/// The longest sequence; 256 of them are about 20,000 steps.
const STEPS: usize = 160;

#[derive(Clone, Copy, Debug)]
enum Doing {
    /// A call begins and is held.
    Begin(usize),
    /// One of the held calls ends; which one is taken modulo their number.
    End(usize, Ending),
    /// A call begins and ends.
    Call(usize, Ending),
    Pass(Duration),
}

fn numbers() -> impl Strategy<Value = Numbers> {
    (1_u32..=4).prop_flat_map(|round| {
        let few = || (1_u64..=4).prop_map(seconds);
        let on_cancel = prop_oneof![
            Just(OnCancel::Ignore),
            Just(OnCancel::Failure),
            few().prop_map(OnCancel::After),
        ];
        let round = (
            any::<bool>(),
            option::of(1..=round),
            option::of(1..=round),
            Just(round),
        );
        (1_u32..=4, few(), round, few(), 1_u64..=8, on_cancel).prop_map(
            |(threshold, cooldown, round, probe_timeout, max_open_for, on_cancel)| {
                let (is_written, close_after, probe_concurrency, round) = round;
                // Without it there are as many probes as `close_after` says.
                let default = close_after.unwrap_or(1);
                let is_written = is_written || probe_concurrency.is_some_and(|it| it > default);
                Numbers {
                    threshold,
                    cooldown,
                    probes: is_written.then_some(round),
                    probe_concurrency,
                    close_after,
                    probe_timeout,
                    max_open_for: seconds(max_open_for),
                    on_cancel,
                }
            },
        )
    })
}

fn ending() -> impl Strategy<Value = Ending> {
    let asked = || (1_u64..=10).prop_map(seconds);
    prop_oneof![
        6 => Just(Ending::Success),
        6 => Just(Ending::Failure),
        2 => Just(Ending::Ignored),
        1 => Just(Ending::NotAFailure),
        2 => Just(Ending::Panic),
        2 => Just(Ending::Drop),
        1 => asked().prop_map(Ending::RetryAfter),
        1 => asked().prop_map(Ending::OpenFor),
    ]
}

fn doing() -> impl Strategy<Value = Doing> {
    let driver = || 0..Driver::ALL.len();
    // Whole seconds, as all numbers are, so that borders are met; and one tick off.
    let time = prop_oneof![
        6 => (1_u64..=3).prop_map(seconds),
        1 => Just(Duration::from_nanos(1)),
        1 => Just(Duration::from_nanos(999_999_999)),
    ];
    prop_oneof![
        4 => driver().prop_map(Doing::Begin),
        4 => (0_usize..64, ending()).prop_map(|(which, how)| Doing::End(which, how)),
        3 => (driver(), ending()).prop_map(|(driver, how)| Doing::Call(driver, how)),
        4 => time.prop_map(Doing::Pass),
    ]
}

#[test]
fn random_calls_at_random_times_obey_the_naive_law() {
    let mut config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(7);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let seen = RefCell::new(BTreeSet::new());
    let cases = (numbers(), vec(doing(), 0..=STEPS));
    let held = TestRunner::new(config).run(&cases, |(numbers, sequence)| {
        runtime.block_on(obeys(numbers, &sequence, &seen))
    });
    match held {
        Ok(()) => {}
        Err(TestError::Fail(wrong, (numbers, sequence))) => {
            panic!("{wrong}\n{numbers:?}\n{sequence:?}");
        }
        Err(wrong) => panic!("{wrong}"),
    }
    // Whatever can happen has happened, so that none of it was left out unseen.
    let seen: Vec<_> = seen.into_inner().into_iter().collect();
    let all = [
        "cooldown",
        "late",
        "open",
        "open_for",
        "probe_failed",
        "probes_busy",
        "probes_hung",
        "probes_succeeded",
        "threshold",
    ];
    assert_eq!(seen, all);
}

async fn obeys(
    numbers: Numbers,
    sequence: &[Doing],
    seen: &RefCell<BTreeSet<&'static str>>,
) -> Result<(), TestCaseError> {
    let registry = drivers::registry(numbers.policy());
    let breaker = drivers::breaker(&registry);
    let mut law = Law::new(numbers);
    let mut held: Vec<(usize, Driver, Held)> = Vec::new();
    for (at, doing) in sequence.iter().enumerate() {
        match *doing {
            Doing::Begin(driver) => {
                let driver = Driver::ALL[driver];
                let answer = law.begin();
                match driver.begin(&registry) {
                    Ok(call) => match answer {
                        Answer::LetThrough(id) => held.push((id, driver, call)),
                        refused => prop_assert!(false, "{at}: let through, not {refused:?}"),
                    },
                    Err(rejected) => prop_assert_eq!(refusal(rejected, seen), Some(answer)),
                }
            }
            Doing::Call(driver, how) => {
                let driver = Driver::ALL[driver];
                let how = said_by(driver, how, true);
                let answer = law.begin();
                match driver.call(&registry, how) {
                    Ok(()) => match answer {
                        Answer::LetThrough(id) => law.end(id, how),
                        refused => prop_assert!(false, "{at}: let through, not {refused:?}"),
                    },
                    Err(rejected) => prop_assert_eq!(refusal(rejected, seen), Some(answer)),
                }
            }
            Doing::End(_, _) if held.is_empty() => {}
            Doing::End(which, how) => {
                let (id, driver, call) = held.swap_remove(which % held.len());
                let how = said_by(driver, how, false);
                call.end(how);
                law.end(id, how);
            }
            Doing::Pass(time) => {
                tokio::time::advance(time).await;
                law.pass(time);
            }
        }
        let snapshot = breaker.snapshot();
        note(&snapshot, seen);
        prop_assert_eq!(
            View::from(snapshot),
            law.view(),
            "after {}: {:?}",
            at,
            doing
        );
    }
    for (id, _, call) in held {
        call.end(Ending::Drop);
        law.end(id, Ending::Drop);
    }
    prop_assert_eq!(View::from(breaker.snapshot()), law.view(), "after all");
    Ok(())
}

/// Not every way of calling has a word for every ending.
const fn said_by(driver: Driver, how: Ending, at_once: bool) -> Ending {
    if driver.can_say(how, at_once) {
        how
    } else {
        Ending::Failure
    }
}

fn refusal(
    rejected: breakerbox::Rejected,
    seen: &RefCell<BTreeSet<&'static str>>,
) -> Option<Answer> {
    let why = rejected.reason()?;
    Some(match rejected.kind() {
        RejectedKind::ProbesBusy => {
            seen.borrow_mut().insert("probes_busy");
            Answer::Busy { why }
        }
        _ => {
            seen.borrow_mut().insert("open");
            let left = rejected.retry_after()?;
            Answer::Open { left, why }
        }
    })
}

fn note(snapshot: &breakerbox::Snapshot, seen: &RefCell<BTreeSet<&'static str>>) {
    let mut seen = seen.borrow_mut();
    seen.extend(snapshot.reason.map(|reason| reason.label()));
    if snapshot.calls.late > 0 {
        seen.insert("late");
    }
    match snapshot.state {
        breakerbox::State::HalfOpen => seen.insert("cooldown"),
        breakerbox::State::Closed if snapshot.generation > 0 => seen.insert("probes_succeeded"),
        _ => false,
    };
}
