//! The policies beside the breaker, without attributes.

mod aborted;
mod borders;
mod conflicts;
mod deadlines;
mod events;
mod extremes;
mod series;
mod three_deep;
mod timeouts;
mod together;
