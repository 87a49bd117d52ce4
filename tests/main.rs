//! Table of contents of the tests.

mod architecture;
mod faults;
mod metrics;
mod observers;
mod registry;
mod scenarios;
