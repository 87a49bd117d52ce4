//! Several processes in one test: each registry is one, and all have one store.

use std::panic;
use std::sync::Arc;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use breakerbox::Breaker;
use breakerbox::Clock;
use breakerbox::Event;
use breakerbox::MemoryStore;
use breakerbox::Permit;
use breakerbox::Policy;
use breakerbox::Redis;
use breakerbox::Registry;
use breakerbox::RegistryBuilder;
use breakerbox::SharedStore;
use breakerbox::SharingState;
use breakerbox::State;
use breakerbox::WhenStoreIsLost;
use breakerbox_servers::Server;
use tokio::runtime;

use super::calm::calmly_panicking;

/// So long nothing takes, however busy the machine is.
pub(super) const LONG: Duration = Duration::from_secs(20);

/// Generations of what all have decided are times of the store, in milliseconds since 1970. Those
/// of a process that has moved by itself alone count from zero.
pub(super) const TIMES: u64 = 1_000_000_000_000;

/// What the processes share their circuits through.
pub(super) enum Backing {
    Memory(MemoryStore),
    Redis(Box<Server>),
}

pub(super) struct Process {
    pub(super) registry: Registry,
    pub(super) breaker: &'static Breaker,
    events: Arc<Mutex<Vec<Event>>>,
}

/// Waits on this thread.
pub(super) fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(future)
}

/// Runs a test with a store in memory and with a real server.
pub(super) fn on_each(test: impl Fn(&Backing)) {
    test(&Backing::memory());
    calmly_panicking(|| test(&Backing::redis()));
}

/// The same with both at a time, of a test that does little but wait.
pub(super) fn on_each_at_once(test: impl Fn(&Backing) + Sync) {
    thread::scope(|scope| {
        let in_memory = scope.spawn(|| test(&Backing::memory()));
        calmly_panicking(|| test(&Backing::redis()));
        if let Err(payload) = in_memory.join() {
            panic::resume_unwind(payload);
        }
    });
}

/// Waits until the circuit is in this state for both.
#[track_caller]
pub(super) fn both_become(first: &Process, second: &Process, state: State) {
    for (process, which) in [(first, "first"), (second, "second")] {
        let what = format!("{} for the {which} of both", state.label());
        process.eventually(&what, || process.breaker.state() == state);
    }
}

impl Backing {
    pub(super) fn memory() -> Self {
        Self::Memory(MemoryStore::new())
    }

    pub(super) fn redis() -> Self {
        Self::Redis(Box::new(
            Server::start().expect("a server: run ./tests/run"),
        ))
    }

    /// The server of one that has a server.
    #[track_caller]
    pub(super) fn server(&self) -> &Server {
        match self {
            Self::Memory(_) => panic!("a store in memory has no server"),
            Self::Redis(server) => server,
        }
    }

    /// Everything that lies there is lost.
    pub(super) fn forgets(&self) {
        match self {
            Self::Memory(store) => store.lose_everything(),
            Self::Redis(server) => server.flushall(),
        }
    }

    pub(super) fn store(&self) -> SharedStore {
        match self {
            Self::Memory(store) => store.clone().into(),
            Self::Redis(server) => Redis::new(server.url()).into(),
        }
    }

    pub(super) fn start(&self, policy: Policy) -> Process {
        Process::start(policy, |builder| builder.store(self.store()))
    }

    pub(super) fn processes<const N: usize>(&self, policy: Policy) -> [Process; N] {
        std::array::from_fn(|_| self.start(policy))
    }
}

impl Process {
    /// Starts one, and waits until it has found its store.
    pub(super) fn start(
        policy: Policy,
        with: impl FnOnce(RegistryBuilder) -> RegistryBuilder,
    ) -> Self {
        let process = Self::start_alone(policy, with);
        // On a busy machine it may have lost it again.
        process.eventually("it finds the store", || process.finds() > 0);
        process
    }

    /// Starts one that may have no store to find.
    pub(super) fn start_alone(
        policy: Policy,
        with: impl FnOnce(RegistryBuilder) -> RegistryBuilder,
    ) -> Self {
        let events: Arc<Mutex<Vec<Event>>> = Arc::default();
        let heard = Arc::clone(&events);
        let builder = Registry::builder()
            .declare_with("shared", policy)
            .declare_with("other", Policy::new())
            .clock(Clock::system())
            .on_event(move |event| {
                let mut heard = heard.lock().expect("no listener panics");
                heard.push(event.clone());
            });
        let registry = with(builder).build().expect("a right set-up");
        let breaker = registry.breaker("shared").expect("declared");
        Self {
            registry,
            breaker,
            events,
        }
    }

    /// Whether it goes by what it sees itself, since it has lost its store.
    pub(super) fn is_alone(&self) -> bool {
        let sharing = self.breaker.snapshot().sharing.expect("it is shared");
        let policy = WhenStoreIsLost::Local;
        matches!(sharing.state, SharingState::Lost { policy: it, .. } if it == policy)
    }

    #[track_caller]
    pub(super) fn fail(&self) {
        let permit = self.breaker.try_acquire().expect("a closed circuit");
        permit.failure();
    }

    /// So many calls in a row fail.
    #[track_caller]
    pub(super) fn fail_times(&self, times: u32) {
        for _ in 0..times {
            self.fail();
        }
    }

    #[track_caller]
    pub(super) fn succeed(&self) {
        let permit = self.breaker.try_acquire().expect("a closed circuit");
        permit.success();
    }

    #[track_caller]
    pub(super) fn becomes(&self, state: State) {
        self.eventually(state.label(), || self.breaker.state() == state);
    }

    /// The circuit is open, and whoever comes may ask for leave to probe.
    #[track_caller]
    pub(super) fn cools_down(&self) {
        self.eventually("the cooldown is over", || {
            let snapshot = self.breaker.snapshot();
            // One that has opened here alone, before the others know, may be over sooner.
            let is_of_all = snapshot.generation > TIMES || self.is_alone();
            let is_open = snapshot.state == State::Open;
            is_of_all && is_open && snapshot.retry_after == Some(Duration::ZERO)
        });
    }

    /// Goes in as soon as the circuit lets it: it may have to wait for a cooldown, or for the
    /// place of a probe.
    #[track_caller]
    pub(super) fn enter(&self) -> Permit<'static> {
        let mut permit = None;
        self.eventually("it lets a call in", || {
            permit = block_on(self.breaker.acquire()).ok();
            permit.is_some()
        });
        permit.expect("it was let in")
    }

    /// Waits until it has moved as the store says, not only by what it has seen itself.
    #[track_caller]
    pub(super) fn is_as_all_have_decided(&self) {
        self.eventually("it hears what is decided", || {
            self.breaker.snapshot().generation > TIMES
        });
    }

    /// How often the circuit has moved so here, as its listeners were told.
    pub(super) fn moves(&self, from: State, to: State) -> usize {
        self.count(|event| {
            matches!(event, Event::Transition(it)
                if it.service == self.breaker.name() && (it.from, it.to) == (from, to))
        })
    }

    /// How often the store was found.
    pub(super) fn finds(&self) -> usize {
        self.count(|event| matches!(event, Event::StoreFound))
    }

    /// How often it was lost.
    pub(super) fn losses(&self) -> usize {
        self.count(|event| matches!(event, Event::StoreLost { .. }))
    }

    /// Waits until the store is lost for this many times in all.
    #[track_caller]
    pub(super) fn loses(&self, times: usize) {
        self.eventually("it loses the store", || self.losses() >= times);
    }

    /// Waits until the store is found for this many times in all.
    #[track_caller]
    pub(super) fn finds_it(&self, times: usize) {
        self.eventually("it finds the store", || self.finds() >= times);
    }

    pub(super) fn count(&self, is_meant: impl Fn(&Event) -> bool) -> usize {
        let events = self.events.lock().expect("no listener panics");
        events.iter().filter(|event| is_meant(event)).count()
    }

    #[track_caller]
    pub(super) fn eventually(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        let start = Instant::now();
        while !is_so() {
            assert!(
                start.elapsed() < LONG,
                "it never came: {what}; it is {:?}",
                self.breaker.snapshot()
            );
            thread::sleep(Duration::from_millis(1));
        }
    }
}
