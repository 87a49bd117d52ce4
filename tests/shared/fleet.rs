//! Several processes in one, over a store in memory.

use std::sync::Arc;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use breakerbox::Breaker;
use breakerbox::Event;
use breakerbox::MemoryStore;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::State;

/// So long nothing takes, however busy the machine is.
const LONG: Duration = Duration::from_secs(20);

pub(super) struct Process {
    pub(super) registry: Registry,
    pub(super) breaker: &'static Breaker,
    events: Arc<Mutex<Vec<Event>>>,
}

impl Process {
    pub(super) fn start(store: &MemoryStore, policy: Policy) -> Self {
        let events: Arc<Mutex<Vec<Event>>> = Arc::default();
        let heard = Arc::clone(&events);
        let registry = Registry::builder()
            .declare_with("shared", policy)
            .clock(breakerbox::Clock::system())
            .store(store.clone())
            .on_event(move |event| heard.lock().expect("no listener panics").push(event.clone()))
            .build()
            .expect("a right set-up");
        let breaker = registry.breaker("shared").expect("declared");
        let process = Self {
            registry,
            breaker,
            events,
        };
        process.eventually("it finds the store", || {
            process.count(|event| matches!(event, Event::StoreFound)) == 1
        });
        process
    }

    pub(super) fn fail(&self) {
        self.breaker.try_acquire().expect("a closed circuit").failure();
    }

    pub(super) fn succeed(&self) {
        self.breaker.try_acquire().expect("a closed circuit").success();
    }

    pub(super) fn becomes(&self, state: State) {
        self.eventually(state.label(), || self.breaker.state() == state);
    }

    pub(super) fn count(&self, is_meant: impl Fn(&Event) -> bool) -> usize {
        let events = self.events.lock().expect("no listener panics");
        events.iter().filter(|event| is_meant(event)).count()
    }

    pub(super) fn eventually(&self, what: &str, is_so: impl Fn() -> bool) {
        let start = Instant::now();
        while !is_so() {
            assert!(
                start.elapsed() < LONG,
                "{what}: it is {:?}",
                self.breaker.snapshot()
            );
            thread::sleep(Duration::from_millis(1));
        }
    }
}

pub(super) fn processes<const N: usize>(store: &MemoryStore, policy: Policy) -> [Process; N] {
    std::array::from_fn(|_| Process::start(store, policy))
}
