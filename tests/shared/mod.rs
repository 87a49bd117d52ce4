//! Circuits that several processes share. Each registry here is a process of its own.

mod fleet;
mod losses;
mod probes;
mod together;
