//! What is refused here is what the runtime refuses, and nothing else.

use breakerbox::Policy;
use proc_macro2::TokenStream;
use quote::quote;

use super::*;
use crate::args::Table;

const SECOND: Duration = Duration::from_secs(1);

/// What is said about these arguments, and how many setters are called.
fn judged(tokens: TokenStream) -> (Vec<String>, usize) {
    let mut errors = Errors::default();
    let mut args = BreakerArgs::read(tokens, &mut errors);
    let settings = judge(&mut args, &mut errors);
    (errors.messages(), settings.len())
}

#[test]
fn the_limits_are_those_of_the_runtime() {
    assert_eq!(MAX_THRESHOLD, Policy::MAX_THRESHOLD);
    assert_eq!(MAX_PROBES, Policy::MAX_PROBES);
    assert_eq!(MAX_WINDOW_CALLS, Policy::MAX_WINDOW_CALLS);
    assert_eq!(MAX_KEYS, Policy::MAX_KEYS);
    assert_eq!(MAX_INSTANCES, Policy::MAX_INSTANCES);
    assert_eq!(Some(THRESHOLD), Policy::new().get_threshold());
    assert_eq!(COOLDOWN, Policy::new().get_cooldown());
    assert!(Policy::new().backoff(MAX_BACKOFF).check().is_ok());
    assert!(Policy::new().backoff(MAX_BACKOFF + 0.1).check().is_err());
}

/// K8, K10: each is refused here, where it is written, for the key that the runtime
/// refuses it for.
#[test]
fn what_the_runtime_refuses_is_refused_where_it_is_written() {
    use breakerbox::Window::Calls;
    use breakerbox::Window::Time;

    let policy = Policy::new();
    let calls = policy.window(Calls(10));
    let time = policy.window(Time(SECOND));
    let slow = calls.slow_call(SECOND);
    for (tokens, policy) in [
        (quote!(threshold = 0), policy.threshold(0)),
        (quote!(threshold = 524288), policy.threshold(524_288)),
        (quote!(window = 0), policy.window(Calls(0))),
        (quote!(window = "0s"), policy.window(Time(Duration::ZERO))),
        (quote!(window = 1_000_001), policy.window(Calls(1_000_001))),
        (quote!(window = 4), policy.window(Calls(4))),
        (quote!(window = 10, threshold = 11), calls.threshold(11)),
        (quote!(failure_rate = 0.5), policy.failure_rate(0.5)),
        (
            quote!(window = 10, failure_rate = "0%"),
            calls.failure_rate(0.0),
        ),
        (
            quote!(window = 10, failure_rate = "101%"),
            calls.failure_rate(1.01),
        ),
        (
            quote!(window = 10, failure_rate = 1.5),
            calls.failure_rate(1.5),
        ),
        (
            quote!(window = 10, failure_rate = 0.5, min_calls = 11),
            calls.failure_rate(0.5).min_calls(11),
        ),
        (
            quote!(window = 10, failure_rate = 0.5, min_calls = 0),
            calls.failure_rate(0.5).min_calls(0),
        ),
        (
            quote!(window = 10, failure_rate = 0.5, min_failures = 11),
            calls.failure_rate(0.5).min_failures(11),
        ),
        (
            quote!(window = 10, failure_rate = 0.5, min_failures = 0),
            calls.failure_rate(0.5).min_failures(0),
        ),
        (quote!(window = 10, min_calls = 5), calls.min_calls(5)),
        (
            quote!(slow_call = "1s", min_calls = 5),
            policy.slow_call(SECOND).min_calls(5),
        ),
        (
            quote!(window = 10, slow_call = "1s", min_failures = 5),
            slow.min_failures(5),
        ),
        (quote!(slow_call = "0s"), policy.slow_call(Duration::ZERO)),
        (
            quote!(window = "1s", slow_call = "2s"),
            time.slow_call(2 * SECOND),
        ),
        (
            quote!(window = 10, slow_call_rate = 0.5),
            calls.slow_call_rate(0.5),
        ),
        (
            quote!(slow_call = "1s", slow_call_rate = 0.5),
            policy.slow_call(SECOND).slow_call_rate(0.5),
        ),
        (
            quote!(window = 10, slow_call = "1s", slow_call_rate = 2.0),
            slow.slow_call_rate(2.0),
        ),
        (quote!(cooldown = "0s"), policy.cooldown(Duration::ZERO)),
        (quote!(backoff = 0.9), policy.backoff(0.9)),
        (quote!(backoff = 1001), policy.backoff(1001.0)),
        (
            quote!(max_cooldown = "59s"),
            policy.max_cooldown(59 * SECOND),
        ),
        (
            quote!(cooldown = "20m", max_cooldown = "19m"),
            policy.cooldown(1200 * SECOND).max_cooldown(1140 * SECOND),
        ),
        (quote!(jitter = 1.1), policy.jitter(1.1)),
        (
            quote!(max_open_for = "0s"),
            policy.max_open_for(Duration::ZERO),
        ),
        (quote!(probes = 0), policy.probes(0)),
        (quote!(probes = 262144), policy.probes(262_144)),
        (quote!(probe_concurrency = 2), policy.probe_concurrency(2)),
        (
            quote!(probes = 2, close_after = 3),
            policy.probes(2).close_after(3),
        ),
        (
            quote!(probe_failure_rate = "0%"),
            policy.probe_failure_rate(0.0),
        ),
        (quote!(ramp = "0s"), policy.ramp(Duration::ZERO)),
        (quote!(key = tenant, max_keys = 0), policy.max_keys(0)),
        (
            quote!(key = tenant, max_keys = 1_000_001),
            policy.max_keys(1_000_001),
        ),
        (quote!(min_instances = 0), policy.min_instances(0)),
        (quote!(min_instances = 65), policy.min_instances(65)),
    ] {
        let key = policy.check().unwrap_err().key().name();
        let (messages, _) = judged(tokens.clone());
        assert_eq!(messages.len(), 1, "{tokens}: {messages:?}");
        assert!(
            messages[0].contains(&format!("`{key}")),
            "{tokens}: {messages:?}"
        );
    }
}

#[test]
fn what_the_runtime_accepts_is_accepted() {
    use breakerbox::Window::Calls;

    let calls = Policy::new().window(Calls(4));
    let minutes = Duration::from_secs(1200);
    for (tokens, policy) in [
        (quote!(window = 4, threshold = 4), calls.threshold(4)),
        (
            quote!(window = 4, failure_rate = "100%"),
            calls.failure_rate(1.0),
        ),
        (
            quote!(
                window = 4,
                failure_rate = 0.5,
                min_calls = 4,
                min_failures = 4
            ),
            calls.failure_rate(0.5).min_calls(4).min_failures(4),
        ),
        (
            quote!(window = 4, threshold = 2, slow_call = "1s", min_calls = 3),
            calls.threshold(2).slow_call(SECOND).min_calls(3),
        ),
        (quote!(slow_call = "1s"), Policy::new().slow_call(SECOND)),
        (quote!(cooldown = "20m"), Policy::new().cooldown(minutes)),
        (
            quote!(cooldown = "20m", max_cooldown = "20m"),
            Policy::new().cooldown(minutes).max_cooldown(minutes),
        ),
        (quote!(jitter = 0.0), Policy::new().jitter(0.0)),
        (quote!(jitter = "100%"), Policy::new().jitter(1.0)),
        (quote!(backoff = 1), Policy::new().backoff(1.0)),
        (quote!(close_after = 3), Policy::new().close_after(3)),
        (quote!(shadow), Policy::new().shadow(true)),
        (
            quote!(key = tenant, max_keys = 1),
            Policy::new().max_keys(1),
        ),
        (quote!(min_instances = 1), Policy::new().min_instances(1)),
        (quote!(min_instances = 64), Policy::new().min_instances(64)),
        (
            quote!(probe_wait = "0s"),
            Policy::new().probe_wait(Duration::ZERO),
        ),
        (
            quote!(key = tenant, min_instances = 2, probe_wait = "1s"),
            Policy::new().min_instances(2).probe_wait(SECOND),
        ),
    ] {
        assert_eq!(policy.check(), Ok(()));
        assert_eq!(judged(tokens.clone()).0, Vec::<String>::new(), "{tokens}");
    }
}

#[test]
fn numbers_behind_code_are_left_to_the_compiler() {
    let (messages, settings) = judged(quote!(
        window = WINDOW,
        failure_rate = RATE,
        min_calls = CALLS,
        min_failures = FAILURES,
        slow_call = SLOW,
        slow_call_rate = SLOW_RATE,
        max_cooldown = LONGEST,
        backoff = GROWTH,
        jitter = SPREAD,
        probe_failure_rate = RATE,
        ramp = RAMP,
        shadow = DRY,
        key = tenant,
        max_keys = KEYS,
        min_instances = PROCESSES,
        probe_wait = WAIT
    ));
    assert_eq!(messages, Vec::<String>::new());
    assert_eq!(settings, 15);
}

/// A key that is there, but could not be read, is not missed by the others.
#[test]
fn one_mistake_is_told_once() {
    for tokens in [
        quote!(windw = "60s", failure_rate = 0.5, min_calls = 3),
        quote!(window = 50%, failure_rate = 0.5),
        quote!(window = , failure_rate = 0.5),
        quote!(
            window = 10,
            error_rate = 0.5,
            min_calls = 3,
            min_failures = 3
        ),
        quote!(window = "60s", slow_cal = "1s", slow_call_rate = 0.5),
        quote!(window = 3, treshold = 3),
        quote!(kye = tenant, max_keys = 3),
    ] {
        let (messages, _) = judged(tokens.clone());
        assert_eq!(messages.len(), 1, "{tokens}: {messages:?}");
    }
}

#[test]
fn a_window_is_a_time_in_quotes_or_a_number() {
    for (tokens, expected) in [
        (
            quote!(window = 60s),
            "a duration stands in quotes: write `window = \"60s\"`",
        ),
        (
            quote!(window = "100"),
            "`100` has no unit: did you mean `\"100s\"`, or `window = 100` for so many calls?",
        ),
        (quote!(window = -100), "`window` cannot be negative"),
        (
            quote!(window = 100u64),
            "`window` is a `u32`: write `100` without `u64`",
        ),
        (
            quote!(window = true),
            "`window` is a time, `window = \"60s\"`, or so many calls, `window = 100`",
        ),
        (quote!(window = "-5s"), "a duration cannot be negative"),
    ] {
        assert_eq!(judged(tokens).0, [expected]);
    }
    assert_eq!(judged(quote!(window = *WINDOW)), (Vec::new(), 1));
}
