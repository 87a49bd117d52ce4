//! Who takes part in which row.
//!
//! `tower` is the cheapest stack that can be built of tower services: tower's own layers,
//! and those of tower-resilience where tower has none. `tower-resilience` takes all of its
//! own, in the rows where that is another thing.
//!
//! Three differences remain, all in favour of the peers. A service is called by its one
//! owner, who never needs a clone of it for a call; our functions are called from
//! everywhere. Tower's rate limit belongs to its owner alone, so that it needs no lock;
//! ours is that of the process. And the peers count and publish nothing, since their
//! feature `metrics` is left out.

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
