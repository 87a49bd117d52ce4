//! F: half-open rounds.

use std::time::Duration;

use breakerbox::Policy;
use breakerbox::Window;

use super::drivers::seconds;
use super::runner::scenarios;

const ONE: Policy = Policy::new().threshold(1);
const PATIENT: Policy = ONE.probe_timeout(seconds(1));

const BY_SHARE: Policy = ONE.probes(4).probe_failure_rate(0.5);
const SLOW: Policy = ONE.window(Window::Calls(9)).slow_call(seconds(4));

scenarios! {
    f1_a_round_admits_as_many_calls_as_it_has_probes: ONE.probes(4),
        "F +60s [a [b [c [d Xbusy Xbusy =half-open";
    f1_a_later_round_is_a_fresh_one: ONE.probes(4),
        "F +60s [a [b [c [d a]F =open X60s +60s [e [f [g [h Xbusy in-flight:7";
    f2_a_round_judged_by_its_share_opens_as_soon_as_that_is_settled: BY_SHARE,
        "F +60s F =half-open F =open X60s why:probe_failure_rate trips:2";
    f2_a_success_between_does_not_settle_it: BY_SHARE, "F +60s F S =half-open F =open why:probe_failure_rate";
    f4_an_ignored_probe_leaves_the_share_as_it_was: BY_SHARE,
        "F +60s 2xS I =half-open F =half-open S =closed moves:3";
    f4_a_round_judged_by_its_share_closes_as_soon_as_that_is_settled: BY_SHARE, "F +60s 2xS =half-open S =closed";
    f4_a_share_of_all_needs_one_success: BY_SHARE.probe_failure_rate(1.0), "F +60s 3xF =half-open S =closed";
    f4_a_share_of_all_is_reached_by_all: BY_SHARE.probe_failure_rate(1.0), "F +60s 3xF =half-open F =open";
    f4_a_share_of_nearly_nothing_is_reached_by_one: BY_SHARE.probe_failure_rate(0.01), "F +60s 3xS F =open";
    f4_votes_use_their_places_up: ONE.probes(5).probe_failure_rate(0.6),
        "F +60s F S [a [b [c Xbusy =half-open a]I [d Xbusy b]S c]S =closed d]F late:1";
    f10_a_share_can_need_more_than_the_successes_allow: BY_SHARE.close_after(2).probe_failure_rate(0.75),
        "F +60s S 2xF =half-open F =open why:probe_failure_rate";
    f10_written_successes_close_before_the_share_is_settled: ONE.probes(9).close_after(2).probe_failure_rate(0.5),
        "F +60s 3xF S =half-open S =closed";
    f_a_ban_opens_a_round_judged_by_its_share: BY_SHARE, "F +60s O9s X9s why:open_for";
    f_a_request_for_rest_counts_where_it_decides: BY_SHARE, "F +60s R500s =half-open F X60s";
    f_a_request_for_rest_that_decides_is_obeyed: BY_SHARE, "F +60s F R500s X500s";
    f_hung_probes_reopen_a_round_judged_by_its_share: BY_SHARE.probe_timeout(seconds(1)),
        "F +60s [a [b [c [d Xbusy +1s X60s why:probes_hung";
    f_a_hung_probe_that_fails_has_its_vote: BY_SHARE.probe_timeout(seconds(1)),
        "F +60s [a +1s a]F =half-open [b [c [d Xbusy +1s b]F =open why:probe_failure_rate";
    f_a_panic_counts_in_the_share: BY_SHARE, "F +60s P =half-open P =open";
    f_a_dropped_probe_does_not_count_in_the_share: BY_SHARE, "F +60s 9xD F =half-open F =open";
    f_a_slow_probe_is_a_failed_one_where_slow_is_a_rule: SLOW,
        "F +60s s5s =open X60s why:probe_slow slow_success:1 trips:2";
    f_a_probe_that_takes_exactly_so_long_is_not_slow: SLOW, "F +60s s4s =closed success:1";
    f_a_slow_probe_that_fails_is_a_failed_one: SLOW, "F +60s f5s =open why:probe_failed slow_failure:1";
    f_a_slow_probe_that_is_ignored_is_nothing: SLOW, "F +60s i5s =half-open ignored:1 S =closed";
    f_without_a_window_a_slow_probe_closes: ONE.slow_call(seconds(4)), "F +60s s5s =closed slow_success:1";
    f_a_slow_probe_counts_in_the_share: SLOW.probes(4).probe_failure_rate(0.5),
        "F +60s s5s =half-open F =open why:probe_failure_rate";
    f6_two_successes_close_where_two_are_asked_for: Policy::new().close_after(2),
        "5xF +60s S =half-open S =closed ran:7";
    f7_a_closed_circuit_opens_only_at_a_whole_new_count:
        Policy::new().threshold(4).cooldown(seconds(2)).close_after(1),
        "4xF 5xX +2s S =closed S 3xF =closed F =open X ran:10";
    f8_a_failure_among_the_probes_opens_at_once: Policy::new().threshold(4).close_after(3),
        "4xF +60s 2xS =half-open F =open X60s ran:7";
    f13_calls_beyond_the_probes_in_flight_are_rejected_at_once: ONE.close_after(3),
        "F +60s [a [b [c 5xXbusy ran:4 +1s a]S b]S =half-open c]S =closed";
    f14_probes_that_succeeded_leave_only_the_rest_of_the_round:
        Policy::new().threshold(10).cooldown(Duration::from_millis(200)).close_after(5),
        "10xF X +200ms S [a [b [c [d 10xXbusy a]S b]S c]S =half-open d]S =closed S ran:16";
    f15_the_last_probe_of_a_round_is_waited_for: ONE.probes(3),
        "F +60s 2xS [a +100ms Xbusy =half-open a]S =closed";
    f16_a_dropped_probe_used_nothing_up: ONE.probes(2), "F +60s D =half-open [a [b Xbusy";
    f16_any_number_of_probes_may_be_dropped: ONE.probes(2), "F +60s 50xD [a [b Xbusy a]S b]S =closed";
    f21_a_place_is_free_at_exactly_the_probe_timeout: PATIENT,
        "F +60s [a +1s-1ns Xbusy +1ns [b Xbusy =half-open";
    f22_a_probe_that_answers_late_still_votes: PATIENT, "F +60s [a +1s [b +500ms a]S =closed";
    f22_a_probe_that_fails_late_still_votes: PATIENT, "F +60s [a +1s [b +500ms a]F =open X60s";
    f22_a_late_vote_needs_no_other_probe: PATIENT, "F +60s [a +1500ms a]S =closed";
    f22_two_that_hung_without_a_vote_reopen: PATIENT,
        "F +60s [a +1s [b +1s X60s =open why:probes_hung moves:3 +60s S =closed";
    f22_as_many_as_a_round_has_reopen_it: PATIENT.probes(3),
        "F +60s [a [b +1s [c [d [e Xbusy +1s X60s why:probes_hung";
    f22_one_of_two_that_hang_leaves_the_round_open: PATIENT.probes(2),
        "F +60s [a [b b]S +1s [c c]S =closed";
    f22_one_that_hung_and_was_dropped_counts_as_hung: PATIENT,
        "F +60s [a +1s a]D =half-open [b +1s b]I =open why:probes_hung";
    /// Two hang, whichever of them is dropped.
    f22_of_two_that_hang_the_younger_is_dropped: PATIENT,
        "F +60s [a +1s [b +1s b]D =open why:probes_hung";
    f22_of_two_that_hang_the_older_is_dropped: PATIENT,
        "F +60s [a +1s [b +1s a]D =open why:probes_hung";
    f22_one_dropped_in_time_does_not: PATIENT, "F +60s 9x([a +1s-1ns a]D) =half-open S =closed";
    f22_a_hung_probe_that_voted_is_no_longer_hung: PATIENT.probes(3).close_after(3),
        "F +60s [a +1s [b a]S +1s [c +1s [d =half-open";
    f23_one_failure_reopens_whatever_the_threshold: Policy::new(), "5xF +60s F =open X60s";
    f26_closing_clears_the_history: Policy::new().threshold(2), "2xF +60s S F =closed count:1 F =open";
    f_probes_run_at_most_so_many_at_a_time: ONE.probes(3).probe_concurrency(2),
        "F +60s [a [b Xbusy a]S [c Xbusy b]S =half-open c]S =closed";
    f_one_probe_at_a_time_until_the_round_has_closed: ONE.probes(3).probe_concurrency(1),
        "F +60s 2x([a Xbusy a]S =half-open) S =closed";
    f_fewer_successes_than_probes_can_close: ONE.probes(5).close_after(2),
        "F +60s [a [b [c a]S =half-open c]S =closed b]F =closed late:1 count:0";
    f_close_after_written_alone_raises_the_probes: ONE.close_after(3), "F +60s [a [b [c Xbusy";
    f_an_ignored_probe_gives_its_place_back: ONE, "F +60s 20xI =half-open S =closed ignored:20";
    f_an_error_that_is_no_failure_is_a_successful_probe: ONE, "F +60s N =closed";
    f_a_panicking_probe_reopens: ONE, "F +60s P =open X60s why:probe_failed panicked:1";
    f_the_probe_that_moves_the_circuit_is_counted_by_its_outcome: ONE,
        "F +60s F +60s S =closed failure:2 success:1 late:0";
}
