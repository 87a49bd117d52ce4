//! H: what somebody does by hand: forces a circuit, or resets it.

use breakerbox::OverrideError;
use breakerbox::Policy;
use breakerbox::State;
use breakerbox::Window;

use super::drivers::breaker;
use super::drivers::registry;
use super::drivers::seconds;
use super::runner::scenarios;

const ONE: Policy = Policy::new().threshold(1);
const THREE: Policy = Policy::new().threshold(3);
const FIVE_OF_TEN: Policy = Policy::new()
    .window(Window::Calls(10))
    .min_calls(5)
    .failure_rate(0.5);
const TEN_SECONDS: Policy = Policy::new().window(Window::Time(seconds(10))).threshold(3);
const RESTS_IN_SHADOW: Policy = THREE.shadow(true);

scenarios! {
    e3_a_forced_open_circuit_ends_by_itself: THREE,
        "2xF force-open:2h =forced-open beneath:closed +1h Xforced forced:1h +1h-1ns Xforced forced:1ns \
         +1ns =closed forced:none count:2 F =open";
    f1_forced_open_in_half_open_begins_a_fresh_round: ONE.probes(4),
        "F +60s [a [b [c [d Xbusy force-open:1m Xforced beneath:half-open clear =half-open \
         [e [f [g [h Xbusy a]S b]S c]F d]S late:4 =half-open e]S f]S g]S h]S =closed";
    h1_a_forced_open_circuit_rejects_beyond_the_cooldown: ONE.cooldown(seconds(5)),
        "force-open:1h Xforced +6s Xforced =forced-open rejected:2 left:none why:none";
    h2_a_forced_closed_circuit_judges_nothing: THREE,
        "force-closed:1h S 4xF =forced-closed success:1 failure:4 count:0 clear =closed moves:2 \
         count:0 2xF =closed F =open";
    h2_a_forced_closed_circuit_ends_with_an_empty_window: TEN_SECONDS,
        "2xF force-closed:1s failures:2 9xF failures:2 +1s failures:0 calls:0 2xF =closed F =open";
    h2_a_forced_closed_circuit_labels_what_it_counts: ONE.slow_call(seconds(1)),
        "force-closed:1h S F I N D P s2s f2s O5s =forced-closed success:2 failure:2 ignored:1 cancelled:1 \
         panicked:1 slow_success:1 slow_failure:1 ran:9";
    h3_shadow_rejects_nobody_and_tells: FIVE_OF_TEN,
        "shadow:1h 3xF S =shadow S rate:0.6 beneath:open why:failure_rate would-open:1 told:1 \
         F would-reject:1 failure:4 =shadow would-open:1 rejected:0 left:none";
    h3_shadow_tells_again_after_probe_and_close: FIVE_OF_TEN,
        "shadow:1h 5xF would-open:1 9xF would-reject:9 +60s S beneath:closed 4xF would-open:1 F would-open:2 told:1";
    h3_shadow_tells_of_a_reopening: ONE, "shadow:1h F would-open:1 +60s F would-open:2 beneath:open trips:2";
    h3_shadow_has_probes: ONE.probes(2),
        "shadow:1h F +60s [a beneath:half-open [b would-reject:0 [c would-reject:1 c]F beneath:half-open \
         a]S b]S beneath:closed would-open:1 success:2 failure:2";
    h5_reset_from_open_closes_and_forgets: THREE.backoff(2.0),
        "3xF =open reset =closed count:0 trips:0 moves:2 told:2 2xF =closed F X60s";
    h5_reset_empties_the_window: TEN_SECONDS, "2xF reset calls:0 =closed moves:1 told:0 2xF =closed";
    h5_reset_from_half_open: ONE, "F +60s [a reset =closed told:3 moves:3 a]F late:1 =closed";
    h5_reset_of_a_closed_circuit_is_not_told: THREE, "2xF [a reset count:0 moves:1 told:0 a]F late:1";
    h8_any_state_can_be_shadowed: ONE,
        "F =open shadow:1h =shadow beneath:open S would-reject:1 clear =closed F +60s [a =half-open \
         shadow:1h =shadow beneath:half-open S beneath:closed a]F late:1 clear =closed";
    h8_any_state_can_be_forced_closed: ONE,
        "F force-closed:1h =forced-closed 9xF clear =closed F +60s [a force-closed:1h 9xF +1h =closed a]S late:1";
    h10_a_forced_open_circuit_is_cleared_by_hand: THREE, "force-open:1h +30m Xforced clear S =closed told:2";
    h11_a_tripped_circuit_is_closed_by_hand: ONE, "F X60s reset S =closed told:2";

    h_forcing_is_told_once_each_way: THREE, "force-open:1h told:1 9xX told:1 +1h told:1 S told:2 moves:2";
    h_there_is_nothing_to_clear: THREE, "clear-none force-open:1h clear clear-none moves:2 force-open:1s +1s clear-none";
    h_what_is_left_of_an_opening_stays_left: ONE,
        "F +10s force-open:1h beneath:open why:threshold +1h =open left:50s X50s +50s-1ns X1ns +1ns S =closed";
    h_what_is_left_of_an_opening_that_was_cleared: ONE, "F +10s force-open:1h +20m clear X50s +50s S =closed";
    h_an_override_that_nobody_noticed_ended_when_it_had: ONE, "F +10s force-open:1h +1h +30s X20s +20s S =closed";
    h_an_opening_that_was_over_stays_over: ONE, "F +60s force-open:1h Xforced +1h =open left:0s S =closed";
    h_beneath_a_forced_open_circuit_the_window_moves_on: TEN_SECONDS,
        "F +5s F force-open:5s failures:2 +5s failures:1 =closed 2xF =open";
    h_a_forced_open_circuit_keeps_the_count_window: FIVE_OF_TEN, "4xF force-open:5s +5s S =open rate:0.8";
    h_calls_from_before_an_override_are_late: THREE, "[a [b force-open:1s a]F +1s b]F late:2 count:0";
    h_calls_from_within_an_override_are_late: THREE,
        "force-closed:1s [a +1s a]F late:1 count:0 shadow:1s [b +1s b]F late:2 count:0 3xF =open";
    h_an_end_is_told_when_somebody_comes: THREE, "force-closed:1s +5s told:1 =closed moves:2 S told:2 moves:2";
    h_a_later_override_replaces_an_earlier_one: THREE,
        "force-open:1h force-closed:2h =forced-closed told:2 +1h =forced-closed forced:1h clear =closed told:3";
    h_a_replaced_forced_open_circuit_ends_as_it_would_have: ONE,
        "F +10s force-open:1h +10m force-open:1h +1h =open left:50s";
    h_a_replaced_forced_closed_circuit_ends_closed: ONE, "F force-closed:1h force-open:1h beneath:closed clear S =closed";
    h_a_replaced_shadow_ends_closed: ONE, "shadow:1h F beneath:open force-open:1h beneath:closed clear =closed trips:0";
    h_shadow_can_replace_shadow: ONE, "shadow:1h F beneath:open shadow:2h beneath:closed F would-open:2 told:2";
    h_an_override_that_is_over_is_not_replaced: THREE, "force-open:1h +1h force-open:1h told:3 moves:3";
    h_reset_reaches_beneath_a_forced_open_circuit: ONE,
        "F force-open:1h reset =forced-open beneath:closed forced:1h told:2 Xforced clear S =closed";
    h_reset_reaches_beneath_shadow: ONE, "shadow:1h F reset =shadow beneath:closed trips:0 S would-reject:0 told:1";
    h_reset_makes_calls_late_beneath_an_override: ONE, "force-closed:1h [a reset a]F late:1 =forced-closed";
    h_reset_notices_an_override_that_is_over: ONE, "F force-open:1h +1h reset =closed told:4";
    h_a_manual_opening_makes_no_other_longer: ONE.backoff(2.0),
        "F +60s force-open:1m clear F X120s trips:2 +120s S =closed trips:0 force-open:1m +1m F X60s";
    h_shadow_begins_with_what_there_is: THREE, "2xF shadow:1h count:2 F beneath:open would-open:1";
    h_shadow_goes_on_with_an_opening: ONE, "F +10s shadow:1h S would-reject:1 +50s S beneath:closed would-open:0";
    h_shadow_ends_closed_and_empty: TEN_SECONDS, "2xF shadow:1s F beneath:open +1s =closed calls:0 trips:0 2xF =closed";
    h_calls_that_shadow_spares_have_no_vote: ONE.probes(2).cooldown(seconds(5)),
        "shadow:1h F [a would-reject:1 +5s [b [c [d would-reject:2 a]F late:1 d]F beneath:half-open b]S c]S beneath:closed";
    h_a_ban_in_shadow_rejects_nobody: THREE, "shadow:1h O90s would-open:1 S would-reject:1 =shadow";
    h_calls_hang_in_shadow: TEN_SECONDS.slow_call(seconds(2)).min_calls(2),
        "shadow:1h [a [b +3s hung:2 S would-reject:1 would-open:1 why:slow_call_rate";

    h_a_policy_can_rest_in_shadow: RESTS_IN_SHADOW,
        "=shadow beneath:closed forced:none moves:0 3xF =shadow would-open:1 told:0 9xS would-reject:9 ran:12";
    h_nobody_clears_a_shadow_at_rest: RESTS_IN_SHADOW, "clear-none =shadow reset =shadow told:0 moves:1";
    h_an_override_ends_back_into_a_fresh_shadow: RESTS_IN_SHADOW,
        "3xF beneath:open force-open:1h =forced-open Xforced told:1 +1h =shadow beneath:closed trips:0 \
         S told:2 2xF beneath:closed F beneath:open would-open:2";
    h_a_forced_closed_circuit_ends_back_into_shadow: RESTS_IN_SHADOW, "force-closed:1h 9xF clear =shadow count:0 told:2";
    h_a_shadow_by_hand_ends_back_into_one_at_rest: RESTS_IN_SHADOW, "shadow:1h 2xF count:2 told:1 +1h =shadow count:0 S told:2";
}

/// An override can be tied to a value.
#[tokio::test(start_paused = true)]
async fn h_a_guard_ends_the_override_that_it_is_of_and_no_other() {
    let registry = registry(THREE);
    let breaker = breaker(&registry);
    let hour = seconds(3600);
    let guard = breaker.force_open(hour, "ana", "moving").unwrap().guard();
    assert_eq!(breaker.state(), State::ForcedOpen);
    drop(guard);
    assert_eq!(breaker.state(), State::Closed);

    let earlier = breaker.force_open(hour, "ana", "moving").unwrap().guard();
    let later = breaker.force_closed(hour, "bob", "moved").unwrap();
    drop(earlier);
    assert_eq!(breaker.state(), State::ForcedClosed);
    // Without a guard it does not depend on the value.
    let _ = later;
    assert_eq!(breaker.state(), State::ForcedClosed);

    let ended = breaker.shadow(seconds(1), "ana", "trying").unwrap().guard();
    tokio::time::advance(seconds(1)).await;
    breaker.force_open(hour, "bob", "moving").unwrap();
    drop(ended);
    assert_eq!(breaker.state(), State::ForcedOpen);
}

/// Somebody has to account for an override.
#[tokio::test(start_paused = true)]
async fn h_an_override_needs_a_time_an_actor_and_a_reason() {
    let registry = registry(THREE);
    let breaker = breaker(&registry);
    let refused = |lasts, actor, reason| breaker.force_open(lasts, actor, reason).unwrap_err();
    assert_eq!(refused(seconds(0), "ana", "moving"), OverrideError::NoTime);
    assert_eq!(refused(seconds(1), "", "moving"), OverrideError::NoActor);
    assert_eq!(refused(seconds(1), "ana", " "), OverrideError::NoReason);
    assert_eq!(breaker.snapshot().generation, 0);

    breaker.shadow(seconds(9), "ana", "ü".repeat(200)).unwrap();
    let by = breaker.snapshot().forced.unwrap().by;
    assert_eq!(&*by.actor, "ana");
    assert_eq!(&*by.reason, "ü".repeat(128));
}
