//! What the breaker cannot be asked for yet. Scenarios that need it are played by the
//! naive law alone.

use breakerbox::Breaker;
use breakerbox::Policy;

/// Whether numbers can be changed while a breaker runs.
pub(crate) const UPDATES: bool = false;

/// Changes the numbers of a breaker while it runs.
pub(crate) fn update(breaker: &Breaker, change: impl FnOnce(Policy) -> Policy) {
    let _ = (breaker, change);
    unreachable!("no scenario asks for it while it is not there");
}
