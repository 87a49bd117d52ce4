//! The policies beside the breaker, without attributes.

mod deadlines;
mod series;
mod timeouts;
mod together;
