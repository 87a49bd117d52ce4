//! How long an opening lasts, and what comes after it.

use super::BRIEF;
use super::ONE;
use super::Scenario;
use super::THREE;
use super::seconds;

pub(super) const OPENINGS: &[Scenario] = &[
    (
        "e1_whoever_comes_after_the_cooldown_probes",
        ONE,
        "F =open left:0s [a =half-open a]S =closed",
    ),
    (
        "e5_each_opening_is_longer_than_the_last",
        ONE.backoff(10.0),
        "F left:0s F trips:2 left:0s F trips:3 left:4s..8s X8s",
    ),
    (
        "e8_closing_begins_again_with_the_shortest",
        ONE.backoff(2.0),
        "F left:0s F trips:2 left:0s S =closed F =open trips:1 left:0s F trips:2 left:0s S =closed",
    ),
    (
        "e11_a_ban_opens_at_once_for_so_long",
        THREE,
        "O120s =open why:open_for X120s trips:1",
    ),
    (
        "e11_rest_that_is_asked_for_counts_where_it_trips",
        BRIEF.threshold(2),
        "R9s +300ms =closed R120s =open X120s",
    ),
    (
        "e11_a_ban_is_no_longer_than_may_be",
        THREE.max_open_for(seconds(100)),
        "O5m =open X100s",
    ),
    (
        "e15_looking_changes_nothing",
        ONE,
        "F left:0s look =open left:0s S =closed",
    ),
    (
        "e_a_ban_while_probing_opens_for_so_long",
        BRIEF.threshold(1),
        "F left:0s O90s why:open_for X90s",
    ),
    (
        "ramp_a_failure_in_it_opens_for_longer",
        ONE.ramp(seconds(600)),
        "F left:0s S =closed F trips:2 X80s",
    ),
];
