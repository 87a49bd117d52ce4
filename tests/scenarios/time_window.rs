//! B and C: windows of the last so long, and their borders.

use std::time::Duration;

use breakerbox::Policy;
use breakerbox::Window;

use super::drivers::seconds;
use super::runner::scenarios;

const fn last(duration: Duration) -> Policy {
    Policy::new().window(Window::Time(duration))
}

const TEN: Policy = last(seconds(10)).min_calls(4).failure_rate(0.5);
const THREE: Policy = last(seconds(10)).threshold(3);
const SHORT: Policy = last(Duration::from_millis(200))
    .min_calls(3)
    .failure_rate(0.5);
/// A tenth of it is no whole number of nanoseconds.
const ODD: Policy = last(Duration::new(10, 1)).threshold(3);

scenarios! {
    b7_failures_further_apart_than_the_window_do_not_meet: last(seconds(5)).threshold(2),
        "F +6s F =closed failures:1 +4s F =open";
    b9_so_many_failures_in_the_window_open: THREE,
        "2xF +11s 2xF =closed F =open why:threshold_in_window failures:3";
    b9_successes_between_them_do_not_reset: THREE, "2x(F S) =closed F =open calls:5";
    c1_all_are_held_until_a_tick_before_the_window_has_passed: TEN, "3xF +10s-1ns F =open calls:4";
    c2_what_is_long_gone_counts_no_more: TEN, "2xS F +20s F =closed calls:1 failures:1";
    c3_the_border_is_exclusive: TEN, "2xS F +10s F =closed calls:1 failures:1";
    c5_only_what_is_a_window_old_has_left: TEN, "S +10s-1ns 2xS F =closed +1ns F =open calls:4 failures:2";
    c8_a_success_can_open: TEN, "3xF =closed S =open rate:0.75";
    c9_half_of_four: TEN, "2xS F =closed F =open rate:0.5";
    c11_one_leaves_each_second: TEN, "10x(S +1s) calls:9 +1s calls:8 +7s calls:1 +1s calls:0";
    c13_a_short_window: SHORT,
        "F S +210ms calls:0 F S +50ms S =closed rate:0.3333333333333333 F =open rate:0.5";
    c14_after_a_long_time_nothing_is_left: TEN,
        "3xF +100s calls:0 F =closed calls:1 +10000d S calls:1";
    c_an_outcome_is_held_by_the_instant_of_its_end: TEN, "[a +9s a]F +9s calls:1 +1s calls:0";
    c_an_outcome_leaves_with_its_bucket: TEN, "+999ms F +9001ms-1ns calls:1 +1ns calls:0";
    c_buckets_begin_with_the_clock: TEN, "+500ms F +500ms F +9s-1ns calls:2 +1ns calls:1 +1s calls:0";
    c_a_tenth_is_rounded_up: ODD, "F +10s+9ns calls:1 +1ns calls:0";
    c_a_success_opens_after_others_have_left: TEN, "4xS +5s 3xF =closed +5s S =open calls:4 failures:3";
    c_a_success_opens_in_whatever_bucket_others_have_left: TEN,
        "5xS +1s 5xF =open";
    c_nothing_opens_where_nobody_comes: TEN, "4xS +5s 3xF +5s rate:none calls:3 =closed";
    c_an_ignored_outcome_is_not_judged: TEN.min_calls(3), "4xS +5s 3xF +5s rate:1 I =closed D =closed S =open";
    c_a_late_outcome_judges_nothing_for_the_next_one: TEN,
        "force-closed:1h [a clear 4xS +4s S 3xF =closed force-open:6s +6s [b a]S =closed S =open";
    c_an_ignored_outcome_in_a_ramp_judges_nothing_for_the_next_one: TEN.ramp(seconds(30)),
        "O1s +1s S 4xS +5s S 3xF +5s I =closed S =open why:failure_rate";
    c_closing_empties_the_window: THREE, "2xF +1s O1s +1s S =closed calls:0 2xF =closed F =open";
    c_the_shortest_window_is_ten_ticks: last(Duration::from_nanos(3)).threshold(2),
        "F +9ns calls:1 +1ns calls:0 F +5ns F =open";
}
