//! From a call site to its breaker.

use std::borrow::Cow;
use std::ptr;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;

use crate::breaker::Breaker;
use crate::declaration::Conflict;
use crate::declaration::Declaration;
use crate::event::Warning;
use crate::name;
use crate::registry::Inner;
use crate::registry::OVERFLOW;
use crate::registry::Registry;
use crate::registry::read;
use crate::registry::scope;
use crate::registry::table::Entry;
use crate::registry::table::Made;
use crate::registry::table::Numbers;
use crate::registry::table::Origin;
use crate::settings::ConfigError;
use crate::site::CallSite;
use crate::site::DynamicSite;

/// How much of a bad name a warning quotes, in characters.
const QUOTED: usize = 200;

impl CallSite {
    /// The breaker of this site in the registry in force. Two loads, once the site
    /// has been called and while nobody has entered a registry.
    #[doc(hidden)]
    #[inline]
    pub fn breaker(&'static self) -> &'static Breaker {
        match self.cached.get() {
            Some(breaker) if !scope::any() => breaker,
            _ => self.resolve(),
        }
    }

    #[cold]
    fn resolve(&'static self) -> &'static Breaker {
        if let Some(registry) = scope::current() {
            return registry.inner.of_site(self);
        }
        if let Some(breaker) = self.cached.get() {
            return breaker;
        }
        let breaker = Registry::global().inner.of_site(self);
        // Another thread may have been quicker, with the same breaker.
        let _ = self.cached.set(breaker);
        breaker
    }
}

impl DynamicSite {
    /// The breaker of `service` in the registry in force: a lookup by name.
    #[doc(hidden)]
    pub fn breaker(&'static self, service: &str) -> &'static Breaker {
        Registry::current().inner.of_name(self, service)
    }
}

impl Inner {
    fn of_site(&self, site: &'static CallSite) -> &'static Breaker {
        let service = site.service();
        let numbers = || {
            let setup = read(&self.setup);
            setup.numbers(service).unwrap_or_else(|| {
                let own = Some(&site.declaration);
                Numbers::new(setup.layers(service, own), own)
            })
        };
        let made = self
            .breakers
            .make(Cow::Borrowed(service), &self.host, numbers);
        self.with_numbers(self.made(made), &site.declaration)
            .breaker
    }

    fn of_name(&self, site: &'static DynamicSite, service: &str) -> &'static Breaker {
        let entry = self
            .breakers
            .get(service)
            .unwrap_or_else(|| self.of_new_name(site, service));
        let entry = self.with_numbers(entry, &site.declaration);
        if let Origin::Site(origin) = entry.origin
            && !ptr::eq(origin, &site.declaration)
            && origin.policy != site.declaration.policy
        {
            self.report_difference(site, entry.breaker, origin);
        }
        entry.breaker
    }

    /// The same breaker, with the numbers of this call site where it has none yet.
    fn with_numbers(&self, entry: Entry, declaration: &'static Declaration) -> Entry {
        match entry.origin {
            Origin::Unnamed => {
                let (entry, unused) = self.breakers.adopt(entry, declaration);
                self.warn_unused(unused);
                entry
            }
            Origin::Site(_) | Origin::Shared => entry,
        }
    }

    /// The breaker that was made, with a warning of what cannot be in force.
    pub(super) fn made(&self, made: Made) -> Entry {
        match made {
            Made::Known(entry) => entry,
            Made::New(entry, unused) => self.new_entry(entry, unused),
        }
    }

    fn new_entry(&self, entry: Entry, unused: Vec<ConfigError>) -> Entry {
        self.warn_unused(unused);
        #[cfg(feature = "redis")]
        self.join_fleet(entry.breaker);
        entry
    }

    #[cold]
    fn of_new_name(&self, site: &'static DynamicSite, given: &str) -> Entry {
        let service = name::nearest(given);
        if let Some(entry) = self.make_declared(&service) {
            return entry;
        }
        let limit = self.max_dynamic.load(Relaxed);
        let own = Some(&site.declaration);
        let numbers = || Numbers::new(read(&self.setup).layers(&service, own), own);
        let made = self
            .breakers
            .make_dynamic(&service, &self.host, numbers, limit);
        match made {
            None => self.overflow(site, limit),
            Some(Made::Known(entry)) => entry,
            Some(Made::New(entry, unused)) => {
                let entry = self.new_entry(entry, unused);
                if *service != *given {
                    self.warn(Warning::Name {
                        given: given.chars().take(QUOTED).collect(),
                        used: entry.breaker.name(),
                    });
                }
                entry
            }
        }
    }

    fn overflow(&self, site: &'static DynamicSite, limit: usize) -> Entry {
        let own = Some(&site.declaration);
        let numbers = || Numbers::shared(read(&self.setup).layers(OVERFLOW, own));
        let made = self
            .breakers
            .make(Cow::Borrowed(OVERFLOW), &self.host, numbers);
        if let Made::New(..) = made {
            self.warn(Warning::TooManyServices {
                limit,
                shared: OVERFLOW,
            });
        }
        self.made(made)
    }

    /// Two sites make up the same name with different numbers: the first to call
    /// made the breaker. Said once a site.
    #[cold]
    fn report_difference(
        &self,
        site: &'static DynamicSite,
        breaker: &'static Breaker,
        origin: &'static Declaration,
    ) {
        let is_first = self
            .reported
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(ptr::from_ref(site).addr());
        if is_first
            && let Some(conflict) = {
                let name = breaker.name();
                let above = breaker.hold().layers().above_attributes(name);
                Conflict::between(name, above, origin, &site.declaration)
            }
        {
            self.warn(Warning::Conflict(conflict));
        }
    }
}
