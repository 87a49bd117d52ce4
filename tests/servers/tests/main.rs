//! Every fault is one: what the house of servers does to them is seen by their clients.

mod client;
mod clock;
mod cluster;
mod faults;
mod network;
mod sentinels;
mod starting;
mod ways;
