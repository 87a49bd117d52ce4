//! Table of contents of the tests.

mod architecture;
mod clock;
mod config;
mod faults;
mod keys;
mod macros;
mod metrics;
mod observers;
mod registry;
mod scenarios;
mod shared;
mod stacks;
