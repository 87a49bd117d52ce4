//! Everything that can happen, at random, until its time is over.

mod by_hand;
mod redis;
mod service;
mod workers;

use std::thread;
use std::time::Duration;
use std::time::Instant;

use crate::crew::Crew;
use crate::journal::Journal;
use crate::log::Log;
use crate::service::Service;
use crate::spans::Spans;
use breakerbox_servers::Proxy;
use breakerbox_servers::Server;

/// What can be made bad.
#[derive(Clone, Copy)]
pub(crate) struct World<'w> {
    pub(crate) server: &'w Server,
    pub(crate) proxy: &'w Proxy,
    pub(crate) service: &'w Service,
    pub(crate) crew: &'w Crew,
    pub(crate) journal: &'w Journal,
    /// When Redis or the way to it was out of order.
    pub(crate) troubles: &'w Spans,
    pub(crate) log: &'w Log,
}

/// One source of faults: its time, and its dice.
struct Source {
    random: fastrand::Rng,
    until: Instant,
}

/// Makes things bad until then. Whatever was made bad is well again when this returns.
pub(crate) fn rain(world: World<'_>, seed: u64, until: Instant) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut source = || Source {
        random: random.fork(),
        until,
    };
    let sources = [source(), source(), source(), source()];
    let [service, redis, workers, by_hand] = sources;
    thread::scope(|scope| {
        scope.spawn(move || service::rain(world, service));
        scope.spawn(move || redis::rain(world, redis));
        scope.spawn(move || workers::rain(world, workers));
        scope.spawn(move || by_hand::rain(world, by_hand));
    });
}

impl Source {
    /// Waits for the next fault. Says whether there is one.
    fn next(&mut self, shortest: u64, longest: u64) -> bool {
        let pause = self.time(shortest, longest);
        thread::sleep(pause.min(self.until.saturating_duration_since(Instant::now())));
        Instant::now() < self.until
    }

    /// A length of time, in milliseconds.
    fn time(&mut self, shortest: u64, longest: u64) -> Duration {
        Duration::from_millis(self.random.u64(shortest..longest))
    }
}
