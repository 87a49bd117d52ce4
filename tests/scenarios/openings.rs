//! E: how long a circuit stays open, and what a rejection tells.

use std::time::Duration;

use breakerbox::Policy;
use breakerbox::Reason;
use breakerbox::RejectedKind;
use breakerbox::State;

use super::drivers::breaker;
use super::drivers::registry;
use super::drivers::seconds;
use super::runner::scenarios;

const ONE: Policy = Policy::new().threshold(1);
const FIVE_SECONDS: Policy = ONE.cooldown(seconds(5));
const AT_THE_THIRD: Policy = Policy::new().threshold(3).cooldown(seconds(5));

const DOUBLING: Policy = ONE.cooldown(seconds(1)).backoff(2.0);
const JITTERED: Policy = ONE.jitter(0.1);

scenarios! {
    e1_an_open_circuit_rejects_until_its_time_has_passed: FIVE_SECONDS,
        "F X5s +3s X2s rejected:2 =open +2s [a =half-open count:0 rejected:2 failure:1 a]S =closed";
    e2_the_end_of_an_opening_is_inclusive: ONE.cooldown(seconds(30)),
        "F +30s-1ns X1ns +1ns S =closed";
    e2_a_caller_who_waits_what_it_was_told_is_admitted: ONE.cooldown(seconds(30)),
        "F +7s X23s +23s [a a]S";
    e11_a_ban_opens_at_once_for_exactly_its_time: Policy::new().cooldown(seconds(5)),
        "S O120s =open why:open_for X120s +120s-1ns X1ns +1ns S =closed";
    e11_a_ban_can_be_shorter_than_the_cooldown: Policy::new(), "O2s X2s +2s S =closed";
    e11_a_ban_is_capped: Policy::new().max_open_for(seconds(100)), "O1000s X100s";
    e11_a_request_for_rest_that_does_not_trip_changes_nothing: AT_THE_THIRD,
        "2xR120s =closed count:2 F X5s";
    e11_a_request_for_rest_that_trips_keeps_it_open: AT_THE_THIRD, "2xF R120s =open X120s left:120s";
    e11_a_request_for_less_than_the_cooldown_is_the_cooldown: AT_THE_THIRD, "2xF R1s X5s";
    e11_a_request_for_rest_is_capped: AT_THE_THIRD.max_open_for(seconds(100)), "2xF R1000s X100s";
    e11_the_cap_is_never_below_the_cooldown: AT_THE_THIRD.max_open_for(seconds(1)), "2xF R1000s X5s";
    e11_a_probe_that_asks_for_rest_gets_it: FIVE_SECONDS, "F +5s R120s =open X120s";
    e11_a_probe_that_is_banned_opens_for_exactly_that: FIVE_SECONDS, "F +5s O2s =open X2s why:open_for";
    e11_a_ban_is_remembered_for_one_opening_only: FIVE_SECONDS, "O120s +120s F X5s";
    e15_an_open_circuit_reads_open_until_somebody_comes: FIVE_SECONDS,
        "F +1h 100xlook =open moves:1 left:0s [a =half-open moves:2 a]S =closed";
    e15_looking_at_a_round_changes_nothing: FIVE_SECONDS,
        "F +5s [a 100xlook =half-open moves:2 in-flight:1 +1h 100xlook moves:2 a]S =closed";
    e15_looking_at_a_closed_circuit_changes_nothing: AT_THE_THIRD,
        "2xF 100xlook count:2 moves:0 F =open";
    e16_what_is_left_is_never_negative: FIVE_SECONDS, "+10s F +2s X3s left:3s +3s left:0s +9s left:0s";
    e16_nothing_is_left_in_half_open_or_closed: FIVE_SECONDS, "left:none F +5s [a left:none a]S left:none";
    e_every_reopening_lasts_a_cooldown_of_its_own: FIVE_SECONDS, "F 9x(+5s F X5s +1s X4s +4s F X5s) =open";
    e5_each_reopening_lasts_longer: FIVE_SECONDS.backoff(1.5),
        "F X5s +6s [a a]F =open X7500ms +6s X1500ms +5s S =closed";
    e8_closing_resets_the_backoff: DOUBLING,
        "F X1s +1s F X2s +2s F X4s +4s F X8s +8s F X16s trips:5 +16s S =closed trips:0 \
         F X1s +1s F X2s +2s F X4s trips:3";
    e8_the_longest_cooldown_ends_the_backoff: DOUBLING.max_cooldown(seconds(5)),
        "F X1s +1s F X2s +2s F X4s +4s F X5s +5s F X5s trips:5";
    e8_without_a_word_a_cooldown_grows_to_ten_minutes: ONE.backoff(1000.0), "F X60s +60s F X10m +10m F X10m";
    e8_a_longer_cooldown_does_not_grow: ONE.cooldown(seconds(1200)).backoff(2.0), "F X20m +20m F X20m";
    e8_hung_probes_make_it_longer: DOUBLING.probe_timeout(seconds(1)), "F +1s [a +1s [b +1s X2s why:probes_hung";
    e8_a_ban_is_a_trip: DOUBLING, "O9s X9s trips:1 +9s F X2s trips:2";
    e8_a_ban_does_not_grow: DOUBLING, "F +1s O9s X9s trips:2 +9s F X4s";
    e8_a_request_for_rest_is_measured_by_the_grown_cooldown: DOUBLING, "F +1s R3s X3s +3s R3s X4s +4s R500s X500s";
    e8_a_request_for_rest_may_be_longer_than_the_longest_cooldown: DOUBLING.max_cooldown(seconds(3)), "R9s X9s";
    e8_the_backoff_does_not_overflow: ONE.cooldown(seconds(60)).backoff(1000.0).max_cooldown(Duration::MAX),
        "400x(O1ns +1ns) trips:400 F =open trips:401 +10000d X look";
    e_jitter_makes_an_opening_up_to_so_much_longer: JITTERED, "F left:60s..66s +59s X +7s S =closed";
    e_jitter_comes_after_the_longest_cooldown: ONE.backoff(2.0).max_cooldown(seconds(90)).jitter(1.0),
        "F left:60s..120s +120s F left:90s..180s +180s F left:90s..180s";
    e_a_request_for_rest_is_measured_by_the_jittered_cooldown: JITTERED, "R120s left:120s +120s R1s left:60s..66s";
    e_a_ban_has_no_jitter: JITTERED, "O30s left:30s";
    e_rejected_calls_do_not_prolong_the_opening: FIVE_SECONDS, "F 4x(+1s X) +1s S =closed rejected:4";
}

/// E17
#[tokio::test(start_paused = true)]
async fn e17_a_rejection_carries_the_rule_and_its_numbers() {
    let registry = registry(AT_THE_THIRD);
    let breaker = breaker(&registry);
    for _ in 0..3 {
        breaker.try_acquire().unwrap().failure();
    }
    let rule = Reason::Threshold {
        failures: 3,
        threshold: 3,
    };
    let rejected = breaker.try_acquire().unwrap_err();
    assert_eq!(rejected.service(), "scenario");
    assert_eq!(rejected.kind(), RejectedKind::Open);
    assert_eq!(rejected.reason(), Some(rule));
    assert_eq!(rejected.retry_after(), Some(seconds(5)));
    assert_eq!(
        rejected.to_string(),
        "circuit `scenario` is open after 3 failures in a row (threshold 3), retry in 5.0s"
    );
    assert_eq!(breaker.snapshot().reason, Some(rule));

    // In half-open, the rule is still the one that opened the circuit.
    tokio::time::advance(seconds(5)).await;
    let probe = breaker.try_acquire().unwrap();
    let busy = breaker.try_acquire().unwrap_err();
    assert_eq!(busy.kind(), RejectedKind::ProbesBusy);
    assert_eq!(busy.reason(), Some(rule));
    assert_eq!(busy.retry_after(), None);

    probe.failure();
    assert_eq!(breaker.state(), State::Open);
    let again = breaker.try_acquire().unwrap_err();
    assert_eq!(again.reason(), Some(Reason::ProbeFailed));
}

/// E2: what `retry_after` says is what a timer needs.
#[tokio::test(start_paused = true)]
async fn e2_a_caller_who_sleeps_as_long_as_it_was_told_is_admitted() {
    let registry = registry(FIVE_SECONDS);
    let breaker = breaker(&registry);
    breaker.try_acquire().unwrap().failure();
    let rejected = breaker.try_acquire().unwrap_err();
    tokio::time::sleep(rejected.retry_after().unwrap()).await;
    assert!(breaker.try_acquire().is_ok());
}
