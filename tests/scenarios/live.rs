//! Numbers that change while the breaker runs: state and counts stay.

use breakerbox::Policy;
use breakerbox::Window;

use super::drivers::seconds;
use super::runner::scenarios;

const FIVE: Policy = Policy::new();
const ONE: Policy = Policy::new().threshold(1);
const COUNT: Policy = Policy::new().window(Window::Calls(10)).threshold(4);
const TIME: Policy = Policy::new().window(Window::Time(seconds(10))).threshold(4);
const RATE: Policy = Policy::new()
    .window(Window::Calls(20))
    .failure_rate(0.1)
    .min_calls(20);

scenarios! {
    a14_two_failures_of_eleven_where_ten_would_have_been_enough: RATE,
        "9xS F update:min_calls=10 =closed F =open failures:2 calls:11";
    live_a_lower_threshold_is_judged_at_the_next_failure: FIVE, "3xF update:threshold=2 =closed count:3 F =open";
    live_a_lower_threshold_is_not_met_by_a_success: FIVE, "3xF update:threshold=2 S =closed count:0";
    live_a_higher_threshold_keeps_the_count: FIVE, "4xF update:threshold=6 F =closed F =open";
    live_a_lower_threshold_of_a_window_is_judged_at_the_next_outcome: COUNT, "3xF update:threshold=2 =closed S =open";
    live_a_lower_rate_is_judged_at_the_next_outcome: RATE.failure_rate(0.9),
        "10xS 10xF =closed update:failure_rate=0.5 =closed S =open rate:0.5";
    live_another_cooldown_is_for_the_next_opening: ONE, "F update:cooldown=5s X60s +60s F X5s";
    live_another_backoff_counts_the_trips_there_were: ONE, "F update:backoff=2 +60s F X120s trips:2";
    live_another_length_of_the_window_begins_empty: TIME, "3xF update:window=20s calls:0 =closed 3xF =closed F =open";
    live_another_kind_of_the_window_begins_empty: TIME, "3xF update:window=5 calls:0 3xF =closed F =open";
    live_a_window_where_there_was_none: FIVE, "4xF update:window=10s count:0 calls:0 4xF =closed F =open why:threshold_in_window";
    live_the_same_window_stays: TIME, "3xF update:window=10s failures:3 F =open";
    live_another_window_leaves_the_calls_that_are_out_behind: COUNT, "[a update:window=9 a]F late:1 calls:0";
    live_another_window_leaves_an_opening_alone: ONE.window(Window::Calls(9)), "F +10s update:window=8 =open left:50s told:1";
    live_fewer_probes_can_be_enough: ONE.probes(3), "F +60s 2xS =half-open update:probes=2 =half-open S =closed success:3";
    live_fewer_successes_can_be_enough: ONE.probes(3), "F +60s S update:close_after=1 =half-open S =closed";
    live_the_call_that_finds_the_successes_enough_is_the_first_of_a_ramp: ONE.probes(3).ramp(seconds(9)),
        "F +60s S update:close_after=1 [a =closed Xramp";
    live_another_window_has_calls_looked_for_that_hang: FIVE.slow_call(seconds(2)),
        "O1s +1s S update:window=10s update:min_calls=3 [a [b [c +3s X60s =open why:slow_call_rate";
    live_a_lower_threshold_is_judged_at_the_next_outcome_that_is_not_late: TIME.failure_rate(1.0).min_calls(1),
        "force-closed:1h [a clear S 2xF update:threshold=2 a]S late:1 =closed S =open";
    live_more_probes_are_a_longer_round: ONE.probes(2), "F +60s S update:probes=3 S =half-open S =closed";
    live_a_longer_limit_makes_calls_fast: TIME.slow_call(seconds(1)), "s2s slow:1 update:slow_call=3s s2s slow:1";
    live_a_shadow_begins_that_the_numbers_ask_for: ONE,
        "[a update:shadow=true =shadow beneath:closed forced:none moves:1 told:1 a]F late:1 \
         F beneath:open would-open:1 S would-reject:1";
    live_a_shadow_begins_over_what_there_is: ONE, "F +10s update:shadow=true =shadow beneath:open S would-reject:1 \
         +50s [a beneath:half-open a]S beneath:closed told:2";
    live_a_shadow_ends_closed_that_the_numbers_no_longer_ask_for: ONE.shadow(true),
        "[a F beneath:open update:shadow=false =closed trips:0 told:1 a]F late:1 =closed F X60s told:2";
    live_a_shadow_at_rest_stays_with_other_numbers: ONE.shadow(true),
        "F update:cooldown=5s update:shadow=true =shadow beneath:open trips:1 told:0 moves:1";
    live_what_somebody_has_forced_goes_on: ONE,
        "shadow:1h F update:cooldown=5s =shadow beneath:open forced:1h told:1 clear =closed";
    live_a_shadow_begins_after_what_somebody_has_forced: ONE,
        "force-open:1h update:shadow=true =forced-open forced:1h told:1 +1h =shadow S told:2";
    live_what_somebody_has_forced_ends_in_no_shadow_that_is_no_longer_asked_for: ONE.shadow(true),
        "force-closed:1h update:shadow=false =forced-closed forced:1h told:1 +1h =closed S told:2";
    /// It ends into what the numbers of that time asked for, however late that is noticed.
    live_an_override_that_is_over_did_not_end_in_the_shadow_of_a_later_change: ONE,
        "force-open:1h +1h update:shadow=true =shadow told:3 moves:3";
    live_an_override_that_is_over_ended_in_the_shadow_of_its_time: ONE.shadow(true),
        "force-open:1h +1h =shadow update:shadow=false =closed told:3 moves:4";
    live_a_change_notices_an_override_that_is_over: ONE, "force-open:1h +1h told:1 update:cooldown=5s told:2 F X5s";
}
