//! What the linker knows: every call site of the binary, by service.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::declaration::Conflict;
use crate::registry::table::Numbers;
use crate::site::CallSite;
use crate::site::call_sites;

/// The call sites of each service, by file and line: the first one's numbers are
/// in force.
static LINKED: LazyLock<BTreeMap<&'static str, Vec<&'static CallSite>>> = LazyLock::new(|| {
    let mut linked: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for site in call_sites() {
        linked.entry(site.service()).or_default().push(site);
    }
    linked
});

pub(super) fn services() -> impl Iterator<Item = &'static str> {
    LINKED.keys().copied()
}

/// The numbers in force for a service that some function is annotated with.
pub(super) fn numbers(service: &str) -> Option<Numbers> {
    let first = LINKED.get(service)?.first()?;
    Some(Numbers::of_site(&first.declaration))
}

/// Each call site whose numbers differ from those of the first, but for services
/// whose numbers are `settled` elsewhere.
pub(super) fn conflicts(settled: impl Fn(&str) -> bool) -> Vec<Conflict> {
    let contested = LINKED.iter().filter(|(service, _)| !settled(service));
    let conflicts = contested.flat_map(|(service, sites)| {
        sites
            .iter()
            .skip(1)
            .filter_map(|site| Conflict::between(service, &sites[0].declaration, &site.declaration))
    });
    conflicts.collect()
}
