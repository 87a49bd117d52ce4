//! Random numbers of a breaker, small ones, so that few calls and seconds meet them.

use std::time::Duration;

use breakerbox::OnCancel;
use breakerbox::Window;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::scenarios::drivers::seconds;
use crate::scenarios::law::Numbers;

pub(super) fn numbers() -> impl Strategy<Value = Numbers> {
    (closed(), opening(), round(), rest()).prop_map(|(closed, opening, round, rest)| {
        let numbers = together(closed, opening, round, rest);
        assert_eq!(numbers.policy().check(), Ok(()), "{numbers:?}");
        numbers
    })
}

pub(super) fn window() -> impl Strategy<Value = Window> {
    let lengths = [
        seconds(5),
        seconds(10),
        seconds(20),
        // Buckets of 700 ms, and a tenth that is no whole number of ticks.
        seconds(7),
        Duration::new(9, 1),
    ];
    prop_oneof![
        2 => select(lengths.as_slice().to_vec()).prop_map(Window::Time),
        1 => (2_u32..=6).prop_map(Window::Calls),
    ]
}

pub(super) fn rate() -> impl Strategy<Value = f64> {
    select(vec![0.25, 1.0 / 3.0, 0.5, 0.6, 0.75, 1.0])
}

pub(super) fn few() -> impl Strategy<Value = Duration> {
    (1_u64..=4).prop_map(seconds)
}

/// What opens a closed circuit.
fn closed() -> impl Strategy<Value = Numbers> {
    (
        option::of(1_u32..=4),
        option::weighted(0.75, window()),
        option::of(rate()),
        option::of(1_u32..=5),
        option::weighted(0.2, 1_u32..=3),
        option::of((1_u64..=3).prop_map(seconds)),
        option::of(rate()),
    )
        .prop_map(
            |(threshold, window, failure_rate, min_calls, min_failures, slow_call, slow_rate)| {
                Numbers {
                    threshold,
                    window,
                    failure_rate,
                    min_calls,
                    min_failures,
                    slow_call,
                    slow_call_rate: slow_rate,
                    ..Numbers::default()
                }
            },
        )
}

/// How long it stays open.
fn opening() -> impl Strategy<Value = Numbers> {
    let backoff = select(vec![1.5, 2.0, 3.0]);
    (
        few(),
        option::of((backoff, 0_u64..=9)),
        option::weighted(0.15, select(vec![0.1, 0.5, 1.0])),
        option::of((1_u64..=8).prop_map(seconds)),
    )
        .prop_map(|(cooldown, backoff, jitter, max_open_for)| Numbers {
            cooldown: Some(cooldown),
            backoff: backoff.map(|(factor, _)| factor),
            // So that a cooldown that grew is still a whole number of ticks.
            max_cooldown: backoff.map(|(_, more)| cooldown + seconds(more)),
            jitter,
            max_open_for,
            ..Numbers::default()
        })
}

/// Half-open rounds.
fn round() -> impl Strategy<Value = Numbers> {
    (1_u32..=4).prop_flat_map(|round| {
        let up_to = move || option::of(1..=round);
        let is_written = any::<bool>();
        let share = option::weighted(0.4, rate());
        (is_written, up_to(), up_to(), share, few()).prop_map(
            move |(is_written, close_after, probe_concurrency, share, probe_timeout)| {
                // Without it there are as many probes as `close_after` says.
                let default = close_after.unwrap_or(1);
                let is_written = is_written || probe_concurrency.is_some_and(|it| it > default);
                Numbers {
                    probes: is_written.then_some(round),
                    probe_concurrency,
                    close_after,
                    probe_failure_rate: share,
                    probe_timeout: Some(probe_timeout),
                    ..Numbers::default()
                }
            },
        )
    })
}

fn rest() -> impl Strategy<Value = Numbers> {
    let on_cancel = prop_oneof![
        Just(OnCancel::Ignore),
        Just(OnCancel::Failure),
        few().prop_map(OnCancel::After),
    ];
    (
        option::weighted(0.4, select(vec![seconds(3), seconds(8), seconds(20)])),
        option::of(on_cancel),
        option::weighted(0.1, Just(true)),
    )
        .prop_map(|(ramp, on_cancel, shadow)| Numbers {
            ramp,
            on_cancel,
            shadow,
            ..Numbers::default()
        })
}

/// Leaves out what would do nothing or could never be reached, and so would be refused.
fn together(closed: Numbers, opening: Numbers, round: Numbers, rest: Numbers) -> Numbers {
    let has_window = closed.window.is_some();
    let most = match closed.window {
        Some(Window::Calls(calls)) => calls,
        _ => u32::MAX,
    };
    let failure_rate = closed.failure_rate.filter(|_| has_window);
    let has_slow_rule = has_window && closed.slow_call.is_some();
    let slow_call_rate = closed.slow_call_rate.filter(|_| has_slow_rule);
    let has_rate = failure_rate.is_some() || slow_call_rate.is_some();
    // The default is five, which not every window holds.
    let has_default = has_rate || most >= 5;
    let threshold = match closed.threshold {
        None if !has_default => Some(most),
        written => written,
    };
    Numbers {
        threshold: threshold.map(|it| it.min(most)),
        window: closed.window,
        failure_rate,
        min_calls: closed
            .min_calls
            .filter(|_| failure_rate.is_some() || has_slow_rule)
            .map(|it| it.min(most)),
        min_failures: closed
            .min_failures
            .filter(|_| failure_rate.is_some())
            .map(|it| it.min(most)),
        slow_call: closed.slow_call,
        slow_call_rate,
        ramp: rest.ramp,
        on_cancel: rest.on_cancel,
        // How long an opening would last is not to be seen there.
        shadow: rest.shadow.filter(|_| opening.jitter.is_none()),
        probes: round.probes,
        probe_concurrency: round.probe_concurrency,
        close_after: round.close_after,
        probe_failure_rate: round.probe_failure_rate,
        probe_timeout: round.probe_timeout,
        ..opening
    }
}
