//! From the stack of a function to what its service has beside the breaker.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::ptr;
use std::sync::Arc;
use std::sync::LazyLock;
use std::sync::OnceLock;
use std::sync::PoisonError;
use std::sync::RwLock;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use once_cell::race::OnceRef;

use crate::event::Activity;
use crate::event::Warning;
use crate::host::Host;
use crate::limit_conflict::LimitConflict;
use crate::name;
use crate::policies::DynamicPolicySite;
use crate::policies::Policies;
use crate::policies::PolicySite;
use crate::policies::conflicts;
use crate::policies::policy_sites;
use crate::registry::Inner;
use crate::registry::OVERFLOW;
use crate::registry::Registry;
use crate::registry::read;
use crate::registry::scope;
use crate::registry::write;
use crate::timeout::Timeout;

/// The stacks of each service that are known at link time, by file and line.
static LINKED: LazyLock<BTreeMap<&'static str, Vec<&'static PolicySite>>> = LazyLock::new(|| {
    let mut linked: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for site in policy_sites() {
        linked.entry(site.service()).or_default().push(site);
    }
    linked
});

/// In the global registry, of functions that name no service.
static UNNAMED: OnceRef<'static, Policies> = OnceRef::new();

/// What came of making one.
struct Made {
    policies: &'static Policies,
    is_new: bool,
}

/// What services have beside their breakers: made once, never replaced.
#[derive(Default)]
pub(super) struct Stacks {
    rows: RwLock<HashMap<&'static str, &'static Policies>>,
    /// Of the functions that name no service.
    unnamed: OnceLock<&'static Policies>,
}

/// What the service has beside its breaker, in the registry in force: the entered one, else
/// the global one. It is made where nobody has asked before.
///
/// Names made up at run time are limited as those of breakers: all beyond
/// [`max_dynamic_services`](crate::RegistryBuilder::max_dynamic_services) share one.
#[must_use]
pub fn policies(service: &str) -> &'static Policies {
    Registry::current().policies(service)
}

/// Those of functions that name no service: nothing is counted.
#[inline]
pub(crate) fn unnamed() -> &'static Policies {
    match UNNAMED.get() {
        Some(policies) if !scope::any() => policies,
        _ => resolve_unnamed(),
    }
}

#[cold]
fn resolve_unnamed() -> &'static Policies {
    if let Some(registry) = scope::current() {
        return registry.inner.unnamed();
    }
    let policies = Registry::global().inner.unnamed();
    // Another thread may have been quicker, with the same.
    let _ = UNNAMED.set(policies);
    policies
}

/// Gives `body` up where it has not ended `limit` after it was first polled. Nobody counts it:
/// [`Policies::timeout`] counts for a service.
///
/// What it awaits knows how much is left: [`deadline`](crate::deadline()). [`TimedOut`] says
/// that the call may have been carried out.
///
/// # Cancel safety
///
/// Dropping the future drops the body.
///
/// [`TimedOut`]: crate::TimedOut
pub fn timeout<F: Future>(limit: Duration, body: F) -> Timeout<F> {
    unnamed().timeout(limit, body)
}

impl PolicySite {
    /// What the service of this stack has in the registry in force.
    #[inline]
    pub fn policies(&'static self) -> &'static Policies {
        match self.cached.get() {
            Some(policies) if !scope::any() => policies,
            _ => self.resolve(),
        }
    }

    #[cold]
    fn resolve(&'static self) -> &'static Policies {
        if let Some(registry) = scope::current() {
            let policies = registry.policies(self.service());
            policies.declare(&self.stack);
            return policies;
        }
        if let Some(policies) = self.cached.get() {
            return policies;
        }
        let policies = Registry::global().policies(self.service());
        // The linker may not have told of it: not everywhere does code run before `main`.
        policies.declare(&self.stack);
        // Another thread may have been quicker, with the same.
        let _ = self.cached.set(policies);
        policies
    }
}

impl DynamicPolicySite {
    /// What `service` has in the registry in force: a lookup by name. Where no stack before
    /// has said what this one says, its numbers are in force.
    pub fn policies(&'static self, service: &str) -> &'static Policies {
        let registry = Registry::current();
        let policies = registry.policies(service);
        policies.declare(&self.stack);
        if policies.differs_from(&self.stack) {
            registry.inner.report_limits(self, policies);
        }
        policies
    }
}

impl Registry {
    /// What a service has beside its breaker. It is made where nobody has asked before; see
    /// [`policies`](crate::policies()).
    #[must_use]
    pub fn policies(&self, service: &str) -> &'static Policies {
        self.inner
            .stacks
            .get(service)
            .unwrap_or_else(|| self.inner.make_policies(service))
    }
}

impl Inner {
    #[cold]
    fn make_policies(&self, given: &str) -> &'static Policies {
        let service = name::nearest(given);
        let limit = self.max_dynamic.load(Relaxed);
        let Made { policies, is_new } = self.stacks.make(&service, &self.host, limit);
        if is_new && policies.service() == Some(OVERFLOW) {
            self.warn(Warning::TooManyServices {
                limit,
                shared: OVERFLOW,
            });
        }
        policies
    }

    /// Two functions make up the same name with different numbers: the first to call made the
    /// limit. Said once a function.
    #[cold]
    fn report_limits(&self, site: &'static DynamicPolicySite, policies: &Policies) {
        let address = ptr::from_ref(site).addr();
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if !reported.insert(address) {
            return;
        }
        drop(reported);
        for conflict in policies.conflicts_with(&site.stack) {
            self.warn(Warning::LimitConflict(conflict));
        }
    }

    fn unnamed(&self) -> &'static Policies {
        self.stacks.unnamed.get_or_init(|| {
            let policies = Policies::new(None, Arc::clone(&self.host));
            Box::leak(Box::new(policies))
        })
    }

    /// What all services have that somebody declares or has called.
    #[cfg(feature = "metrics")]
    pub(super) fn all_policies(&self) -> Vec<&'static Policies> {
        for service in LINKED.keys() {
            if self.stacks.get(service).is_none() {
                self.make_policies(service);
            }
        }
        read(&self.stacks.rows).values().copied().collect()
    }
}

impl Stacks {
    /// What policies have done since the last call.
    pub(super) fn take_activities(&self) -> Vec<Activity> {
        let rows = read(&self.rows);
        rows.values()
            .flat_map(|row| row.take_activities())
            .collect()
    }

    fn get(&self, service: &str) -> Option<&'static Policies> {
        read(&self.rows).get(service).copied()
    }

    fn make(&self, service: &str, host: &Arc<Host>, limit: usize) -> Made {
        let mut rows = write(&self.rows);
        let linked = LINKED.get_key_value(service);
        let is_known = linked.is_some() || rows.contains_key(service);
        // Those that the linker knows do not count.
        let service = if is_known || rows.len() < limit + LINKED.len() {
            service
        } else {
            OVERFLOW
        };
        if let Some(policies) = rows.get(service) {
            return Made {
                policies,
                is_new: false,
            };
        }
        let name: &'static str = match linked {
            Some((name, _)) => name,
            None => Box::leak(service.to_owned().into_boxed_str()),
        };
        let policies: &'static Policies =
            Box::leak(Box::new(Policies::new(Some(name), Arc::clone(host))));
        for site in linked.map(|(_, sites)| sites).into_iter().flatten() {
            policies.declare(&site.stack);
        }
        rows.insert(name, policies);
        Made {
            policies,
            is_new: true,
        }
    }
}

/// Where the stacks that are known at link time contradict each other.
pub(super) fn limit_conflicts() -> Vec<LimitConflict> {
    let services = LINKED.iter();
    let conflicts = services
        .flat_map(|(service, sites)| conflicts(service, sites.iter().map(|site| &site.stack)));
    conflicts.collect()
}
