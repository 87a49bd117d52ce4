//! Several processes in one: each registry is one, and all share one circuit.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use breakerbox::Breaker;
use breakerbox::Event;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::State;
use breakerbox_servers::Server;

/// So long nothing takes that comes at all.
pub(crate) const LONGEST: Duration = Duration::from_secs(30);

/// What a server executes once for each command of ours that it does.
const ONCE_EACH: &str = "hmget";

pub(crate) struct Fleet {
    pub(crate) instances: Vec<Instance>,
}

pub(crate) struct Instance {
    registry: Registry,
    pub(crate) breaker: &'static Breaker,
    /// When it found its store.
    found: Arc<Mutex<Vec<Instant>>>,
}

impl Fleet {
    /// Starts so many, and waits until each is connected and has asked how the circuit stands.
    pub(crate) fn start(server: &Server, instances: usize, policy: Policy) -> Self {
        let asked = asked(server);
        let instances = (0..instances).map(|_| Instance::start(server, policy));
        let fleet = Self {
            instances: instances.collect(),
        };
        fleet.all("it finds the store", |instance| instance.times_found() == 1);
        let all = asked + fleet.instances.len() as u64;
        until("all have asked", || self::asked(server) >= all);
        fleet
    }

    pub(crate) fn breakers(&self) -> Vec<&'static Breaker> {
        self.instances.iter().map(|it| it.breaker).collect()
    }

    pub(crate) fn first(&self) -> &'static Breaker {
        self.instances[0].breaker
    }

    /// Waits until something is so of each.
    pub(crate) fn all(&self, what: &str, is_so: impl Fn(&Instance) -> bool) {
        until(what, || self.instances.iter().all(&is_so));
    }

    pub(crate) fn all_are(&self, state: State) {
        until(state.label(), || self.are(state));
    }

    pub(crate) fn are(&self, state: State) -> bool {
        self.instances.iter().all(|it| it.breaker.state() == state)
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for instance in &self.instances {
            instance.registry.close();
        }
    }
}

impl Instance {
    fn start(server: &Server, policy: Policy) -> Self {
        let found: Arc<Mutex<Vec<Instant>>> = Arc::default();
        let heard = Arc::clone(&found);
        let registry = Registry::builder()
            .declare_with("shared", policy)
            .redis(server.url())
            .on_event(move |event| {
                if matches!(event, Event::StoreFound) {
                    let mut found = heard.lock().unwrap_or_else(PoisonError::into_inner);
                    found.push(Instant::now());
                }
            })
            .build()
            .expect("what is asked for is right");
        let breaker = registry.breaker("shared").expect("it is declared");
        Self {
            registry,
            breaker,
            found,
        }
    }

    pub(crate) fn times_found(&self) -> usize {
        self.found().len()
    }

    pub(crate) fn last_found(&self) -> Option<Instant> {
        self.found().last().copied()
    }

    fn found(&self) -> Vec<Instant> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.clone()
    }
}

/// How many commands of ours this server has done.
pub(crate) fn asked(server: &Server) -> u64 {
    let stats = server.command_stats();
    stats.get(ONCE_EACH).copied().unwrap_or(0)
}

/// Waits until something is so.
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < LONGEST, "it never came: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// A server for one part of the measurements.
pub(crate) fn server() -> Server {
    Server::start().expect("redis-server is installed, or unpacked by ./tests/run")
}
