//! The stacks that expansions leave behind, known at link time.

use once_cell::race::OnceRef;

use crate::declaration::Location;
use crate::name;
use crate::policies::Limits;
use crate::policies::Policies;

/// A stack of policies whose service is known at compile time.
#[derive(Debug)]
pub struct PolicySite {
    service: &'static str,
    pub(crate) stack: Stack,
    /// What the service has in the global registry, which is never replaced.
    pub(crate) cached: OnceRef<'static, Policies>,
}

/// A stack of policies that names its service anew on each call.
#[derive(Debug)]
pub struct DynamicPolicySite {
    pub(crate) stack: Stack,
}

/// The stack of one function.
#[derive(Debug)]
pub(crate) struct Stack {
    pub(crate) limits: Limits,
    pub(crate) location: Location,
}

/// A stack as it is handed to the linker.
#[derive(Debug)]
pub struct DeclaredPolicies(pub &'static PolicySite);

inventory::collect!(DeclaredPolicies);

impl PolicySite {
    /// # Panics
    ///
    /// Where the name or the numbers are ones that no policy can have. In a `static` that is
    /// a compile error.
    #[must_use]
    #[track_caller]
    pub const fn new(service: &'static str, limits: Limits, file: &'static str, line: u32) -> Self {
        if let Err(error) = name::check(service) {
            panic!("{}", error.0);
        }
        Self {
            service,
            stack: Stack::new(limits, file, line),
            cached: OnceRef::new(),
        }
    }

    pub(crate) const fn service(&self) -> &'static str {
        self.service
    }
}

impl DynamicPolicySite {
    /// # Panics
    ///
    /// As [`PolicySite::new`].
    #[must_use]
    #[track_caller]
    pub const fn new(limits: Limits, file: &'static str, line: u32) -> Self {
        Self {
            stack: Stack::new(limits, file, line),
        }
    }
}

impl Stack {
    #[track_caller]
    const fn new(limits: Limits, file: &'static str, line: u32) -> Self {
        if let Some(message) = limits.wrong() {
            panic!("{}", message);
        }
        Self {
            limits,
            location: Location::new(file, line),
        }
    }
}

/// Every stack of the binary whose service is known at compile time, by file and line.
pub(crate) fn policy_sites() -> Vec<&'static PolicySite> {
    let declared = inventory::iter::<DeclaredPolicies>.into_iter();
    let mut sites: Vec<_> = declared.map(|declared| declared.0).collect();
    sites.sort_by_key(|site| site.stack.location);
    sites
}
