//! Faults seen elsewhere, of the kinds K01 to K06, on circuits that are shared and while there is
//! no store.
//!
//! What needs threads stands in `tests/shared/alone.rs`. What is the same in each process whoever
//! shares its circuits is only in `tests/faults` and `tests/stacks`: what an error means before it
//! comes to the circuit (B053, B058 to B063), and bulkheads (B023 to B028), which are shared with
//! nobody.

use std::time::Duration;

use breakerbox::Policy;
use breakerbox::Window;

use super::BRIEF;
use super::LONG;
use super::ONE;
use super::SHORT;
use super::Scenario;
use super::THREE;
use super::millis;
use super::seconds;

/// Each of its openings is short.
const AGAIN: Policy = BRIEF.threshold(1);

const LONGEST: Policy = ONE
    .cooldown(Duration::MAX)
    .max_cooldown(Duration::MAX)
    .probe_timeout(Duration::MAX)
    .max_open_for(Duration::MAX);

/// The names begin with the ids of the faults.
pub(super) const FAULTS: &[Scenario] = &[
    (
        "b001_while_one_probe_runs_all_others_are_rejected_at_once",
        ONE,
        "F left:0s [p 9xXbusy ran:2 =half-open p]S =closed S",
    ),
    (
        "b003_a_probe_that_succeeds_after_another_failed_changes_nothing",
        ONE.probes(2),
        "F left:0s [a [b a]F =open trips:2 b]S late:1 +300ms =open X80s",
    ),
    (
        "b005_a_failed_probe_reopens_below_the_minimum_of_calls",
        BRIEF
            .window(Window::Calls(9))
            .min_calls(5)
            .failure_rate(0.5),
        "5xF =open left:0s F trips:2 left:0s S =closed",
    ),
    (
        "b006_ignored_and_dropped_probes_never_wedge_the_circuit",
        ONE,
        "F left:0s 3x(I D) =half-open +1s S =closed",
    ),
    (
        "b008_probes_do_not_age_out_while_others_are_waited_for",
        ONE.window(Window::Time(seconds(1))).close_after(5),
        "F left:0s 4x(S +400ms) =half-open S =closed",
    ),
    (
        "b010_each_cycle_admits_one_probe_and_the_good_one_closes",
        AGAIN,
        "3x(F trips:1 left:0s [a Xbusy a]F trips:2 left:0s [b Xbusy b]F trips:3 left:0s \
         [c Xbusy c]S =closed)",
    ),
    (
        "b011_successes_of_an_earlier_round_do_not_count",
        AGAIN.close_after(3),
        "F left:0s 2xS F trips:2 left:0s S S =half-open S =closed",
    ),
    (
        "b013_the_first_failure_of_a_round_reopens",
        ONE.probes(3),
        "F left:0s F trips:2 X80s ran:2",
    ),
    (
        "b013_a_failure_between_two_successes_reopens",
        ONE.probes(3),
        "F left:0s [a [b [c a]S =half-open b]F trips:2 c]S late:1 +300ms =open X80s",
    ),
    (
        "b018_a_dropped_probe_does_not_leave_the_circuit_open_for_ever",
        ONE,
        "F left:0s 4x([a Xbusy a]D) =half-open +1s S =closed cancelled:4",
    ),
    (
        "b020_a_panicking_probe_does_not_leave_its_place_taken",
        AGAIN,
        "F left:0s P trips:2 left:0s P trips:3 left:0s S =closed panicked:2",
    ),
    (
        "b021_every_way_of_ending_gives_exactly_one_place_back",
        ONE.probes(2),
        "F left:0s 2x([a [b Xbusy a]D [c Xbusy b]I c]D) [d [e Xbusy d]S e]S =closed",
    ),
    (
        "b030_failures_that_arrive_while_open_open_nothing_again",
        LONG.threshold(2),
        "[a [b [c [d [e [f a]F b]F =open c]F d]F e]F f]F +300ms trips:1 late:4 failure:2 X600s",
    ),
    (
        "b031_a_slow_success_from_before_the_trip_does_not_close",
        LONG,
        "[s 5xF =open s]S late:1 success:0 +300ms =open X600s",
    ),
    (
        "b033_no_old_ending_gives_a_place_of_a_round_back",
        ONE,
        "[a [b [c [d F =open left:0s [p a]S Xbusy b]I Xbusy c]D Xbusy d]F Xbusy =half-open late:4 \
         p]S =closed",
    ),
    (
        "b035_later_failures_do_not_slide_the_cooldown",
        THREE.cooldown(seconds(9)),
        "[a [b [c [d [e [f a]F b]F c]F =open +700ms d]F +700ms e]F +700ms f]F left:6s..7s trips:1",
    ),
    (
        "b036_an_opening_begins_with_the_failure_and_not_with_its_call",
        LONG.threshold(1).cooldown(seconds(9)),
        "[a +2s a]F =open left:7500ms..9s",
    ),
    (
        "b036_a_reopening_begins_with_the_failure_and_not_with_its_probe",
        ONE,
        "F left:0s [a +2s a]F trips:2 left:78500ms..80s",
    ),
    (
        "b038_an_old_neutral_ending_does_not_free_the_place_of_a_probe",
        ONE,
        "[s F =open left:0s [p s]N Xbusy =half-open p]S =closed",
    ),
    (
        "b038_a_probe_of_an_earlier_round_frees_no_place_of_this_one",
        AGAIN.probes(2),
        "F left:0s [a [b a]F trips:2 left:0s [c [d Xbusy b]D Xbusy late:1 c]S =half-open d]S =closed",
    ),
    (
        "b040_two_failures_with_successes_between_them_are_not_in_a_row",
        LONG.threshold(2),
        "F +300ms 9xS +1s F +300ms =closed F =open",
    ),
    (
        "b041_failures_do_not_add_up_over_the_life_of_a_process",
        LONG,
        "3x(4xF +300ms S +1s) =closed trips:0",
    ),
    (
        "b046_a_threshold_of_one_rejects_the_next_call",
        LONG.threshold(1),
        "F =open X600s ran:1",
    ),
    (
        "b051_a_slow_outage_opens_all_the_same",
        THREE,
        "2x(F +1s) =closed F =open why:threshold",
    ),
    (
        "b055_errors_that_are_no_failures_never_open",
        LONG,
        "20xN 20xI +300ms =closed success:20 ignored:20 trips:0",
    ),
    (
        "b056_after_an_unjudged_probe_the_next_call_is_admitted_at_once",
        ONE.probes(2),
        "F left:0s N =half-open S =closed trips:0",
    ),
    (
        "b056_after_an_ignored_probe_the_next_call_is_admitted_at_once",
        ONE,
        "F left:0s I S =closed trips:0",
    ),
    (
        "b066_the_longest_of_all_durations_overflow_nothing",
        LONGEST,
        "F =open look X look +300ms =open trips:1",
    ),
    (
        "b066_a_ban_until_the_end_of_time_overflows_nothing",
        THREE.max_open_for(Duration::MAX),
        "Omax =open look X why:open_for +300ms =open trips:1",
    ),
    (
        "b066_a_rest_until_the_end_of_time_overflows_nothing",
        ONE.max_open_for(Duration::MAX),
        "Rmax =open look X +300ms =open trips:1",
    ),
    (
        "b066_a_probe_may_take_until_the_end_of_time",
        LONGEST.cooldown(millis(80)),
        "F left:0s [a +1s Xbusy =half-open a]D S =closed",
    ),
    (
        "b073_a_growing_cooldown_is_capped_and_begins_anew_after_closing",
        SHORT
            .threshold(1)
            .cooldown(millis(20))
            .backoff(4.0)
            .max_cooldown(millis(160)),
        "F left:0s F trips:2 left:0s F trips:3 left:0s F trips:4 left:0s F trips:5 left:0s \
         F trips:6 left:0s S =closed F trips:1 =open",
    ),
];
