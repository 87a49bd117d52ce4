//! Setting up a registry.

use std::fmt;
use std::io;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::Ordering::SeqCst;

use crate::clock::Clock;
use crate::declaration::Conflict;
use crate::event::Event;
use crate::event::Warning;
use crate::host::Host;
use crate::name;
use crate::name::NameError;
use crate::policy::Policy;
use crate::policy::PolicyError;
use crate::registry::GLOBAL;
use crate::registry::INSTALLED;
use crate::registry::Registry;
use crate::registry::linked;
use crate::registry::listeners::Listen;
use crate::registry::write;

/// Sets up a registry: the global one with [`install`](Self::install), a private
/// one with [`build`](Self::build).
///
/// ```no_run
/// # fn main() -> Result<(), breakerbox::BuildError> {
/// breakerbox::Registry::builder()
///     .strict()
///     .on_event(|event| println!("{event:?}"))
///     .install()?;
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
#[must_use = "a builder does nothing until it is built or installed"]
pub struct RegistryBuilder {
    declared: Vec<(String, Option<Policy>)>,
    strict: bool,
    publishes: bool,
    max_dynamic: Option<usize>,
    listeners: Vec<Listen>,
    /// Only with `test-util` can one be given.
    clock: Option<Clock>,
    seed: Option<u64>,
}

/// A registry that cannot be set up as asked. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The global registry was installed before.
    #[error("the registry is already installed: `install` is for the start of `main`, once")]
    AlreadyInstalled,
    /// A clock was given to the global registry, whose own already runs: it begins with the
    /// first guarded call, or when somebody asks for the registry or one of its breakers.
    #[error("the clock of the registry already runs: give it one before the first guarded call")]
    ClockRuns,
    /// What was asked for is wrong; all of it is listed.
    #[error("{}", list(.0))]
    Problems(Vec<Problem>),
    /// The thread of a listener could not be started.
    #[error("the thread of a listener could not be started")]
    Thread(#[source] io::Error),
}

/// One thing that is wrong with the set-up of a registry.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// No service can have this name.
    #[error("service {name:?}: {source}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        source: NameError,
    },
    /// No breaker can work with these numbers.
    #[error("service {service:?}: {source}")]
    Policy {
        /// The service.
        service: String,
        /// What is wrong with its numbers.
        source: PolicyError,
    },
    /// Two call sites contradict each other, and the registry is strict.
    #[error(transparent)]
    Conflict(Conflict),
}

impl RegistryBuilder {
    /// Declares a service that no attribute names, such as one whose name is made up
    /// at run time: it is listed, and has its metrics, before its first call. Its numbers
    /// are those of the first function that names it, and until then the defaults.
    pub fn declare(mut self, service: impl Into<String>) -> Self {
        self.declared.push((service.into(), None));
        self
    }

    /// Declares a service with its numbers, which come before those of attributes.
    pub fn declare_with(mut self, service: impl Into<String>, policy: Policy) -> Self {
        self.declared.push((service.into(), Some(policy)));
        self
    }

    /// Makes it an error that two functions declare one service with different
    /// numbers. Without it, they are reported and the first by file and line wins.
    ///
    /// It knows the functions whose service is known at compile time. Those that make up
    /// one name at run time are reported as they are called, and the first to call has
    /// its numbers in force.
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// Calls `listen` with every [`Event`], on a thread of its own: it may block, and
    /// it may panic. Events that come while it is 1,024 behind are lost to it.
    ///
    /// As soon as there is a listener, warnings (contradicting numbers, bad names) go to
    /// the listeners and no longer to standard error: handle [`Event::Warning`], or print
    /// it.
    pub fn on_event(mut self, listen: impl Fn(&Event) + Send + 'static) -> Self {
        self.listeners.push(Box::new(listen));
        self
    }

    /// How many services may be named at run time (`service = expression`); all
    /// names beyond share one breaker. Default 1,000.
    pub fn max_dynamic_services(mut self, services: usize) -> Self {
        self.max_dynamic = Some(services);
        self
    }

    /// Lets a private registry publish its metrics in the background, too. The
    /// global one always does.
    pub fn publishes_metrics(mut self) -> Self {
        self.publishes = true;
        self
    }

    /// Gives the registry its clock. Without it, it has [`Clock::tokio`].
    ///
    /// The global registry takes one only while it does not exist yet: its breakers cannot
    /// change to another time.
    #[cfg(feature = "test-util")]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Makes jitter repeatable, for tests. Without it, each registry draws its own. A
    /// breaker that is made before the global registry is installed keeps what it drew.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Builds a private registry, for a test.
    ///
    /// # Errors
    ///
    /// [`BuildError`] where something that was asked for is wrong.
    pub fn build(mut self) -> Result<Registry, BuildError> {
        self.check()?;
        let host = self.clock.take().map_or_else(Host::new, Host::with_clock);
        let registry = Registry::new(false, host);
        self.apply(&registry)?;
        registry.start();
        Ok(registry)
    }

    /// Sets up the global registry. It may come before or after the first guarded
    /// call: breakers that exist keep their state and their counts.
    ///
    /// # Errors
    ///
    /// [`BuildError`] where something that was asked for is wrong, or where it was
    /// installed before. Nothing is changed then.
    pub fn install(self) -> Result<Registry, BuildError> {
        self.check()?;
        if INSTALLED.swap(true, SeqCst) {
            return Err(BuildError::AlreadyInstalled);
        }
        let (registry, is_late) = self
            .apply_to_global()
            .inspect_err(|_| INSTALLED.store(false, SeqCst))?;
        registry.start();
        if is_late {
            registry.start_background();
            // The first call came earlier and has told others; these have not heard.
            for conflict in registry.conflicts() {
                let warning = Event::Warning(Warning::Conflict(conflict));
                registry.inner.listeners.tell(&warning);
            }
        }
        Ok(registry)
    }

    fn check(&self) -> Result<(), BuildError> {
        let mut problems = Vec::new();
        for (service, policy) in &self.declared {
            if let Err(source) = name::check(service) {
                problems.push(Problem::Name {
                    name: service.clone(),
                    source,
                });
            }
            if let Some(Err(source)) = policy.as_ref().map(Policy::check) {
                problems.push(Problem::Policy {
                    service: service.clone(),
                    source,
                });
            }
        }
        if self.strict {
            let settled = |service: &str| {
                let in_code = self.declared.iter().filter(|(name, _)| name == service);
                in_code.filter_map(|(_, policy)| *policy).next().is_some()
            };
            let conflicts = linked::conflicts(settled);
            problems.extend(conflicts.into_iter().map(Problem::Conflict));
        }
        if problems.is_empty() {
            Ok(())
        } else {
            Err(BuildError::Problems(problems))
        }
    }

    /// The global registry, set up, and whether it was started before.
    fn apply_to_global(mut self) -> Result<(Registry, bool), BuildError> {
        match self.clock.take() {
            None => {
                let registry = Registry::global_unstarted().clone();
                let is_late = registry.inner.started.load(SeqCst);
                self.apply(&registry)?;
                Ok((registry, is_late))
            }
            // Set up whole, it becomes the global one, or else nobody has seen it.
            Some(clock) => {
                let registry = Registry::new(true, Host::with_clock(clock));
                self.apply(&registry)?;
                match GLOBAL.set(registry.clone()) {
                    Ok(()) => Ok((registry, false)),
                    Err(_) => Err(BuildError::ClockRuns),
                }
            }
        }
    }

    fn apply(self, registry: &Registry) -> Result<(), BuildError> {
        let inner = &registry.inner;
        inner
            .listeners
            .add_all(self.listeners)
            .map_err(BuildError::Thread)?;
        if let Some(services) = self.max_dynamic {
            inner.max_dynamic.store(services, Relaxed);
        }
        if let Some(seed) = self.seed {
            inner.host.set_seed(seed);
        }
        if self.publishes {
            inner.publishes.store(true, Relaxed);
        }
        for (service, policy) in self.declared {
            let mut declared = write(&inner.declared);
            let known = declared.entry(service.clone()).or_default();
            // Declared once more by name alone, a service keeps its numbers.
            *known = policy.or(*known);
            drop(declared);
            // A breaker that a call made earlier keeps its state.
            if let Some(policy) = policy {
                inner.breakers.redeclare(&service, policy);
            }
        }
        Ok(())
    }
}

impl fmt::Debug for RegistryBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegistryBuilder")
            .field("declared", &self.declared)
            .field("strict", &self.strict)
            .field("listeners", &self.listeners.len())
            .finish_non_exhaustive()
    }
}

fn list(problems: &[Problem]) -> String {
    let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}
