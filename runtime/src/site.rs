//! The call sites that expansions leave behind, known at link time.

use once_cell::race::OnceRef;

use crate::breaker::Breaker;
use crate::declaration::Declaration;
use crate::declaration::Location;
use crate::name;
use crate::policy::Policy;

/// A guarded function whose service is known at compile time.
///
/// The attribute makes these; [`call_sites`](crate::call_sites) lists those of the
/// whole binary.
#[derive(Debug)]
pub struct CallSite {
    service: &'static str,
    pub(crate) declaration: Declaration,
    /// The breaker in the global registry, which is never replaced.
    pub(crate) cached: OnceRef<'static, Breaker>,
}

/// A guarded function that names its service anew on each call.
#[derive(Debug)]
pub struct DynamicSite {
    pub(crate) declaration: Declaration,
}

/// A call site as it is handed to the linker.
#[derive(Debug)]
pub struct Declared(pub &'static CallSite);

inventory::collect!(Declared);

impl CallSite {
    /// # Panics
    ///
    /// Where the name or the numbers are ones that no breaker can have. In a
    /// `static` that is a compile error.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(
        service: &'static str,
        operation: &'static str,
        policy: Policy,
        module: &'static str,
        file: &'static str,
        line: u32,
    ) -> Self {
        if let Err(error) = name::check(service) {
            panic!("{}", error.0);
        }
        Self {
            service,
            declaration: declaration(operation, policy, module, file, line),
            cached: OnceRef::new(),
        }
    }

    /// The service that the function calls.
    #[must_use]
    pub const fn service(&self) -> &'static str {
        self.service
    }

    /// The function, or what its attribute calls it.
    #[must_use]
    pub const fn operation(&self) -> &'static str {
        self.declaration.operation
    }

    /// The module of the function.
    #[must_use]
    pub const fn module(&self) -> &'static str {
        self.declaration.module
    }

    /// Where the attribute is written.
    #[must_use]
    pub const fn location(&self) -> Location {
        self.declaration.location
    }

    /// The numbers that the attribute asks for.
    pub const fn policy(&self) -> Policy {
        self.declaration.policy
    }
}

impl DynamicSite {
    /// # Panics
    ///
    /// As [`CallSite::new`].
    #[doc(hidden)]
    #[must_use]
    pub const fn new(
        operation: &'static str,
        policy: Policy,
        module: &'static str,
        file: &'static str,
        line: u32,
    ) -> Self {
        Self {
            declaration: declaration(operation, policy, module, file, line),
        }
    }
}

const fn declaration(
    operation: &'static str,
    policy: Policy,
    module: &'static str,
    file: &'static str,
    line: u32,
) -> Declaration {
    if let Err(error) = policy.check() {
        panic!("{}", error.message());
    }
    Declaration {
        operation,
        policy,
        module,
        location: Location::new(file, line),
    }
}

/// Every call site of the binary, by file and line.
pub fn call_sites() -> Vec<&'static CallSite> {
    let mut sites: Vec<_> = inventory::iter::<Declared>
        .into_iter()
        .map(|declared| declared.0)
        .collect();
    sites.sort_by_key(|site| site.declaration.location);
    sites
}
