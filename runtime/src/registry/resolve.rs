//! From a call site to its breaker.

use std::borrow::Cow;
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;

use crate::breaker::Breaker;
use crate::declaration::Conflict;
use crate::declaration::Declaration;
use crate::event::Warning;
use crate::name;
use crate::policy::Policy;
use crate::registry::Entry;
use crate::registry::Inner;
use crate::registry::Numbers;
use crate::registry::OVERFLOW;
use crate::registry::Registry;
use crate::registry::scope;
use crate::site::CallSite;
use crate::site::DynamicSite;

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
        let entry = self.get(service).unwrap_or_else(|| {
            let numbers = self
                .declared(service)
                .unwrap_or_else(|| Numbers::of_site(&site.declaration));
            self.create(Cow::Borrowed(service), numbers)
        });
        entry.breaker
    }

    fn of_name(&self, site: &'static DynamicSite, service: &str) -> &'static Breaker {
        let entry = self
            .get(service)
            .unwrap_or_else(|| self.of_new_name(site, service));
        if let Some(origin) = entry.origin
            && !ptr::eq(origin, &site.declaration)
            && !site.reported.load(Relaxed)
        {
            self.compare(site, entry.breaker, origin);
        }
        entry.breaker
    }

    #[cold]
    fn of_new_name(&self, site: &'static DynamicSite, given: &str) -> Entry {
        let service = name::nearest(given);
        if let Some(entry) = self.get(&service) {
            return entry;
        }
        let is_changed = *service != *given;
        let service = Cow::Owned(service.into_owned());
        if let Some(numbers) = self.declared(&service) {
            return self.create(service, numbers);
        }
        let limit = self.max_dynamic.load(Relaxed);
        let is_full = self
            .dynamic
            .fetch_update(Relaxed, Relaxed, |n| (n < limit).then_some(n + 1))
            .is_err();
        let numbers = Numbers::of_site(&site.declaration);
        if is_full {
            return self.overflow(numbers.policy, limit);
        }
        let entry = self.create(service, numbers);
        if is_changed {
            self.warn(Warning::Name {
                given: given.to_owned(),
                used: entry.breaker.name(),
            });
        }
        entry
    }

    fn overflow(&self, policy: Policy, limit: usize) -> Entry {
        if let Some(entry) = self.get(OVERFLOW) {
            return entry;
        }
        let entry = self.create(Cow::Borrowed(OVERFLOW), Numbers::of_code(policy));
        self.warn(Warning::TooManyServices {
            limit,
            shared: OVERFLOW,
        });
        entry
    }

    /// Two sites make up the same name, perhaps with different numbers: the first to
    /// call made the breaker. Said once a site.
    #[cold]
    fn compare(
        &self,
        site: &'static DynamicSite,
        breaker: &'static Breaker,
        origin: &'static Declaration,
    ) {
        if let Some(conflict) = Conflict::between(breaker.name(), origin, &site.declaration)
            && !site.reported.swap(true, Relaxed)
        {
            self.warn(Warning::Conflict(conflict));
        }
    }
}
