//! Circuits that several processes share. Each registry here is a process of its own.

mod again;
mod alone;
mod attributes;
mod calm;
mod clocks;
mod crowd;
mod failovers;
mod fleet;
mod forgetful;
mod hours;
mod killed;
mod leaving;
mod live;
mod losses;
mod outages;
mod play;
mod probes;
mod refused;
mod scenarios;
mod seen;
mod strangers;
mod together;
mod traffic;
mod when_lost;
