//! The policies beside the breaker, without attributes.

mod conflicts;
mod deadlines;
mod events;
mod series;
mod timeouts;
mod together;
