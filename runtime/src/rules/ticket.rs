//! What an outcome has to bring along.

use crate::policy::Policy;

/// Leave to make one call: the generation it belongs to and, for a probe, its place
/// in the round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) generation: u64,
    pub(crate) place: u32,
}

impl Ticket {
    /// The place of a call that a probe makes itself: none. No list of probes is that
    /// long.
    pub(crate) const RIDING: u32 = 2 * Policy::MAX_PROBES + 1;
}
