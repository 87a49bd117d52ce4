//! K8: numbers that no breaker can work with are refused before any call.
//!
//! What is written in an attribute is refused by the compiler; here it is what comes
//! at run time.

use std::time::Duration;

use breakerbox::BuildError;
use breakerbox::Policy;
use breakerbox::Problem;
use breakerbox::Registry;

use super::drivers::seconds;

const OK: Policy = Policy::new();

/// A key, and numbers in which it is wrong.
const WRONG: [(&str, Policy); 15] = [
    ("threshold", OK.threshold(0)),
    ("threshold", OK.threshold(Policy::MAX_THRESHOLD + 1)),
    ("threshold", OK.threshold(u32::MAX)),
    ("cooldown", OK.cooldown(Duration::ZERO)),
    ("probes", OK.probes(0)),
    ("probes", OK.probes(0).close_after(1)),
    ("probes", OK.probes(u32::MAX)),
    ("close_after", OK.close_after(0)),
    ("close_after", OK.probes(2).close_after(3)),
    ("probe_concurrency", OK.probe_concurrency(0)),
    ("probe_concurrency", OK.probe_concurrency(2)),
    ("probe_concurrency", OK.probes(2).probe_concurrency(3)),
    ("probe_concurrency", OK.close_after(2).probe_concurrency(3)),
    ("probe_timeout", OK.probe_timeout(Duration::ZERO)),
    ("max_open_for", OK.max_open_for(Duration::ZERO)),
];

const RIGHT: [Policy; 9] = [
    OK,
    OK.threshold(1),
    OK.threshold(Policy::MAX_THRESHOLD),
    OK.cooldown(Duration::from_nanos(1)),
    OK.cooldown(Duration::MAX)
        .probe_timeout(Duration::MAX)
        .max_open_for(Duration::MAX),
    OK.close_after(3),
    OK.probes(3).close_after(3).probe_concurrency(3),
    OK.close_after(3).probe_concurrency(2),
    OK.max_open_for(seconds(1)),
];

/// K8
#[test]
fn k8_each_wrong_number_is_refused_with_its_key() {
    for (key, policy) in WRONG {
        let error = policy.check().expect_err(key);
        assert_eq!(error.key().name(), key, "{policy:?}");
        assert!(error.message().contains(key), "{}", error.message());
    }
    for policy in RIGHT {
        assert_eq!(policy.check(), Ok(()), "{policy:?}");
    }
}

/// K8
#[test]
fn k8_a_registry_lists_all_wrong_numbers_at_once() {
    let mut builder = Registry::builder().declare_with("good", OK);
    for (at, (_, policy)) in WRONG.into_iter().enumerate() {
        builder = builder.declare_with(format!("bad {at}"), policy);
    }
    let Err(BuildError::Problems(problems)) = builder.build() else {
        panic!("wrong numbers were accepted");
    };
    let found: Vec<_> = problems
        .iter()
        .map(|problem| match problem {
            Problem::Policy { service, source } => (service.clone(), source.key().name()),
            other => panic!("{other}"),
        })
        .collect();
    let expected: Vec<_> = WRONG
        .into_iter()
        .enumerate()
        .map(|(at, (key, _))| (format!("bad {at}"), key))
        .collect();
    assert_eq!(found, expected);
}

/// K8
#[test]
fn k8_wrong_names_are_refused_with_the_numbers() {
    let wrong = Registry::builder()
        .declare("")
        .declare_with("a\nb", OK.threshold(0))
        .declare("x".repeat(129))
        .build();
    let Err(BuildError::Problems(problems)) = wrong else {
        panic!("wrong names were accepted");
    };
    let names = problems
        .iter()
        .filter(|it| matches!(it, Problem::Name { .. }));
    assert_eq!((names.count(), problems.len()), (3, 4));
}

/// K11
#[tokio::test(start_paused = true)]
async fn k11_a_cooldown_of_all_time_is_accepted_and_keeps_it_open() {
    super::runner::play(
        "k11",
        OK.threshold(1).cooldown(Duration::MAX),
        "F X +10000d X look =open rejected:2",
    )
    .await;
}
