//! Worlds of millions, each looked at by `.ci/long`.

use super::Bounds;
use super::Left;
use super::ONE_LOSS;
use super::ONE_ROLLBACK;
use super::SMALL;
use super::holds;

#[test]
#[ignore = "minutes, and gigabytes"]
fn the_laws_hold_when_the_store_goes_back() {
    let left = ONE_ROLLBACK;
    holds(Bounds { left, ..SMALL });
}

#[test]
#[ignore = "minutes, and gigabytes"]
fn the_laws_hold_when_a_process_crashes_and_the_store_loses_all() {
    let left = Left {
        crashes: 1,
        ..ONE_LOSS
    };
    holds(Bounds { left, ..SMALL });
}

#[test]
#[ignore = "minutes, and gigabytes"]
fn the_laws_hold_when_a_connection_is_lost_and_the_store_loses_all() {
    let left = Left {
        cuts: 1,
        ..ONE_LOSS
    };
    holds(Bounds { left, ..SMALL });
}
