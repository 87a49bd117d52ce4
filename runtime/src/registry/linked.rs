//! What the linker knows: every call site of the binary, by service.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::declaration::Conflict;
use crate::declaration::Declaration;
use crate::policy::Policy;
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

/// What the function says whose numbers are in force for a service.
pub(super) fn first(service: &str) -> Option<&'static Declaration> {
    let first = LINKED.get(service)?.first()?;
    Some(&first.declaration)
}

/// Each call site whose numbers differ from those of the first, in keys that are not settled
/// by what is written `above` attributes.
pub(super) fn conflicts(above: impl Fn(&str) -> Policy) -> Vec<Conflict> {
    let contested = LINKED.iter().filter(|(_, sites)| sites.len() > 1);
    let conflicts = contested.flat_map(|(service, sites)| {
        let above = above(service);
        sites.iter().skip(1).filter_map(move |site| {
            Conflict::between(service, above, &sites[0].declaration, &site.declaration)
        })
    });
    conflicts.collect()
}
