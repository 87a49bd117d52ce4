//! A place in a bulkhead, given back when it is dropped.

use std::fmt;
use std::sync::atomic::Ordering::Release;

use crate::bulkhead::Bulkhead;

/// Leave to run one call in a bulkhead. Dropped, also by a panic, it lets the next one in.
#[must_use = "a slot that is dropped is given back at once"]
pub struct Slot<'b> {
    place: Place<'b>,
}

/// A place among those who run or wait.
pub(super) struct Place<'b>(pub(super) &'b Bulkhead);

impl<'b> Slot<'b> {
    /// Whoever makes one has taken a permit, which is given back by it alone.
    pub(super) const fn new(place: Place<'b>) -> Self {
        Self { place }
    }
}

/// The permit goes before the place does, so that no more permits are out than places: who
/// finds a place among those that run finds a permit.
impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.place.0.slots.add_permits(1);
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(1, Release);
    }
}

impl fmt::Debug for Slot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot")
            .field("service", &self.place.0.service())
            .finish()
    }
}
