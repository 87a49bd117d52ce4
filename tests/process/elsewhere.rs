//! Functions that contradict those of [`contradictions`](super).

use std::io;

use breakerbox::circuit_breaker;

pub(super) const LINE: u32 = line!();
#[circuit_breaker(service = "contradicted", threshold = 50, cooldown = "1s")]
pub(super) fn refund(fails: bool) -> io::Result<()> {
    super::body(fails)
}

#[circuit_breaker(service = "agreed", threshold = 5, cooldown = "60s", probes = 1)]
pub(super) fn refund_as_agreed(fails: bool) -> io::Result<()> {
    super::body(fails)
}
