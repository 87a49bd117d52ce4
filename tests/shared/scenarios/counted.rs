//! Failures, slow calls and shares of them that count together.

use breakerbox::OnCancel;
use breakerbox::Window;

use super::LONG;
use super::MINUTE;
use super::Scenario;
use super::THREE;
use super::last;
use super::millis;
use super::seconds;

pub(super) const COUNTED: &[Scenario] = &[
    (
        "a12_two_failures_of_the_last_three",
        last(3).threshold(2),
        "F S F =open why:threshold_in_window X600s ran:3",
    ),
    (
        "a_an_ignored_call_is_not_in_the_window",
        last(4).threshold(2),
        "F 5xI D =closed F =open ignored:5",
    ),
    (
        "a_a_ban_opens_an_empty_window",
        last(4).failure_rate(0.75),
        "O90s =open why:open_for X90s",
    ),
    // A success ends the row of others where its process has heard of that.
    (
        "b1_a_success_resets_the_count",
        THREE,
        "F F +300ms S +1s F =closed +300ms F F =open why:threshold",
    ),
    // B043, B046
    (
        "b4_a_threshold_of_five_opens_at_the_fifth",
        LONG,
        "4xF +300ms =closed F =open X600s ran:5",
    ),
    (
        "b6_an_ignored_error_neither_counts_nor_resets",
        THREE,
        "2xF I +300ms =closed F =open ignored:1",
    ),
    (
        "b_a_dropped_call_neither_counts_nor_resets",
        THREE,
        "2xF D +300ms =closed F =open cancelled:1",
    ),
    (
        "b_a_panic_counts_like_any_failure",
        THREE,
        "F P F =open panicked:1",
    ),
    (
        "b_a_dropped_call_can_be_made_a_failure",
        THREE.on_cancel(OnCancel::Failure),
        "2xF D =open cancelled:1",
    ),
    (
        "b9_successes_do_not_reset_a_window",
        MINUTE.threshold(3),
        "F S F S +300ms =closed F =open why:threshold_in_window",
    ),
    (
        "b7_a_failure_that_has_left_the_window_counts_no_more",
        LONG.window(Window::Time(seconds(2))).threshold(3),
        "2xF +3s F +300ms =closed 2xF =open",
    ),
    (
        "a10_the_success_that_makes_the_calls_enough_opens",
        MINUTE.min_calls(5).failure_rate(0.5),
        "3xF S +300ms =closed S =open why:failure_rate X600s",
    ),
    (
        "a11_a_rate_is_judged_as_the_calls_come",
        MINUTE.min_calls(6).failure_rate(0.5),
        "3xS 2xF +300ms =closed F =open why:failure_rate",
    ),
    (
        "d1_slow_calls_open_where_failures_do_not",
        MINUTE
            .min_calls(5)
            .failure_rate(0.9)
            .slow_call(millis(20))
            .slow_call_rate(0.6),
        "f60ms s60ms F S +300ms =closed s60ms =open why:slow_call_rate",
    ),
    (
        "d4_a_slow_failure_counts_in_both_rates",
        MINUTE.min_calls(2).failure_rate(1.0).slow_call(millis(20)),
        "2xf60ms =open why:failure_rate slow_failure:2",
    ),
    (
        "d6_an_ignored_call_that_was_slow_is_in_neither_rate",
        MINUTE.min_calls(2).failure_rate(0.5).slow_call(millis(20)),
        "4xi60ms +300ms =closed 2xF =open why:failure_rate",
    ),
];
