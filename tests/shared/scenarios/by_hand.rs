//! What somebody forces, resets or changes by hand.

use super::LONG;
use super::MINUTE;
use super::ONE;
use super::SHORT;
use super::Scenario;
use super::THREE;

pub(super) const BY_HAND: &[Scenario] = &[
    (
        "e3_a_forced_open_circuit_ends_by_itself",
        THREE,
        "2xF +300ms force-open:2s =forced-open Xforced =closed F =open why:threshold",
    ),
    (
        "e3_what_a_window_held_before_counts_afterwards",
        MINUTE.threshold(3),
        "2xF +300ms force-open:2s =forced-open =closed F =open why:threshold_in_window",
    ),
    (
        "h1_a_forced_open_circuit_rejects_beyond_the_cooldown",
        SHORT,
        "force-open:1h =forced-open Xforced +200ms Xforced left:none",
    ),
    (
        "h2_a_forced_closed_circuit_judges_nothing",
        THREE,
        "force-closed:1h =forced-closed 9xF +300ms =forced-closed clear =closed 2xF +300ms =closed F =open",
    ),
    (
        "h5_reset_from_open_closes_and_forgets",
        THREE,
        "3xF =open +300ms reset =closed +300ms 2xF +300ms =closed F =open trips:1",
    ),
    (
        "h5_reset_from_half_open",
        ONE,
        "F left:0s [a =half-open reset =closed a]F late:1 +300ms =closed",
    ),
    (
        "h10_a_forced_open_circuit_is_cleared_by_hand",
        THREE,
        "force-open:1h =forced-open clear =closed S",
    ),
    (
        "h11_a_tripped_circuit_is_closed_by_hand",
        LONG.threshold(1),
        "F =open +300ms X600s reset =closed +300ms S",
    ),
    (
        "h_what_is_left_of_an_opening_stays_left",
        LONG.threshold(1),
        "F =open force-open:1h =forced-open beneath:open clear =open X600s",
    ),
    (
        "h_a_later_override_replaces_an_earlier_one",
        THREE,
        "force-open:1h =forced-open force-closed:2h =forced-closed clear =closed",
    ),
    (
        "h_a_forced_half_open_circuit_begins_a_fresh_round",
        ONE,
        "F left:0s [a =half-open force-open:1h =forced-open clear =half-open a]F late:1 +300ms =half-open S =closed",
    ),
    (
        "live_a_new_threshold_is_judged_at_the_next_outcome",
        THREE,
        "F +300ms update:threshold=2 =closed F =open why:threshold",
    ),
    (
        "live_a_new_cooldown_is_that_of_the_next_opening",
        THREE,
        "2xF update:cooldown=120s F =open X120s",
    ),
    (
        "live_a_new_cooldown_leaves_an_opening_as_it_is",
        LONG.threshold(1),
        "F =open +300ms update:cooldown=120s +300ms X600s",
    ),
    (
        "live_a_window_of_another_kind_begins_empty",
        THREE,
        "2xF +300ms update:window=9 2xF +300ms =closed F =open why:threshold_in_window",
    ),
    (
        "live_the_probes_of_a_round_can_become_more",
        ONE,
        "F left:0s [a Xbusy update:probes=2 [b Xbusy a]S b]S =closed",
    ),
];
