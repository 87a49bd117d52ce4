//! Setting up a registry.

use std::fmt;
use std::io;
#[cfg(feature = "config")]
use std::path::PathBuf;
#[cfg(feature = "config")]
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::Ordering::SeqCst;

use crate::clock::Clock;
#[cfg(feature = "config")]
use crate::config::Reading;
#[cfg(feature = "config")]
use crate::config::Sources;
use crate::event::Event;
use crate::event::Warning;
use crate::host::Host;
use crate::name;
use crate::policy::Policy;
use crate::registry::GLOBAL;
use crate::registry::INSTALLED;
use crate::registry::Registry;
use crate::registry::listeners::Listen;
use crate::registry::listeners::Listeners;
use crate::registry::setup;
use crate::registry::setup::Setup;
#[cfg(feature = "redis")]
use crate::registry::shared::Sharing;
use crate::registry::stacks;
use crate::settings::ConfigError;
use crate::settings::Problem;
use crate::settings::list;
#[cfg(feature = "redis")]
use crate::sharing::WhenStoreIsLost;
#[cfg(feature = "redis")]
use crate::store::AddressError;
#[cfg(feature = "redis")]
use crate::store::Redis;
#[cfg(feature = "redis")]
use crate::store::SharedStore;

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
    declared: Vec<(String, Policy)>,
    #[cfg(feature = "config")]
    sources: Sources,
    #[cfg(feature = "watch")]
    watches: bool,
    strict: bool,
    publishes: bool,
    #[cfg(feature = "metrics")]
    measures_durations: bool,
    max_dynamic: Option<usize>,
    listeners: Vec<Listen>,
    /// Only with `test-util` can one be given.
    clock: Option<Clock>,
    seed: Option<u64>,
    #[cfg(feature = "redis")]
    sharing: Sharing,
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
    /// What is said of the store is wrong.
    #[cfg(feature = "redis")]
    #[error("the store that circuits are to be shared through")]
    Store(#[source] AddressError),
    /// A thread could not be started: of a listener, or of the store.
    #[error("a thread could not be started")]
    Thread(#[source] io::Error),
}

/// A global registry that was set up.
struct Applied {
    registry: Registry,
    /// Whether it was started before.
    is_late: bool,
    /// What is written and cannot be in force.
    unused: Vec<ConfigError>,
}

impl RegistryBuilder {
    /// Declares a service that no attribute names, such as one whose name is made up
    /// at run time: it is listed, and has its metrics, before its first call. Its numbers
    /// are those of the first function that names it, and until then the defaults.
    pub fn declare(mut self, service: impl Into<String>) -> Self {
        self.declared.push((service.into(), Policy::new()));
        self
    }

    /// Declares a service with its numbers: each key that `policy` writes comes before what
    /// attributes, files and the environment say about it, and the others stay as those
    /// say.
    pub fn declare_with(mut self, service: impl Into<String>, policy: Policy) -> Self {
        self.declared.push((service.into(), policy));
        self
    }

    /// Reads a TOML file, which comes before what attributes say. Of several, the last has the
    /// last word.
    ///
    /// ```toml
    /// # For every service, also where its attribute says something else.
    /// [defaults]
    /// cooldown = "30s"
    ///
    /// [services.stripe]
    /// window = "1m"          # or a number of calls: window = 100
    /// failure_rate = "50%"   # or 0.5
    /// min_calls = 50
    /// on_cancel = "after 2s" # or "ignore", or "failure"
    /// ```
    ///
    /// The keys are those of [`Policy`], and durations are written as in the attribute. Keys of
    /// `[defaults]` that would gate nothing in some service, such as `min_calls` where that has
    /// no rate, are left out there.
    ///
    /// The file is read when the registry is built, and by [`Registry::reload`]. It is at most
    /// 1 MiB long. All that is wrong in it is told at once, each with its line. A service that
    /// nobody declares is a warning, since a file may be for several programs, but an error
    /// where its name is nearly a declared one: [`declare`](Self::declare) names that are made
    /// up at run time.
    #[cfg(feature = "config")]
    pub fn config_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.sources.file(path.into());
        self
    }

    /// The same with the text of a file.
    ///
    /// ```
    /// # fn main() -> Result<(), breakerbox::BuildError> {
    /// let registry = breakerbox::Registry::builder()
    ///     .declare("stripe")
    ///     .config_toml("[services.stripe]\nthreshold = 3\n")
    ///     .build()?;
    /// let stripe = registry.breaker("stripe").unwrap();
    /// assert_eq!(stripe.policy().get_threshold(), Some(3));
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "config")]
    pub fn config_toml(mut self, text: impl Into<String>) -> Self {
        self.sources.text(text.into());
        self
    }

    /// Reads variables of the environment, which come before files: with the prefix
    /// `BREAKERBOX`, `BREAKERBOX_STRIPE_THRESHOLD=3` is `threshold = 3` for the service
    /// `stripe`, and `BREAKERBOX_DEFAULTS_COOLDOWN=30s` is for all. Without this, the
    /// environment is not read.
    ///
    /// Upper and lower case are the same. In the name of a service, each byte that is no letter
    /// or digit of ASCII is written as `_`. Where a variable could mean several services, it
    /// means the one with the longest name; where two services are written alike, it is an
    /// error. So is a variable with the prefix that means nothing.
    #[cfg(feature = "config")]
    pub fn env_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.sources.prefix(prefix.into());
        self
    }

    /// Reads the configuration again soon after one of its files has changed, as
    /// [`Registry::reload`] does: it looks once a second, on a thread of its own, and also sees
    /// files that are replaced or reached through links.
    ///
    /// A new configuration is told as [`Event::Reloaded`]. One that is wrong is told as
    /// [`Warning::Configuration`], and everything stays as it was.
    #[cfg(feature = "watch")]
    pub fn watch(mut self) -> Self {
        self.watches = true;
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

    /// Measures how long calls take, from leave to outcome, and publishes it as the histogram
    /// `breakerbox_call_duration_seconds{service,outcome}`, in seconds. A call that was
    /// rejected is not in it; one that had begun before the registry was installed may be
    /// missing. The calls of all keys of a service are in one.
    ///
    /// It is off unless asked for: each call then reads an exact clock twice, and each thread
    /// that calls keeps 2 KiB for each service and outcome.
    ///
    /// Durations are counted where calls end, in ranges of a quarter of a doubling, and go out
    /// with the other metrics: the calls of one range between two publishes at their mean. So
    /// the sum is exact, and so is a call that was alone in its range; others, from 1 µs to an
    /// hour, are off by less than a quarter of their duration. Where its borders lie, or which
    /// quantiles there are, is for the recorder to say.
    ///
    /// Counts reach every recorder in full, whenever it comes; a duration goes to the one that
    /// is there when it is published: install the recorder first.
    #[cfg(feature = "metrics")]
    pub fn call_durations(mut self) -> Self {
        self.measures_durations = true;
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

    /// Shares all circuits with the other processes that have the same Redis: short for
    /// [`store`](Self::store) with [`Redis::new`].
    ///
    /// ```no_run
    /// # fn main() -> Result<(), breakerbox::BuildError> {
    /// breakerbox::Registry::builder()
    ///     .redis("redis://cache.internal")
    ///     .install()?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "redis")]
    pub fn redis(self, url: impl Into<String>) -> Self {
        self.store(Redis::new(url))
    }

    /// Shares all circuits with the other processes that have the same store: what one of
    /// them has seen protects all, and all together probe no more than one may.
    ///
    /// Calls never wait for the store, but those that would be rejected, when the cooldown is
    /// over: they wait up to `probe_wait` for leave to probe. It needs no runtime of the
    /// caller's; there is a thread for it.
    #[cfg(feature = "redis")]
    pub fn store(mut self, store: impl Into<SharedStore>) -> Self {
        self.sharing.store = Some(store.into());
        self
    }

    /// What becomes of calls while the store cannot be reached. Default:
    /// [`WhenStoreIsLost::Local`].
    #[cfg(feature = "redis")]
    pub fn when_store_is_lost(mut self, policy: WhenStoreIsLost) -> Self {
        self.sharing.when_lost = policy;
        self
    }

    /// Builds a private registry, for a test.
    ///
    /// # Errors
    ///
    /// [`BuildError`] where something that was asked for is wrong, all of it at once.
    pub fn build(mut self) -> Result<Registry, BuildError> {
        let host = self.clock.take().map_or_else(Host::new, Host::with_clock);
        let registry = Registry::new(false, host);
        let unused = self.apply(&registry)?;
        registry.start();
        registry.inner.warn_unused(unused);
        Ok(registry)
    }

    /// Sets up the global registry. It may come before or after the first guarded
    /// call: breakers that exist keep their state and their counts.
    ///
    /// # Errors
    ///
    /// [`BuildError`] where something that was asked for is wrong, all of it at once, or where
    /// it was installed before. Nothing is changed then.
    pub fn install(self) -> Result<Registry, BuildError> {
        if INSTALLED.swap(true, SeqCst) {
            return Err(BuildError::AlreadyInstalled);
        }
        let Applied {
            registry,
            is_late,
            unused,
        } = self
            .apply_to_global()
            .inspect_err(|_| INSTALLED.store(false, SeqCst))?;
        registry.start();
        registry.inner.warn_unused(unused);
        if is_late {
            for breaker in registry.inner.breakers.breakers() {
                breaker.service().retell_configured();
            }
            registry.start_background();
            registry.inner.host.bell.ring();
            // The first call came earlier and has told others; these have not heard.
            for conflict in registry.conflicts() {
                let warning = Event::Warning(Warning::Conflict(conflict));
                registry.inner.listeners.tell(&warning);
            }
            for conflict in stacks::limit_conflicts() {
                let warning = Event::Warning(Warning::LimitConflict(conflict));
                registry.inner.listeners.tell(&warning);
            }
        }
        Ok(registry)
    }

    /// The global registry, set up.
    fn apply_to_global(mut self) -> Result<Applied, BuildError> {
        match self.clock.take() {
            None => {
                let registry = Registry::global_unstarted().clone();
                let is_late = registry.inner.started.load(SeqCst);
                let unused = self.apply(&registry)?;
                Ok(Applied {
                    registry,
                    is_late,
                    unused,
                })
            }
            // Set up whole, it becomes the global one, or else nobody has seen it.
            Some(clock) => {
                let registry = Registry::new(true, Host::with_clock(clock));
                let unused = self.apply(&registry)?;
                match GLOBAL.set(registry.clone()) {
                    Ok(()) => Ok(Applied {
                        registry,
                        is_late: false,
                        unused,
                    }),
                    Err(_) => Err(BuildError::ClockRuns),
                }
            }
        }
    }

    /// Puts all of it in force, or nothing. Gives what is written and cannot be in force.
    fn apply(mut self, registry: &Registry) -> Result<Vec<ConfigError>, BuildError> {
        #[cfg(feature = "redis")]
        let store = match self.sharing.store.take() {
            Some(store) => Some(store.open(self.seed).map_err(BuildError::Store)?),
            None => None,
        };
        let inner = &registry.inner;
        let mut problems = Vec::new();
        problems.extend(self.wrong_names());
        let mut unused = Vec::new();
        let said: Vec<_> = self.declared.iter().map(|(name, _)| name.clone()).collect();
        let mut setup = Setup {
            strict: self.strict,
            ..Setup::default()
        };
        for (service, policy) in std::mem::take(&mut self.declared) {
            let known = setup.declared.entry(service).or_default();
            // Of several declarations of one service, the last has the last word.
            *known = policy.over(*known);
        }
        #[cfg(feature = "config")]
        let mut reading = Reading::new(std::mem::take(&mut self.sources));
        #[cfg(feature = "config")]
        {
            let loaded = reading.load();
            let read = reading.read(loaded, &inner.known(&setup));
            setup.configuration = Arc::new(read.configuration);
            problems.extend(read.problems.into_iter().map(Problem::Configuration));
            unused.extend(read.unused);
        }
        #[cfg(feature = "watch")]
        if self.watches && !reading.has_files() {
            problems.push(Problem::NothingToWatch);
        }

        let listeners = Listeners::start_all(self.listeners).map_err(BuildError::Thread)?;
        let left_out = inner.set_up(setup, problems, |_, _, _| {});
        unused.extend(left_out.map_err(|mut problems| {
            setup::sort(&mut problems, &said);
            BuildError::Problems(problems)
        })?);
        inner.listeners.add_all(listeners);
        if let Some(services) = self.max_dynamic {
            inner.max_dynamic.store(services, Relaxed);
        }
        if let Some(seed) = self.seed {
            inner.host.set_seed(seed);
        }
        #[cfg(feature = "redis")]
        if let Some(store) = store {
            let shared = registry.share(store, self.sharing.when_lost);
            shared.map_err(BuildError::Thread)?;
        }
        if self.publishes {
            inner.publishes.store(true, Relaxed);
        }
        #[cfg(feature = "metrics")]
        if self.measures_durations {
            inner.measure_durations();
        }
        #[cfg(feature = "config")]
        {
            unused = reading.not_told_yet(unused);
            *inner.reading() = reading;
        }
        #[cfg(feature = "watch")]
        if self.watches {
            inner.watch();
        }
        Ok(unused)
    }

    fn wrong_names(&self) -> Vec<Problem> {
        let names = self.declared.iter().map(|(name, _)| name);
        let wrong = names.filter_map(|name| {
            let source = name::check(name).err()?;
            Some(Problem::Name {
                name: name.clone(),
                source,
            })
        });
        wrong.collect()
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
