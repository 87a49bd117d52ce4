//! Table of contents of the tests.

mod architecture;
mod config;
mod faults;
mod macros;
mod metrics;
mod observers;
mod registry;
mod scenarios;
