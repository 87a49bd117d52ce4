//! K8: numbers that no breaker can work with are refused before any call.
//!
//! What is written in an attribute is refused by the compiler; here it is what comes
//! at run time.

use std::time::Duration;

use breakerbox::BuildError;
use breakerbox::OnCancel;
use breakerbox::Policy;
use breakerbox::Problem;
use breakerbox::Registry;
use breakerbox::Window;

use super::drivers::seconds;

const OK: Policy = Policy::new();

const CALLS: Policy = OK.window(Window::Calls(10));
const TIME: Policy = OK.window(Window::Time(seconds(10)));
const RATE: Policy = CALLS.failure_rate(0.5);
const SLOW: Policy = CALLS.slow_call(seconds(1));

/// A key, and numbers in which it is wrong.
const WRONG: [(&str, Policy); 52] = [
    ("threshold", OK.threshold(0)),
    ("threshold", OK.threshold(Policy::MAX_THRESHOLD + 1)),
    ("threshold", OK.threshold(u32::MAX)),
    ("threshold", CALLS.threshold(11)),
    ("threshold", OK.window(Window::Calls(4))),
    ("window", OK.window(Window::Calls(0))),
    ("window", OK.window(Window::Calls(u32::MAX))),
    ("window", OK.window(Window::Time(Duration::ZERO))),
    ("failure_rate", CALLS.failure_rate(0.0)),
    ("failure_rate", CALLS.failure_rate(-0.5)),
    ("failure_rate", CALLS.failure_rate(1.01)),
    ("failure_rate", CALLS.failure_rate(f64::NAN)),
    ("failure_rate", OK.failure_rate(0.5)),
    ("min_calls", RATE.min_calls(0)),
    ("min_calls", RATE.min_calls(11)),
    ("min_calls", CALLS.min_calls(5)),
    ("min_failures", RATE.min_failures(0)),
    ("min_failures", RATE.min_failures(11)),
    ("min_failures", SLOW.min_failures(5)),
    ("slow_call", OK.slow_call(Duration::ZERO)),
    ("slow_call", TIME.slow_call(seconds(11))),
    ("slow_call_rate", SLOW.slow_call_rate(0.0)),
    ("slow_call_rate", SLOW.slow_call_rate(50.0)),
    ("slow_call_rate", SLOW.slow_call_rate(f64::NAN)),
    ("slow_call_rate", CALLS.slow_call_rate(0.5)),
    (
        "slow_call_rate",
        OK.slow_call(seconds(1)).slow_call_rate(0.5),
    ),
    ("cooldown", OK.cooldown(Duration::ZERO)),
    ("backoff", OK.backoff(0.5)),
    ("backoff", OK.backoff(f64::NAN)),
    ("backoff", OK.backoff(f64::INFINITY)),
    ("max_cooldown", OK.max_cooldown(seconds(59))),
    ("jitter", OK.jitter(-0.1)),
    ("jitter", OK.jitter(1.1)),
    ("jitter", OK.jitter(f64::NAN)),
    ("probes", OK.probes(0)),
    ("probes", OK.probes(0).close_after(1)),
    ("probes", OK.probes(u32::MAX)),
    ("close_after", OK.close_after(0)),
    ("close_after", OK.probes(2).close_after(3)),
    ("probe_concurrency", OK.probe_concurrency(0)),
    ("probe_concurrency", OK.probe_concurrency(2)),
    ("probe_concurrency", OK.probes(2).probe_concurrency(3)),
    ("probe_concurrency", OK.close_after(2).probe_concurrency(3)),
    ("probe_failure_rate", OK.probe_failure_rate(0.0)),
    ("probe_failure_rate", OK.probe_failure_rate(f64::NAN)),
    ("probe_timeout", OK.probe_timeout(Duration::ZERO)),
    ("max_open_for", OK.max_open_for(Duration::ZERO)),
    ("ramp", OK.ramp(Duration::ZERO)),
    ("on_cancel", OK.on_cancel(OnCancel::After(Duration::ZERO))),
    ("min_instances", OK.min_instances(0)),
    ("min_instances", OK.min_instances(Policy::MAX_INSTANCES + 1)),
    ("min_instances", OK.min_instances(u32::MAX)),
];

const RIGHT: [Policy; 19] = [
    OK,
    OK.threshold(1),
    OK.threshold(Policy::MAX_THRESHOLD),
    OK.cooldown(Duration::from_nanos(1)),
    OK.cooldown(Duration::MAX)
        .probe_timeout(Duration::MAX)
        .max_open_for(Duration::MAX)
        .max_cooldown(Duration::MAX)
        .slow_call(Duration::MAX)
        .ramp(Duration::MAX)
        .window(Window::Time(Duration::MAX)),
    OK.close_after(3),
    OK.probes(3).close_after(3).probe_concurrency(3),
    OK.close_after(3).probe_concurrency(2),
    OK.max_open_for(seconds(1)),
    RATE.min_calls(10).min_failures(10),
    RATE.failure_rate(1.0).threshold(10),
    OK.window(Window::Calls(1)).failure_rate(0.01),
    TIME.slow_call(seconds(10)).min_calls(1_000),
    SLOW.slow_call_rate(1.0),
    OK.slow_call(seconds(1)),
    OK.backoff(1.0).jitter(1.0).max_cooldown(seconds(60)),
    OK.probe_failure_rate(1.0).shadow(true),
    OK.min_instances(1).probe_wait(Duration::ZERO),
    OK.min_instances(Policy::MAX_INSTANCES)
        .probe_wait(Duration::MAX),
];

/// K8, K10
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

/// K10: what a window can never hold is no default either.
#[test]
fn k10_the_calls_that_a_rate_needs_fit_into_the_window() {
    assert_eq!(RATE.get_min_calls(), 10);
    assert_eq!(RATE.check(), Ok(()));
    let error = RATE.min_calls(11).check().unwrap_err();
    assert_eq!(error.key().name(), "min_calls");
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
