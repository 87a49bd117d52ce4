//! The ramp: after closing, a growing share of the calls that came before.

use breakerbox::Policy;
use breakerbox::Window;

use super::drivers::seconds;
use super::runner::scenarios;

/// `9xS F` at once are ten calls a second.
const RAMP: Policy = Policy::new()
    .threshold(1)
    .cooldown(seconds(5))
    .backoff(2.0)
    .ramp(seconds(10));

scenarios! {
    ramp_begins_with_one_call: RAMP, "9xS F +5s S =closed [a Xramp in-flight:1 why:none left:none";
    ramp_refills_by_a_growing_share: RAMP,
        "9xS F +5s S [a Xramp +1s [b Xramp +1s [c [d Xramp +1s [e [f [g [h Xramp";
    ramp_admits_one_call_at_a_time_whatever_came_before: RAMP, "F +5s S 9xS [a Xramp a]S [b Xramp";
    ramp_takes_a_call_that_is_dropped_out: RAMP, "F +5s S [a +1s Xramp a]D [b Xramp";
    ramp_is_over_at_exactly_its_length: RAMP,
        "F +5s S [a +10s-1ns [b Xramp =closed trips:1 +1ns [c [d [e trips:0 moves:3 told:3";
    ramp_keeps_the_trips_until_somebody_comes_after_it: RAMP,
        "F +5s S trips:1 +5s S trips:1 +5s trips:1 S trips:0 =closed moves:3";
    ramp_forgets_the_trips_at_an_outcome_after_it: RAMP, "F +5s S [a +10s trips:1 a]S trips:0";
    ramp_that_trips_reopens_for_longer: RAMP, "F X5s +5s S F =open X10s trips:2 +10s S F X20s";
    ramp_that_is_over_makes_no_opening_longer: RAMP, "F +5s S +10s F X5s trips:1";
    ramp_that_ends_with_a_failure_makes_no_opening_longer: RAMP, "F +5s S [a +10s a]F X5s trips:1";
    ramp_that_trips_keeps_the_rate_from_before: RAMP,
        "9xS F +5s S F +10s S [a Xramp +1s [b Xramp +1s [c [d Xramp";
    ramp_that_was_reopened_keeps_the_rate_from_before: RAMP,
        "9xS F +5s F +10s S [a Xramp +1s [b Xramp +1s [c [d Xramp";
    ramp_that_is_over_takes_a_new_rate: RAMP, "9xS F +5s S +10s F +5s S [a +5s Xramp";
    ramp_saves_up_no_more_than_a_second_brings: RAMP, "9xS F +5s S +5s [a [b [c [d [e [f Xramp";
    ramp_goes_by_the_calls_of_the_last_ten_buckets: RAMP, "100xS +100s F +5s S [a +10s-1ns Xramp";
    ramp_goes_by_the_calls_of_the_closed_circuit: RAMP,
        "99xS F +5s S +10s reset F +5s S [a +5s [b Xramp";
    ramp_goes_by_the_time_since_somebody_shadowed_it: RAMP,
        "+100s shadow:1h 9xS F +5s S [a would-reject:0 +1s [b would-reject:0 [c would-reject:1";
    ramp_goes_by_the_time_since_the_window_changed: RAMP,
        "+100s update:window=5s 9xS F +5s S [a Xramp +1s [b [c Xramp";
    ramp_goes_by_the_buckets_of_the_window: RAMP.window(Window::Time(seconds(100))),
        "9xS F +5s S [a +1s Xramp +4s [b Xramp";
    ramp_lets_through_what_is_refused_no_place: RAMP,
        "9xS F +5s S [a 9xXramp rejected:9 +1s [b Xramp";
    ramp_counts_like_any_closed_circuit: RAMP.threshold(2), "2xF +5s S F count:1 I D S count:0 F =closed F =open";
    ramp_goes_on_beneath_a_forced_open_circuit: RAMP,
        "9xS F +5s S force-open:5s +5s =closed [a [b [c [d [e [f Xramp";
    ramp_can_end_beneath_a_forced_open_circuit: RAMP, "9xS F +5s S force-open:10s +10s trips:1 [a [b [c trips:0";
    ramp_does_not_wait_for_calls_of_an_earlier_generation: RAMP, "F +5s S [a force-open:1s +1s [b Xramp a]S late:1";
    ramp_ends_with_a_reset: RAMP, "F +5s S reset trips:0 [a [b [c";
    ramp_in_shadow_rejects_nobody: RAMP,
        "shadow:1h 9xS F would-open:1 +5s S beneath:closed [a would-reject:0 [b [c would-reject:2 =shadow";
    ramp_in_shadow_has_a_call_in_flight_only_where_it_was_admitted: RAMP,
        "shadow:1h F +5s S beneath:closed [a [b would-reject:1 a]S [c would-reject:1 [d would-reject:2";
    ramp_only_follows_probes: RAMP, "F force-closed:1s +1s =closed [a [b [c";
    ramp_looks_for_calls_that_hang_first: RAMP.threshold(99).window(Window::Time(seconds(20)))
            .slow_call(seconds(2)).min_calls(1),
        "O1s +1s S [a +6s X10s =open why:slow_call_rate";
}
