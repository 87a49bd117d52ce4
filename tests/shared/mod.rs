//! Circuits that several processes share. Each registry here is a process of its own.

mod fleet;
mod leaving;
mod live;
mod probes;
mod seen;
mod together;
