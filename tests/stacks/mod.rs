//! The policies beside the breaker, without attributes.

mod deadlines;
mod events;
mod series;
mod timeouts;
mod together;
