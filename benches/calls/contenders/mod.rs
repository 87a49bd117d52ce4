//! Who takes part in which row.
//!
//! A peer is in a row only if it has that kind of rule. No peer looks breakers up by a key.

use crate::work::Work;

mod circuitbreaker_rs;
mod failsafe;
mod nobreak;
mod ours;
mod recloser;
mod tower_resilience;

/// The name of our own column; in the row `bare` it is the call without a guard.
pub(crate) const OURS: &str = "breakerbox";

/// One contender in one row. It is built only when it is measured, so that a process that
/// counts the instructions of one runs no other.
pub(crate) struct Case {
    pub(crate) row: &'static str,
    pub(crate) who: &'static str,
    pub(crate) build: Build,
}

/// Makes what is measured.
pub(crate) type Build = fn() -> Box<dyn Work>;

/// All cases, ours first.
pub(crate) fn cases() -> Vec<Case> {
    let contenders = [
        (OURS, ours::CASES),
        ("failsafe", failsafe::CASES),
        ("recloser", recloser::CASES),
        ("tower-resilience-circuitbreaker", tower_resilience::CASES),
        ("circuitbreaker-rs", circuitbreaker_rs::CASES),
        ("nobreak", nobreak::CASES),
    ];
    let of_all = contenders.iter().flat_map(|(who, cases)| {
        let case = move |&(row, build)| Case { row, who, build };
        cases.iter().map(case)
    });
    of_all.collect()
}

/// A breaker for as long as the process lives, as a service would have it.
fn forever<T>(breaker: T) -> &'static T {
    Box::leak(Box::new(breaker))
}
