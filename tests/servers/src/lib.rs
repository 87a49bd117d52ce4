//! Real Redis servers for tests and benches, and everything that can happen to them.
//!
//! A [`Server`] is a process of its own on a private port of the loopback; [`Sentinels`]
//! and a [`Cluster`] are several. A [`Proxy`] in front of one is the network between. What
//! was started ends when its value is dropped, also by a panic; a `static` is never
//! dropped, and would leave its process behind.
//!
//! Everything here blocks its thread, most of it for less than a millisecond, and needs no
//! runtime. What starts servers or waits for a failover takes longer: in an async test it
//! belongs into `spawn_blocking`. All values can be shared between threads.
//!
//! Constructors return an [`Error`]. What is done to a running server panics where it
//! fails, as the test that asked for it could not go on.

mod clock;
mod cluster;
mod cluster_slots;
mod error;
mod launch;
mod options;
mod port;
mod process;
mod proxy;
mod resp;
mod sentinel;
mod server;
mod server_faults;
mod tls;
mod tools;
mod wait;

pub use clock::Clock;
pub use cluster::Cluster;
pub use cluster_slots::SlotMove;
pub use error::Error;
pub use error::installed;
pub use options::Options;
pub use proxy::Direction;
pub use proxy::Proxy;
pub use resp::Value;
pub use sentinel::Sentinels;
pub use server::Server;
pub use tls::Certificates;
pub use wait::LIMIT;
pub use wait::until;
