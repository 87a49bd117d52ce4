//! Circuits that several processes share. Each registry here is a process of its own.

mod fleet;
mod probes;
mod seen;
mod together;
