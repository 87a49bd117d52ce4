//! Outcomes of calls that began before the circuit moved.

use breakerbox::OnCancel;
use breakerbox::Policy;

use super::ONE;
use crate::scenarios::drivers::seconds;
use crate::scenarios::runner::scenarios;

scenarios! {
    /// B030
    failures_that_arrive_while_open_open_nothing_again: Policy::new().threshold(2),
        "[a [b [c [d [e [f [g [h [i [j a]F b]F =open moves:1 +1s c]F d]F e]F f]F +1s g]F h]F i]F j]F \
         moves:1 late:8 failure:2 left:58s";
    /// B031
    a_slow_success_from_before_the_trip_does_not_close: Policy::new(),
        "[s 5xF +1s s]S =open +1s X58s late:1 success:0";
    /// B033
    an_old_success_gives_no_place_of_a_round_back: Policy::new(),
        "[s 5xF +60s [p in-flight:2 s]S in-flight:1 20xXbusy p]S =closed in-flight:0";
    /// B033: nor does any other old ending.
    no_old_ending_gives_a_place_of_a_round_back: ONE,
        "[a [b [c [d [e F +60s [p a]F Xbusy b]I Xbusy c]P Xbusy d]D Xbusy e]N Xbusy \
         =half-open late:5 in-flight:1 p]S =closed";
    /// B035
    later_failures_do_not_slide_the_cooldown: Policy::new().threshold(3),
        "[a [b [c [d [e [f [g [h a]F b]F c]F =open +10s d]F e]F +10s f]F +10s g]F +20s h]F \
         X10s +10s-1ns X1ns +1ns [p =half-open p]S =closed moves:3";
    /// B036
    an_opening_begins_with_the_failure_and_not_with_its_call: ONE.cooldown(seconds(10)),
        "[a +30s a]F X10s +10s-1ns X1ns +1ns S =closed";
    /// B036: the same for a probe.
    a_reopening_begins_with_the_failure_and_not_with_its_probe: ONE.cooldown(seconds(10)),
        "F +10s [a +20s a]F X10s";
    /// B038
    an_old_neutral_ending_does_not_free_the_place_of_a_probe: ONE,
        "[s F +60s [p s]N Xbusy =half-open p]S =closed";
    /// A probe of an earlier round had the same place.
    a_probe_of_an_earlier_round_frees_no_place_of_this_one: ONE.probes(2),
        "F +60s [a [b a]F +60s [c [d Xbusy b]D Xbusy late:1 c]S =half-open d]S =closed";
    /// A hung probe of an earlier round does not count in this one.
    probes_that_hung_in_an_earlier_round_are_forgotten: ONE.probe_timeout(seconds(1)),
        "F +60s [a +1s [b b]F +60s [c +1s a]S =half-open [d d]S =closed late:1";
    /// An old success says nothing about a circuit that has closed since.
    an_old_success_does_not_reset_a_later_closed_period: Policy::new().threshold(2),
        "[s 2xF +60s S F count:1 s]S count:1 F =open";
    /// Nor does an old failure count there.
    an_old_failure_does_not_count_in_a_later_closed_period: ONE, "[s F +60s S s]F =closed count:0";
    /// A ban that was given before the trip is about the past.
    an_old_ban_and_an_old_request_for_rest_prolong_nothing: ONE,
        "[a [b F +1s a]O500s b]R500s left:59s +59s S =closed";
    /// A late cancellation that would count as a failure.
    an_old_cancellation_that_counts_changes_nothing: ONE.on_cancel(OnCancel::Failure),
        "[a [b F +60s [p a]D =half-open p]S =closed b]D =closed late:2";
    /// The trip itself is told apart from those that came too late for it.
    only_the_failures_up_to_the_trip_count_as_failures: Policy::new().threshold(3),
        "[a [b [c [d [e a]F b]F c]F d]F e]S failure:3 late:2 success:0";
}
