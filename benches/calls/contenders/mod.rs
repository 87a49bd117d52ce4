//! Who takes part in which row.
//!
//! A peer is in a row only if it has that kind of rule. No peer looks breakers up by a key.

use crate::harness;
use crate::harness::Case;
use crate::harness::OURS;
use crate::rows::ROWS;

mod circuitbreaker_rs;
mod failsafe;
mod nobreak;
mod ours;
mod recloser;
mod tower_resilience;

/// All cases, ours first.
pub(crate) fn cases() -> Vec<Case> {
    harness::cases(
        ROWS,
        &[
            (OURS, ours::CASES),
            ("failsafe", failsafe::CASES),
            ("recloser", recloser::CASES),
            ("tower-resilience-circuitbreaker", tower_resilience::CASES),
            ("circuitbreaker-rs", circuitbreaker_rs::CASES),
            ("nobreak", nobreak::CASES),
        ],
    )
}

/// A breaker for as long as the process lives, as a service would have it.
fn forever<T>(breaker: T) -> &'static T {
    Box::leak(Box::new(breaker))
}
