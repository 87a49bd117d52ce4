//! Random calls, overrides and changes at random times, held against the naive law.
//!
//! The seed is fixed, so that a run says the same each time. `PROPTEST_RNG_SEED` and
//! `PROPTEST_CASES` go looking elsewhere.

mod doing;
mod numbers;
mod obeys;

use std::cell::Cell;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::env;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::Config;
use proptest::test_runner::RngSeed;
use proptest::test_runner::TestCaseError;
use proptest::test_runner::TestError;
use proptest::test_runner::TestRunner;

use super::law::Fault;
use super::law::Numbers;
use doing::Doing;

/// The longest sequence, short enough for a law that counts everything anew each time.
const LONGEST: usize = 160;

const CASES: u32 = 1_400;

/// So many of them are played at least.
const STEPS: u64 = 100_000;

/// What is tried out in one run.
#[derive(Clone, Debug)]
struct Case {
    numbers: Numbers,
    sequence: Vec<Doing>,
}

/// What has happened in all cases.
#[derive(Debug, Default)]
struct Seen {
    steps: Cell<u64>,
    cases: Cell<u64>,
    words: RefCell<BTreeSet<&'static str>>,
}

fn cases() -> impl Strategy<Value = Case> {
    let sequence = vec(doing::doing(), 0..=LONGEST);
    (numbers::numbers(), sequence, doing::kinds()).prop_map(|(numbers, mut sequence, kinds)| {
        sequence.retain(|doing| kinds.allow(*doing, &numbers));
        Case { numbers, sequence }
    })
}

fn config() -> Config {
    let mut config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(7);
    }
    if !goes_elsewhere() {
        config.cases = CASES;
    }
    config
}

fn goes_elsewhere() -> bool {
    ["PROPTEST_CASES", "PROPTEST_RNG_SEED"]
        .iter()
        .any(|name| env::var_os(name).is_some())
}

fn run(config: Config, fault: Option<Fault>, seen: &Seen) -> Result<(), TestError<Case>> {
    TestRunner::new(config).run(&cases(), |case| {
        obeys::obeys(&case, fault, seen).map_err(TestCaseError::fail)
    })
}

#[test]
fn whatever_happens_at_whatever_time_obeys_the_naive_law() {
    let seen = Seen::default();
    match run(config(), None, &seen) {
        Ok(()) => {}
        Err(TestError::Fail(wrong, case)) => panic!("{wrong}\n{case:#?}"),
        Err(wrong) => panic!("{wrong}"),
    }
    if goes_elsewhere() {
        return;
    }
    assert!(seen.steps.get() >= STEPS, "{} steps", seen.steps.get());
    // Whatever can happen has happened, so that none of it was left out unseen.
    let words = seen.words.into_inner().into_iter().collect::<Vec<_>>();
    assert_eq!(
        words,
        [
            "busy",
            "closed",
            "cooldown",
            "failure_rate",
            "forced",
            "forced_closed",
            "forced_open",
            "half_open",
            "hung",
            "late",
            "open",
            "open_for",
            "override",
            "override_ended",
            "probe_failed",
            "probe_failure_rate",
            "probe_slow",
            "probes_hung",
            "probes_succeeded",
            "ramp",
            "reset",
            "shadow",
            "slow_call_rate",
            "threshold",
            "threshold_in_window",
            "would_open",
            "would_reject",
        ]
    );
}

/// Were the breaker wrong in one of these ways, the same cases would show it.
#[test]
fn every_fault_would_be_found() {
    let config = Config {
        max_shrink_iters: 0,
        ..config()
    };
    let missed: Vec<_> = Fault::ALL
        .iter()
        .filter(|fault| run(config.clone(), Some(**fault), &Seen::default()).is_ok())
        .collect();
    assert!(missed.is_empty(), "nothing showed {missed:?}");
}
