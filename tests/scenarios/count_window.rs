//! A: windows of the last so many calls, and how many calls a rate needs.

use breakerbox::OnCancel;
use breakerbox::Policy;
use breakerbox::Window;

use super::drivers::seconds;
use super::runner::scenarios;

const fn last(calls: u32) -> Policy {
    Policy::new().window(Window::Calls(calls))
}

const FOUR: Policy = last(4).failure_rate(0.75);
const TWENTY_SECONDS: Policy = Policy::new()
    .window(Window::Time(seconds(20)))
    .min_calls(5)
    .failure_rate(0.5);
const TENTH: Policy = last(100).min_calls(10).failure_rate(0.1);
const ALL_RULES: Policy = last(10)
    .threshold(2)
    .failure_rate(0.5)
    .min_calls(2)
    .slow_call(seconds(1))
    .slow_call_rate(0.5);

scenarios! {
    a1_a_rate_opens_at_the_call_that_makes_the_calls_enough: FOUR,
        "3xF rate:none =closed F =open why:failure_rate rate:1 3xX ran:4 rejected:3";
    a2_a_rate_is_met_where_it_is_equal: FOUR, "S 2xF =closed F =open rate:0.75 X ran:4";
    a3_a_success_can_open: FOUR, "3xF =closed S =open why:failure_rate rate:0.75 X ran:4";
    a4_half_of_four_are_two: last(4).failure_rate(0.5), "S 2xF =closed S =open rate:0.5 X ran:4";
    a6_all_of_two: last(2).failure_rate(1.0), "F =closed F =open 5xX ran:2";
    a6_not_all_of_two: last(2).failure_rate(1.0), "9x(F S) =closed 2xF =open";
    a7_below_the_calls_it_needs_there_is_no_rate: last(10).min_calls(10).failure_rate(0.5),
        "2xS 2xF rate:none calls:4 failures:2 =closed";
    a9_without_a_word_it_needs_as_many_calls_as_the_window_has: last(10).failure_rate(0.5),
        "9xF rate:none =closed F =open rate:1";
    a9_without_a_word_it_needs_twenty_calls_of_a_longer_one: last(100).failure_rate(0.5),
        "19xF rate:none =closed F =open rate:1";
    a10_the_success_that_makes_the_calls_enough_opens: TWENTY_SECONDS,
        "3xF S rate:none =closed S =open rate:0.6 calls:5 failures:3 told:1 X rejected:1";
    a11_a_rate_is_judged_as_the_calls_come: TWENTY_SECONDS,
        "2x(S +1s) S +1s F +1s F =closed rate:0.4 +1s F =open rate:0.5 calls:6";
    a12_two_failures_of_the_last_three: last(3).threshold(2),
        "F =closed S =closed F =open why:threshold_in_window failures:2";
    a12_a_failure_that_has_left_counts_no_more: last(3).threshold(2), "F 3xS F =closed S F =open";
    a14_no_failure_of_ten: TENTH, "10xS =closed rate:0";
    a14_one_failure_of_ten: TENTH, "9xS F =open rate:0.1";
    a14_two_failures_of_ten: TENTH, "2xF 7xS =closed S =open rate:0.2";
    a14_two_failures_of_eleven: TENTH.min_calls(11), "2xF 8xS =closed S =open failures:2";
    a14_one_failure_of_nine: TENTH, "F 8xS =closed rate:none";
    a14_three_failures_of_thirty: TENTH.min_calls(30), "27xS 2xF =closed F =open rate:0.1";
    a14_two_failures_of_thirty: TENTH.min_calls(30), "28xS 2xF =closed";
    a_the_oldest_call_leaves_for_the_youngest: last(4).threshold(3),
        "2xF 2xS calls:4 failures:2 F failures:2 F failures:2 F =open failures:3";
    a_only_the_last_so_many_are_held: last(3).threshold(3), "9x(2xF S) =closed calls:3 failures:2";
    a_what_says_nothing_is_not_held: last(3).threshold(2), "F 9xI 9xD calls:1 F =open";
    a_an_error_that_is_no_failure_is_held_as_a_success: last(3).threshold(2),
        "F 2xN calls:3 failures:1 N failures:0";
    a_a_panic_is_held_as_a_failure: last(3).threshold(2), "P S P =open panicked:2";
    a_a_dropped_call_that_counts_is_held_as_a_failure: last(3).threshold(2).on_cancel(OnCancel::Failure),
        "D calls:1 failures:1 S D =open cancelled:2";
    a_a_request_for_rest_is_held_as_a_failure: last(3).threshold(2), "R90s failures:1 R90s X90s";
    a_a_late_outcome_is_not_held: last(3).threshold(2), "[a reset a]F calls:0 late:1";
    a_failures_in_a_row_are_not_counted_where_there_is_a_window: last(9).threshold(3), "2xF count:0 failures:2";
    a_a_threshold_needs_no_calls: last(9).threshold(2).failure_rate(1.0).min_calls(9),
        "2xF =open why:threshold_in_window rate:none";
    a_a_rate_can_need_failures: last(9).failure_rate(0.1).min_calls(1).min_failures(3),
        "F =closed rate:1 F =closed 6xS =closed F =open rate:0.3333333333333333 failures:3";
    a_of_several_rules_the_threshold_is_the_first: ALL_RULES, "F f2s =open why:threshold_in_window";
    a_of_several_rules_the_failure_rate_is_the_second: ALL_RULES, "S f2s =open why:failure_rate slow:1";
    a_of_several_rules_the_slow_call_rate_is_the_third: ALL_RULES, "S s2s =open why:slow_call_rate";
    a_a_ban_comes_before_all_rules: ALL_RULES, "S O90s =open why:open_for left:90s calls:2 rate:0.5";
    a_a_ban_opens_an_empty_window: FOUR, "O90s =open calls:1 failures:1 rate:none";
    a_while_open_the_window_is_what_it_was: FOUR, "S 3xF =open calls:4 +1h calls:4 failures:3 rate:0.75";
    a_in_half_open_there_is_no_rate: FOUR.probes(2), "S 3xF +60s S =half-open rate:none why:failure_rate";
    a_a_reopening_shows_no_rate: FOUR, "S 3xF +60s F =open rate:none calls:0 why:probe_failed";
    /// L13
    a_closing_empties_the_window: FOUR, "4xF +60s S =closed calls:0 3xF =closed F =open";
}
