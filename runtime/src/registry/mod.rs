//! The registry: one breaker a service, made once and never replaced.

mod background;
mod builder;
mod linked;
mod listeners;
mod resolve;
mod scope;
mod table;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::HashSet;
use std::fmt;
use std::panic;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::Once;
use std::sync::OnceLock;
use std::sync::PoisonError;
use std::sync::RwLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::Ordering::SeqCst;

use crate::breaker::Breaker;
use crate::declaration::Conflict;
use crate::event::Event;
use crate::event::Warning;
use crate::host::Host;
use crate::policy::Policy;

use listeners::Listeners;
use table::Entry;
use table::Numbers;
use table::Table;

pub use builder::BuildError;
pub use builder::Problem;
pub use builder::RegistryBuilder;
pub use scope::Entered;
pub use scope::WithRegistry;
pub use scope::with_registry;

/// What one round of the background publishes.
#[derive(Clone, Copy)]
enum Round {
    Plain,
    /// With the descriptions of the metrics. Some recorders keep every description
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
    breakers: Table,
    /// Services that code declared, which comes before what attributes say.
    declared: RwLock<BTreeMap<String, Option<Policy>>>,
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
    started: Once,
    background: Once,
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
        GLOBAL.get_or_init(|| Self::new(true))
    }

    fn new(is_global: bool) -> Self {
        Self {
            inner: Arc::new(Inner {
                host: Arc::new(Host::new()),
                breakers: Table::default(),
                declared: RwLock::default(),
                max_dynamic: AtomicUsize::new(MAX_DYNAMIC_SERVICES),
                reported: Mutex::default(),
                listeners: Listeners::default(),
                telling: Mutex::default(),
                speaks: is_global,
                publishes: AtomicBool::new(is_global),
                closed: AtomicBool::new(false),
                started: Once::new(),
                background: Once::new(),
            }),
        }
    }

    /// Says, once, what is wrong with the set-up.
    fn start(&self) {
        self.inner.started.call_once(|| {
            for conflict in self.conflicts() {
                self.inner.warn(Warning::Conflict(conflict));
            }
        });
        if self.inner.needs_background() {
            self.inner.background.call_once(|| {
                if let Err(error) = background::spawn(&self.inner) {
                    self.inner.warn(Warning::NoThread(error.to_string()));
                }
            });
        }
    }

    /// The breaker of a service; `None` where nobody declares it.
    #[must_use]
    pub fn breaker(&self, service: &str) -> Option<&'static Breaker> {
        self.inner
            .breakers
            .get(service)
            .or_else(|| self.inner.make_declared(service.to_owned().into()))
            .map(|entry| entry.breaker)
    }

    /// The breakers of all services, by name.
    #[must_use]
    pub fn services(&self) -> Vec<&'static Breaker> {
        let in_code: Vec<_> = read(&self.inner.declared).keys().cloned().collect();
        let in_code = in_code.into_iter().map(Cow::Owned);
        for service in linked::services().map(Cow::Borrowed).chain(in_code) {
            self.inner.make_declared(service);
        }
        self.inner.breakers.breakers()
    }

    /// Every pair of call sites that declare one service with different numbers,
    /// unless code has declared it with its own.
    #[must_use]
    pub fn conflicts(&self) -> Vec<Conflict> {
        let declared = read(&self.inner.declared);
        linked::conflicts(|service| matches!(declared.get(service), Some(Some(_))))
    }

    /// Publishes the metrics of this registry now, from this thread, with their
    /// descriptions, and hands its transitions to the listeners.
    pub fn publish_metrics(&self) {
        #[cfg(feature = "metrics")]
        crate::metrics::describe();
        self.publish();
    }

    fn publish(&self) {
        self.inner.tell_transitions();
        #[cfg(feature = "metrics")]
        crate::metrics::publish(&self.services());
    }

    /// One round of the background. A recorder that panics ends nothing.
    fn report(&self, round: Round) {
        let reported = AssertUnwindSafe(|| match round {
            _ if !self.inner.publishes.load(Relaxed) => self.inner.tell_transitions(),
            Round::Plain => self.publish(),
            Round::Described => self.publish_metrics(),
        });
        let _ = panic::catch_unwind(reported);
    }

    /// Ends the background work of this registry: publishes what there is, and gives
    /// the listeners up to a second to hear the last events.
    ///
    /// Calls are guarded afterwards as before.
    pub fn close(&self) {
        if self.inner.closed.swap(true, SeqCst) {
            return;
        }
        self.report(Round::Plain);
        self.inner.host.bell.ring();
        self.inner.listeners.close();
    }
}

impl Inner {
    /// The breaker of a service, if somebody declares it.
    fn make_declared(&self, service: Cow<'static, str>) -> Option<Entry> {
        let numbers = self.declared(&service)?;
        let name = service.clone();
        let now = || self.declared(&name).unwrap_or(numbers);
        Some(self.breakers.make(service, &self.host, now))
    }

    /// The numbers of a declared service: those of code, else those of the first
    /// call site by file and line.
    fn declared(&self, service: &str) -> Option<Numbers> {
        let in_code = read(&self.declared).get(service).copied();
        match in_code {
            Some(Some(policy)) => Some(Numbers::of_code(policy)),
            Some(None) => Some(linked::numbers(service).unwrap_or(Numbers::of_code(Policy::new()))),
            None => linked::numbers(service),
        }
    }

    fn needs_background(&self) -> bool {
        (self.publishes.load(Relaxed) && cfg!(feature = "metrics")) || !self.listeners.is_empty()
    }

    fn tell_transitions(&self) {
        let _in_order = self.telling.lock().unwrap_or_else(PoisonError::into_inner);
        for breaker in self.breakers.breakers() {
            for transition in breaker.take_transitions() {
                self.listeners.tell(&Event::Transition(transition));
            }
        }
    }

    /// Never silent: a warning that no listener hears goes to standard error.
    fn warn(&self, warning: Warning) {
        if self.listeners.is_empty() {
            if self.speaks {
                eprintln!("breakerbox: {warning}");
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
