//! The contract of a store, group L of the conformance cases: each of them once, on the rules
//! with a time set by hand and on the script in a real server.
//!
//! What only a server can do, or lose, stands in `conformance/server.rs`.

mod cases;
mod commands;
mod keys;
mod place;
mod server;
mod sources;

use place::Hand;
use place::Real;

use crate::store::redis::twin::server as start;

/// The same cases in both places.
macro_rules! both {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        mod by_the_rules {
            $($(#[$doc])* #[test] fn $name() {
                super::cases::$name(&mut super::Hand::new());
            })*
        }

        mod by_the_script {
            $($(#[$doc])* #[test] fn $name() {
                let server = super::start();
                super::cases::$name(&mut super::Real::on(&server.url()));
            })*
        }
    };
}

both! {
    /// L1
    asking_for_an_unknown_circuit_creates_nothing;
    /// L2
    a_flush_that_trips_stamps_the_time_of_the_store_and_a_new_epoch;
    /// L3
    a_second_trip_of_the_same_epoch_changes_nothing;
    /// L4
    a_moment_before_the_end_nobody_may_probe;
    /// L5
    at_the_end_the_first_who_asks_may_probe;
    /// L6
    a_second_probe_does_not_begin_another_round;
    /// L7
    so_many_probes_as_may_be_and_no_more;
    /// L8
    whoever_asks_while_it_is_closed_needs_no_leave;
    /// L9
    slow_calls_are_counted_beside_failures;
    /// L9
    slow_and_failed_probes_are_counted_against_the_round;
    /// L10
    closing_forgets_leases_and_counts;
    /// L11
    the_end_of_a_probe_without_a_lease_is_dropped;
    /// L11
    the_end_of_a_probe_of_nothing_creates_nothing;
    /// L12
    a_command_of_an_older_epoch_changes_nothing_and_says_what_stands;
    /// L13
    a_failed_probe_opens_afresh_and_clears_the_leases;
    /// L14
    of_many_that_trip_at_once_one_does;
    /// L15
    of_fifty_that_want_three_places_three_get_one;
    /// L19
    a_lease_expires_by_itself_and_its_place_is_given_again;
    /// L20
    giving_up_a_probe_frees_one_place_once;
    /// L21
    a_caller_whose_clock_is_wrong_by_an_hour_changes_nothing;
    /// L21
    a_store_whose_clock_falls_back_keeps_nothing_longer_than_it_was_meant_to_last;
    /// L21
    a_store_whose_clock_runs_ahead_lets_time_pass;
    /// L24
    a_command_after_its_deadline_does_nothing;
    /// L25
    a_grant_that_nobody_waits_for_is_given_back_at_once;
    a_live_change_is_told_to_all_and_to_whoever_asks_later;
    a_live_change_that_was_lost_is_put_back_and_told;
}
