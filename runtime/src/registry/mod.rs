//! The registry: one breaker a service, made once and never replaced.

mod background;
mod builder;
mod linked;
mod listeners;
#[cfg(feature = "config")]
mod reload;
mod resolve;
mod scope;
mod setup;
#[cfg(feature = "redis")]
mod shared;
mod stacks;
mod table;
#[cfg(feature = "watch")]
mod watch;

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::io;
use std::io::Write;
use std::panic;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::OnceLock;
use std::sync::PoisonError;
use std::sync::RwLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::AcqRel;
use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::Ordering::SeqCst;

use crate::breaker::Breaker;
#[cfg(feature = "config")]
use crate::config::Reading;
use crate::declaration::Conflict;
use crate::event::Event;
use crate::event::Warning;
#[cfg(feature = "redis")]
use crate::fleet::Fleet;
use crate::host::Host;
use crate::settings::ConfigError;

use listeners::Listeners;
use setup::Setup;
use stacks::Stacks;
use table::Entry;
use table::Table;

pub use builder::BuildError;
pub use builder::RegistryBuilder;
pub use scope::Entered;
pub use scope::WithRegistry;
pub use scope::with_registry;
#[cfg(feature = "redis")]
pub use shared::journal;
pub use stacks::policies;
pub use stacks::timeout;

pub(crate) use stacks::unnamed;

/// What one report publishes.
#[derive(Clone, Copy)]
enum Report {
    /// The breakers that have moved.
    Moved,
    All,
    /// All, with the descriptions of the metrics. Some recorders keep every description
    /// until somebody scrapes, so they are not repeated each time.
    Described,
}

/// The service of the breaker that all names beyond the limit share.
const OVERFLOW: &str = "breakerbox:overflow";

/// How many services may be named at run time by default.
const MAX_DYNAMIC_SERVICES: usize = 1_000;

/// All breakers of a process, one a service.
///
/// There is one global registry, which the attributes use. It exists from the first
/// call on; [`install`](RegistryBuilder::install) sets it up, before or after that.
/// A private one, for a test, is [built](RegistryBuilder::build) and entered.
///
/// A breaker lives as long as the process, also that of a private registry: build
/// those per test, not per request.
#[derive(Clone)]
pub struct Registry {
    inner: Arc<Inner>,
}

struct Inner {
    host: Arc<Host>,
    /// Where circuits are shared with other processes.
    #[cfg(feature = "redis")]
    fleet: OnceLock<Fleet>,
    breakers: Table,
    stacks: Stacks,
    /// What code and configuration say, which comes before what attributes say.
    setup: RwLock<Setup>,
    /// What is read again on `reload`, which one thread does at a time.
    #[cfg(feature = "config")]
    reading: Mutex<Reading>,
    #[cfg(feature = "watch")]
    watcher: Mutex<Option<watch::Watcher>>,
    max_dynamic: AtomicUsize,
    /// The dynamic sites, by address, whose contradictions were reported.
    reported: Mutex<HashSet<usize>>,
    listeners: Listeners,
    /// Whoever takes transitions hands them on before another takes any.
    telling: Mutex<()>,
    /// Whether warnings that no listener hears go to standard error.
    speaks: bool,
    publishes: AtomicBool,
    closed: AtomicBool,
    started: AtomicBool,
    background: AtomicBool,
}

static GLOBAL: OnceLock<Registry> = OnceLock::new();
static INSTALLED: AtomicBool = AtomicBool::new(false);

/// The breaker of a service in the registry in force: the entered one, else the
/// global one. `None` where nobody declares the service.
///
/// ```
/// assert!(breakerbox::breaker("no-such-service").is_none());
/// ```
#[must_use]
pub fn breaker(service: &str) -> Option<&'static Breaker> {
    Registry::current().breaker(service)
}

/// The breakers of all services in the registry in force, by name.
///
/// It knows every annotated function of the binary, also before its first call; a
/// crate that the binary never mentions is not linked, and so is not listed.
#[must_use]
pub fn services() -> Vec<&'static Breaker> {
    Registry::current().services()
}

/// Publishes the metrics of the global registry now, from this thread. The
/// background does it once a second and on every transition.
pub fn publish_metrics() {
    Registry::global().publish_metrics();
}

impl Registry {
    /// Sets up a registry.
    pub fn builder() -> RegistryBuilder {
        RegistryBuilder::default()
    }

    /// The global registry.
    #[must_use]
    pub fn global() -> Self {
        let registry = Self::global_unstarted();
        registry.start();
        registry.clone()
    }

    /// The registry in force on this thread: the entered one, else the global one.
    #[must_use]
    pub fn current() -> Self {
        scope::current().unwrap_or_else(Self::global)
    }

    fn global_unstarted() -> &'static Self {
        GLOBAL.get_or_init(|| Self::new(true, Host::new()))
    }

    fn new(is_global: bool, host: Host) -> Self {
        Self {
            inner: Arc::new(Inner {
                host: Arc::new(host),
                #[cfg(feature = "redis")]
                fleet: OnceLock::new(),
                breakers: Table::default(),
                stacks: Stacks::default(),
                setup: RwLock::default(),
                #[cfg(feature = "config")]
                reading: Mutex::default(),
                #[cfg(feature = "watch")]
                watcher: Mutex::default(),
                max_dynamic: AtomicUsize::new(MAX_DYNAMIC_SERVICES),
                reported: Mutex::default(),
                listeners: Listeners::default(),
                telling: Mutex::default(),
                speaks: is_global,
                publishes: AtomicBool::new(is_global),
                closed: AtomicBool::new(false),
                started: AtomicBool::new(false),
                background: AtomicBool::new(false),
            }),
        }
    }

    /// Says, once, what is wrong with the set-up, and starts the background.
    ///
    /// Nobody waits for somebody else's report: whoever writes it may be slow.
    fn start(&self) {
        if self.inner.started.load(Acquire) {
            return;
        }
        if !self.inner.started.swap(true, AcqRel) {
            for conflict in self.conflicts() {
                self.inner.warn(Warning::Conflict(conflict));
            }
            for conflict in stacks::limit_conflicts() {
                self.inner.warn(Warning::LimitConflict(conflict));
            }
        }
        self.start_background();
    }

    fn start_background(&self) {
        if self.inner.needs_background()
            && !self.inner.background.swap(true, AcqRel)
            && let Err(error) = background::spawn(&self.inner)
        {
            self.inner.warn(Warning::NoThread(error.to_string()));
        }
    }

    /// The breaker of a service; `None` where nobody declares it.
    #[must_use]
    pub fn breaker(&self, service: &str) -> Option<&'static Breaker> {
        self.inner
            .breakers
            .get(service)
            .or_else(|| self.inner.make_declared(service))
            .map(|entry| entry.breaker)
    }

    /// The breakers of all services, by name.
    #[must_use]
    pub fn services(&self) -> Vec<&'static Breaker> {
        let in_code: Vec<String> = read(&self.inner.setup).declared.keys().cloned().collect();
        for service in &in_code {
            self.inner.make_declared(service);
        }
        for service in linked::services() {
            self.inner.make_declared(service);
        }
        self.inner.breakers.breakers()
    }

    /// Every pair of call sites that declare one service with different numbers, in keys
    /// that code, file, environment and live changes leave to attributes.
    ///
    /// It knows the call sites whose service is known at compile time. Those that make up
    /// one name at run time are reported as they are called, as an [`Event::Warning`], and
    /// the first to call has its numbers in force.
    #[must_use]
    pub fn conflicts(&self) -> Vec<Conflict> {
        let setup = read(&self.inner.setup).clone();
        linked::conflicts(|service| {
            let breaker = self.inner.breakers.get(service).map(|entry| entry.breaker);
            let live = breaker.map(|breaker| breaker.hold().layers().live);
            setup.above_attributes(service, live.unwrap_or_default())
        })
    }

    /// Publishes the metrics of this registry now, from this thread, with their
    /// descriptions, and hands its transitions to the listeners.
    pub fn publish_metrics(&self) {
        #[cfg(feature = "metrics")]
        {
            crate::publish::describe();
            #[cfg(feature = "redis")]
            if self.inner.fleet.get().is_some() {
                crate::publish::store::describe();
            }
        }
        self.publish();
    }

    fn publish(&self) {
        self.inner.tell_transitions();
        #[cfg(feature = "metrics")]
        {
            let breakers = self.services();
            crate::publish::publish(&breakers, &self.inner.all_policies());
            #[cfg(feature = "redis")]
            self.publish_store(&breakers);
        }
    }

    fn publish_moved(&self) {
        let moved = self.inner.tell_transitions();
        #[cfg(feature = "metrics")]
        crate::publish::publish(&moved, &[]);
        #[cfg(not(feature = "metrics"))]
        drop(moved);
    }

    /// One round of the background. A recorder that panics ends nothing.
    fn report(&self, report: Report) {
        let reported = AssertUnwindSafe(|| match report {
            _ if !self.inner.publishes.load(Relaxed) => drop(self.inner.tell_transitions()),
            Report::Moved => self.publish_moved(),
            Report::All => self.publish(),
            Report::Described => self.publish_metrics(),
        });
        let _ = panic::catch_unwind(reported);
    }

    /// Ends the background work of this registry: publishes what there is, and gives
    /// the listeners up to a second to hear the last events. It blocks that long at
    /// most, and is meant for the end of `main`. A listener that calls it does not wait
    /// for itself.
    ///
    /// Where circuits are shared, the others are told first what there is still to tell, for half
    /// a second at most, and this process gives back its leave to probe.
    ///
    /// Calls are guarded afterwards as before, but by what this process sees itself.
    pub fn close(&self) {
        if self.inner.closed.swap(true, SeqCst) {
            return;
        }
        #[cfg(feature = "watch")]
        self.inner.stop_watching();
        #[cfg(feature = "redis")]
        self.inner.leave_fleet();
        self.report(Report::All);
        self.inner.host.bell.ring();
        self.inner.listeners.close();
    }
}

impl Inner {
    /// The breaker of a service, if somebody declares it.
    fn make_declared(&self, service: &str) -> Option<Entry> {
        if let Some(entry) = self.breakers.get(service) {
            return Some(entry);
        }
        let numbers = read(&self.setup).numbers(service)?;
        // Nobody is undeclared again; what is said about it may have changed.
        let now = || read(&self.setup).numbers(service).unwrap_or(numbers);
        let made = self
            .breakers
            .make(Cow::Owned(service.to_owned()), &self.host, now);
        Some(self.made(made))
    }

    /// From now on it is measured how long calls take.
    #[cfg(feature = "metrics")]
    fn measure_durations(&self) {
        // First: a breaker that is made meanwhile sees it, or is among those below.
        self.host.measures.store(true, Relaxed);
        for breaker in self.breakers.freeze().breakers() {
            breaker.service().measure();
        }
    }

    fn needs_background(&self) -> bool {
        (self.publishes.load(Relaxed) && cfg!(feature = "metrics")) || !self.listeners.is_empty()
    }

    /// Tells the listeners of every transition and of numbers that they have not heard of, in
    /// order, then of what other policies have done, and says whose the transitions were.
    fn tell_transitions(&self) -> Vec<&'static Breaker> {
        let _in_order = self.telling.lock().unwrap_or_else(PoisonError::into_inner);
        let mut moved = Vec::new();
        for breaker in self.breakers.breakers() {
            if let Some(configured) = breaker.service().take_configured() {
                self.listeners.tell(&configured);
            }
            let events = breaker.service().take_events();
            if !events.is_empty() {
                moved.push(breaker);
            }
            for event in events {
                match event {
                    Event::Warning(warning) => self.warn(warning),
                    event => self.listeners.tell(&event),
                }
            }
        }
        for activity in self.stacks.take_activities() {
            self.listeners.tell(&Event::Activity(activity));
        }
        moved
    }

    /// What is written and cannot be in force.
    fn warn_unused(&self, unused: Vec<ConfigError>) {
        for error in unused {
            self.warn(Warning::Unused(error));
        }
    }

    /// Never silent: a warning that no listener hears goes to standard error.
    fn warn(&self, warning: Warning) {
        if self.listeners.is_empty() {
            if self.speaks {
                // Standard error may be closed, and no call may suffer from that.
                let _ = writeln!(io::stderr(), "breakerbox: {warning}");
            }
        } else {
            self.listeners.tell(&Event::Warning(warning));
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // The background thread sees that its registry is gone.
        self.host.bell.ring();
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("services", &self.inner.breakers.breakers())
            .finish_non_exhaustive()
    }
}

/// Nothing that panics runs under these locks, so a poisoned one is whole.
fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
