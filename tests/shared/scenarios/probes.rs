//! Who may probe, and what comes of it.

use breakerbox::OnCancel;
use breakerbox::Window;

use super::BRIEF;
use super::LONG;
use super::ONE;
use super::SHORT;
use super::Scenario;
use super::millis;

pub(super) const PROBES: &[Scenario] = &[
    (
        "f1_a_round_admits_as_many_calls_as_it_has_probes",
        ONE.probes(4),
        "F left:0s [a [b [c [d Xbusy Xbusy =half-open",
    ),
    (
        "f2_a_round_judged_by_its_share_opens_as_soon_as_that_is_settled",
        ONE.probes(4).probe_failure_rate(0.5),
        "F left:0s F =half-open F =open why:probe_failure_rate trips:2 X80s",
    ),
    (
        "f4_an_ignored_probe_leaves_the_share_as_it_was",
        ONE.probes(4).probe_failure_rate(0.5),
        "F left:0s 2xS I F =half-open S =closed",
    ),
    (
        "f10_a_share_can_need_more_than_the_successes_allow",
        ONE.probes(4).close_after(2).probe_failure_rate(0.75),
        "F left:0s S F F =half-open F trips:2 =open",
    ),
    (
        "f6_two_successes_close_where_two_are_asked_for",
        SHORT.close_after(2),
        "5xF =open left:0s S =half-open S =closed ran:7",
    ),
    (
        "f7_a_closed_circuit_opens_only_at_a_whole_new_count",
        BRIEF.threshold(4),
        "4xF =open left:0s S =closed 3xF +300ms =closed F =open",
    ),
    (
        "f8_a_failure_among_the_probes_opens_at_once",
        SHORT.threshold(4).close_after(3),
        "4xF =open left:0s 2xS =half-open F trips:2 X80s ran:7",
    ),
    (
        "f13_calls_beyond_the_probes_are_rejected",
        ONE.close_after(3),
        "F left:0s [a [b [c 5xXbusy a]S b]S =half-open c]S =closed",
    ),
    (
        "f15_the_last_probe_of_a_round_is_waited_for",
        ONE.probes(3),
        "F left:0s 2xS [a Xbusy =half-open a]S =closed",
    ),
    // B018, B021
    (
        "f16_a_dropped_probe_used_nothing_up",
        ONE.probes(2),
        "F left:0s D =half-open [a [b Xbusy a]S b]S =closed",
    ),
    (
        "f21_a_place_is_free_at_the_probe_timeout",
        ONE.probe_timeout(millis(400)),
        "F left:0s [a [b =half-open b]S =closed",
    ),
    (
        "f22_a_probe_that_answers_late_still_votes",
        ONE.probe_timeout(millis(200)),
        "F left:0s [a +400ms a]S =closed",
    ),
    (
        "f22_two_that_hung_without_a_vote_reopen",
        ONE.probe_timeout(millis(200)),
        "F left:0s [a [b +400ms X =open why:probes_hung",
    ),
    (
        "f23_one_failure_reopens_whatever_the_threshold",
        SHORT,
        "5xF =open left:0s F trips:2 X80s",
    ),
    (
        "f26_closing_clears_the_history",
        BRIEF.threshold(2),
        "2xF =open left:0s S =closed F +300ms =closed F =open",
    ),
    (
        "f_probes_run_at_most_so_many_at_a_time",
        ONE.probes(3).probe_concurrency(2),
        "F left:0s [a [b Xbusy a]S [c Xbusy b]S =half-open c]S =closed",
    ),
    (
        "f_a_late_vote_of_a_round_that_is_over_is_none",
        ONE.probes(5).close_after(2),
        "F left:0s [a [b [c a]S c]S =closed b]F late:1 +300ms =closed",
    ),
    (
        "f_a_panicking_probe_reopens",
        ONE,
        "F left:0s P trips:2 why:probe_failed panicked:1",
    ),
    // B006
    (
        "f_an_error_that_is_no_failure_is_a_successful_probe",
        ONE,
        "F left:0s N =closed",
    ),
    (
        "f_a_slow_probe_is_a_failed_one_where_slow_is_a_rule",
        SHORT
            .window(Window::Calls(9))
            .threshold(1)
            .slow_call(millis(20)),
        "F left:0s s60ms trips:2 why:probe_slow",
    ),
    // B006
    (
        "g8_an_ignored_probe_gives_its_place_back",
        ONE,
        "F left:0s 5xI =half-open S =closed ignored:5",
    ),
    // B030
    (
        "j1_a_failure_from_before_does_not_prolong_the_opening",
        LONG.threshold(1),
        "[a F =open a]F late:1 trips:1 X600s",
    ),
    (
        "j2_calls_from_before_are_late_in_half_open",
        ONE.probes(2),
        "[a [b F =open left:0s [c a]S b]S =half-open late:2 c]S S =closed",
    ),
    (
        "j12_a_dropped_probe_can_be_made_a_failure",
        ONE.on_cancel(OnCancel::Failure),
        "F left:0s D trips:2 =open cancelled:1",
    ),
];
