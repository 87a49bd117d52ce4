//! Random calls, overrides and changes at random times, held against the naive law.
//!
//! The seed is fixed, so that a run says the same each time. `PROPTEST_RNG_SEED` and
//! `PROPTEST_CASES` go looking elsewhere.

mod doing;
mod numbers;
mod obeys;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::env;
use std::thread;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::Config;
use proptest::test_runner::RngAlgorithm;
use proptest::test_runner::RngSeed;
use proptest::test_runner::TestCaseError;
use proptest::test_runner::TestError;
use proptest::test_runner::TestRunner;

use super::law::Fault;
use super::law::Numbers;
use doing::Doing;

/// The longest sequence, short enough for a law that counts everything anew each time.
const LONGEST: usize = 420;

/// As many as it takes to play so many steps.
const CASES: u32 = 280;
const STEPS: usize = 100_000;

/// One for each of two threads: where the cases come from.
const SEEDS: [u64; 2] = [7, 8];

/// What is tried out in one run.
#[derive(Clone, Debug)]
struct Case {
    numbers: Numbers,
    sequence: Vec<Doing>,
}

/// What has happened in some cases.
#[derive(Debug, Default)]
struct Seen {
    cases: usize,
    steps: usize,
    words: BTreeSet<&'static str>,
}

fn cases() -> impl Strategy<Value = Case> {
    let sequence = vec(doing::doing(), 0..=LONGEST);
    (numbers::numbers(), sequence, doing::kinds()).prop_map(|(numbers, mut sequence, kinds)| {
        sequence.retain(|doing| kinds.allow(*doing, &numbers));
        Case { numbers, sequence }
    })
}

/// Looks at the cases of one seed, and at other cases where somebody wants that.
fn config(seed: u64) -> Config {
    let mut config = Config {
        failure_persistence: None,
        // The default one is slow where nothing is optimised.
        rng_algorithm: RngAlgorithm::XorShift,
        ..Config::default()
    };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(seed);
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

/// What has happened, and where the breaker went another way than the law.
fn run(config: Config, fault: Option<Fault>) -> (Seen, Result<(), TestError<Case>>) {
    let seen = RefCell::new(Seen::default());
    let out = TestRunner::new(config).run(&cases(), |case| {
        obeys::obeys(&case, fault, &mut seen.borrow_mut()).map_err(TestCaseError::fail)
    });
    (seen.into_inner(), out)
}

#[test]
fn whatever_happens_at_whatever_time_obeys_the_naive_law() {
    let all = thread::scope(|scope| {
        SEEDS
            .map(|seed| scope.spawn(move || run(config(seed), None)))
            .map(|thread| thread.join().expect("it ends"))
    });
    let mut steps = 0;
    let mut words = BTreeSet::new();
    for (seen, out) in all {
        match out {
            Ok(()) => {}
            Err(TestError::Fail(wrong, case)) => panic!("{wrong}\n{case:#?}"),
            Err(wrong) => panic!("{wrong}"),
        }
        steps += seen.steps;
        words.extend(seen.words);
    }
    if goes_elsewhere() {
        return;
    }
    assert!(steps >= STEPS, "{steps} steps");
    // Whatever can happen has happened, so that none of it was left out unseen.
    let words: Vec<_> = words.into_iter().collect();
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

/// Were the breaker wrong in one of these ways, such cases would show it.
#[test]
fn every_fault_would_be_found() {
    let misses = |fault: &&Fault| {
        let config = Config {
            max_shrink_iters: 0,
            ..config(SEEDS[0])
        };
        let (_, out) = run(config, Some(**fault));
        !matches!(out, Err(TestError::Fail(..)))
    };
    let missed = thread::scope(|scope| {
        let (some, others) = Fault::ALL.split_at(Fault::ALL.len() / 2);
        let search = |faults: &'static [Fault]| faults.iter().filter(misses).collect::<Vec<_>>();
        let others = scope.spawn(move || search(others));
        let mut missed = search(some);
        missed.extend(others.join().expect("it ends"));
        missed
    });
    assert!(missed.is_empty(), "nothing showed {missed:?}");
}
