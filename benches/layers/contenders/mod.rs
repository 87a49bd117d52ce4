//! Who takes part in which row.
//!
//! `tower` is the cheapest stack that can be built of tower services: tower's own layers,
//! and those of tower-resilience where tower has none. `tower-resilience` takes all of its
//! own, in the rows where that is another thing.
//!
//! Two differences remain, both in favour of the peers. A service is called by its one
//! owner, who never needs a clone of it for a call; our functions are called from
//! everywhere. And the peers count and publish nothing, since their feature `metrics` is
//! left out.
//!
//! What is retried is a request that owns memory, as most do: tower's layers clone it before
//! the first attempt, ours lends it to each.

use crate::harness;
use crate::harness::Case;
use crate::harness::OURS;
use crate::rows::ROWS;

mod ours;
mod service;
mod tower;
mod tower_resilience;

/// All cases, ours first.
pub(crate) fn cases() -> Vec<Case> {
    harness::cases(
        ROWS,
        &[
            (OURS, ours::CASES),
            ("tower", tower::CASES),
            ("tower-resilience", tower_resilience::CASES),
        ],
    )
}
