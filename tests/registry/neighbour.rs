//! Functions of another file that name the services of [`sharing`](super::sharing).

use std::io;

use breakerbox::circuit_breaker;

/// The name of a service, as several files use it.
pub(super) const SHARED_CONST: &str = "registry: shared by a constant";

#[circuit_breaker(service = "registry: shared", threshold = 10)]
pub(super) fn refund(fails: bool) -> io::Result<()> {
    super::body(fails)
}

#[circuit_breaker(service = SHARED_CONST, threshold = 2)]
pub(super) async fn refund_by_constant(fails: bool) -> io::Result<()> {
    super::body(fails)
}
