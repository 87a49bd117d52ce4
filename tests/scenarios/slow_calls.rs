//! D: calls that are slow, and calls that hang.

use std::time::Duration;

use breakerbox::OnCancel;
use breakerbox::Policy;
use breakerbox::Window;

use super::drivers::seconds;
use super::runner::scenarios;

const MINUTE: Policy = Policy::new().window(Window::Time(seconds(60)));
const SLOW: Policy = MINUTE
    .slow_call(seconds(4))
    .slow_call_rate(0.5)
    .min_calls(5)
    .failure_rate(0.5);
/// Slow calls are a rule, all of them, and there is no other.
const ALL_SLOW: Policy = MINUTE.threshold(99).slow_call(seconds(4)).min_calls(3);
/// Buckets of a second: what began in bucket 0 hangs in bucket 3.
const HANGING: Policy = Policy::new()
    .window(Window::Time(seconds(10)))
    .threshold(99)
    .slow_call(seconds(2))
    .slow_call_rate(0.5)
    .min_calls(3);
const PATIENT: Policy = HANGING.min_calls(9);

scenarios! {
    d1_slow_calls_open_though_few_fail: SLOW,
        "f5s s5s f100ms s100ms =closed s5s =open why:slow_call_rate slow:3 slow-rate:0.6 rate:0.4 \
         slow_failure:1 slow_success:2 failure:1 success:1";
    d2_a_call_that_takes_exactly_so_long_is_not_slow: SLOW, "5xs4s slow:0 slow-rate:0 =closed success:5";
    d2_a_tick_longer_is_slow: SLOW, "5xs4s+1ns =open slow:5 slow_success:5 success:0";
    d4_a_slow_failure_is_one_call_of_both_rates: SLOW,
        "f5s calls:1 failures:1 slow:1 slow_failure:1 failure:0 4xS rate:0.2 slow-rate:0.2";
    d6_an_ignored_call_is_in_neither_rate: SLOW, "9xi5s calls:0 slow:0 ignored:9 =closed";
    d_a_slow_panic_is_slow: SLOW, "p5s calls:1 failures:1 slow:1 panicked:1";
    d_a_slow_error_that_is_no_failure_is_slow: SLOW, "n5s calls:1 failures:0 slow:1 slow_success:1";
    d_a_call_dropped_after_it_was_slow_is_a_slow_failure: SLOW, "d5s calls:1 failures:1 slow:1 cancelled:1";
    d_a_call_dropped_before_it_was_slow_is_nothing: SLOW, "d4s calls:0 cancelled:1";
    d_a_dropped_call_that_counts_as_nothing_is_never_slow: SLOW.on_cancel(OnCancel::Ignore), "d5s calls:0";
    d_without_a_rate_all_calls_have_to_be_slow: ALL_SLOW, "2xs5s S =closed 9xs5s =closed +61s 3xs5s =open";
    d_there_is_no_slow_rate_below_the_calls_it_needs: ALL_SLOW, "2xs5s slow-rate:none =closed s5s =open";
    d_slow_calls_are_slow_in_a_count_window: Policy::new().window(Window::Calls(3)).threshold(3)
            .slow_call(seconds(4)).slow_call_rate(0.5),
        "s5s S s5s =open why:slow_call_rate slow:2 calls:3";
    d_a_slow_success_opens_where_failures_do_not: SLOW, "2xF 2xS 3xs5s =closed s5s =open why:slow_call_rate";
    d_without_a_window_a_slow_call_is_only_labelled: Policy::new().threshold(2).slow_call(seconds(4)),
        "9xs5s =closed slow_success:9 f5s d5s =open slow_failure:1 cancelled:1 why:threshold";
    d_the_min_failures_do_not_gate_slow_calls: SLOW.min_failures(9), "5xs5s =open why:slow_call_rate";

    d_calls_that_hang_open_before_one_has_ended: HANGING,
        "[a [b [c +3s-1ns hung:0 =closed +1ns hung:3 slow-rate:1 X60s =open why:slow_call_rate \
         calls:0 hung:3 ran:3 slow-rate:1";
    d_those_that_hang_are_calls_that_a_rate_needs: HANGING, "[a [b +3s hung:2 slow-rate:none S =open calls:1";
    d_too_few_that_hang_open_nothing: HANGING, "[a [b +3s I =closed hung:2 slow-rate:none";
    d_calls_that_hang_are_judged_with_every_outcome: HANGING, "[a +3s S =closed S =closed slow-rate:0.3333333333333333 \
         [b +3s hung:2 a]I hung:1 S =closed";
    d_a_call_hangs_when_all_of_its_bucket_is_too_old: PATIENT, "+1s-1ns [a +2s hung:0 +1ns hung:1";
    d_a_call_hangs_a_bucket_later_where_it_began_a_tick_later: PATIENT, "+1s [a +3s-1ns hung:0 +1ns hung:1";
    d_a_limit_between_buckets_is_rounded_up: PATIENT.slow_call(Duration::from_millis(2001)),
        "[a +4s-1ns hung:0 +1ns hung:1";
    d_a_limit_shorter_than_a_bucket: PATIENT.slow_call(Duration::from_millis(1)), "[a +2s-1ns hung:0 +1ns hung:1";
    d_a_call_that_hung_and_ended_is_a_slow_one: PATIENT,
        "[a [b +3s hung:2 a]S hung:1 slow:1 calls:1 b]S hung:0 slow:2 calls:2";
    d_a_call_that_hung_and_was_ignored_is_nothing: PATIENT, "[a +3s hung:1 a]I hung:0 slow:0 calls:0";
    d_a_call_that_hung_and_was_dropped_is_nothing_where_that_is_ignored: PATIENT.on_cancel(OnCancel::Ignore),
        "[a +3s hung:1 a]D hung:0 calls:0";
    d_a_call_goes_on_hanging_for_longer_than_the_window: PATIENT, "[a +1h hung:1 calls:0 a]S hung:0 slow:1";
    d_the_first_call_of_each_bucket_looks_for_those_that_hang: HANGING,
        "[a [b +1s [c +2s [d =closed +1s-1ns [e =closed +1ns X =open hung:3";
    d_an_outcome_sees_those_that_hang_in_between: HANGING, "[a [b +3s [c =closed c]S =open why:slow_call_rate";
    d_in_a_count_window_nobody_hangs: Policy::new().window(Window::Calls(9)).threshold(9)
            .slow_call(seconds(2)).min_calls(1), "[a [b +1h hung:0 [c =closed";
    d_without_a_slow_rule_nobody_hangs: MINUTE.threshold(9), "[a +1h hung:0 [b =closed";
    d_calls_of_an_earlier_generation_do_not_hang: PATIENT, "[a [b +3s hung:2 reset hung:0 a]S late:1 calls:0";
    d_calls_that_hung_in_an_override_do_not_hang_after_it: HANGING, "shadow:3s [a [b [c +3s [d =closed hung:0 told:2";
    d_a_hanging_probe_hangs_in_its_round_alone: HANGING, "O1s +1s [a +9s =half-open slow-rate:none";
    d_after_closing_nobody_hangs: HANGING, "[a [b O1s +1s S =closed +1h hung:0 [c =closed";
    d_without_a_hanging_call_only_outcomes_are_judged: HANGING.min_calls(1),
        "6xS +4s 2xs2s+1ns =closed +2s [a =closed slow-rate:1 I =closed a]S =open";
}
