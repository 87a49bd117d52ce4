//! What each process does by itself.

use super::LONG;
use super::ONE;
use super::Scenario;
use super::last;
use super::seconds;

pub(super) const ALONE: &[Scenario] = &[
    (
        "ramp_after_closing_calls_come_back_one_by_one",
        ONE.ramp(seconds(600)),
        "F left:0s S =closed [a Xramp a]S [b b]S",
    ),
    (
        "a1_a_rate_opens_at_the_call_that_makes_the_calls_enough",
        last(4).failure_rate(0.75),
        "3xF +300ms =closed F =open why:failure_rate rate:1 X ran:4",
    ),
    (
        "h3_shadow_rejects_nobody_and_tells",
        last(10).min_calls(5).failure_rate(0.5),
        "shadow:1h =shadow +300ms 5xF beneath:open 3xF would-reject:3 =shadow rejected:0 clear =closed",
    ),
    (
        "h3_a_policy_in_shadow_moves_nothing",
        LONG.threshold(2).shadow(true),
        "2xF beneath:open F would-reject:1 =shadow",
    ),
];
