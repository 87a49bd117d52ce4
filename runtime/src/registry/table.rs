//! The breakers that exist, by service: made once, never replaced.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::RwLock;
use std::sync::RwLockReadGuard;

use crate::breaker::Breaker;
use crate::declaration::Declaration;
use crate::host::Host;
use crate::registry::read;
use crate::registry::write;
use crate::settings::ConfigError;
use crate::settings::Layers;

#[derive(Default)]
pub(super) struct Table {
    rows: RwLock<Rows>,
}

#[derive(Default)]
pub(super) struct Rows {
    entries: HashMap<&'static str, Entry>,
    /// How many of them were named at run time.
    dynamic: usize,
}

/// A breaker, and which function named it first.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) breaker: &'static Breaker,
    pub(super) origin: Origin,
}

/// Which function named a service first, and so brought its numbers.
#[derive(Clone, Copy)]
pub(super) enum Origin {
    /// None yet: the service was declared by its name.
    Unnamed,
    Site(&'static Declaration),
    /// Many, whose services have no breakers of their own.
    Shared,
}

/// What came of making a breaker: a new one, with what is written about it and cannot be in
/// force.
pub(super) enum Made {
    New(Entry, Vec<ConfigError>),
    Known(Entry),
}

/// The numbers that a new breaker begins with, and where they are written.
#[derive(Clone)]
pub(super) struct Numbers {
    layers: Layers,
    origin: Origin,
}

impl Numbers {
    /// Those of a service that `site` names, or as yet nobody.
    pub(super) fn new(layers: Layers, site: Option<&'static Declaration>) -> Self {
        let origin = site.map_or(Origin::Unnamed, Origin::Site);
        Self { layers, origin }
    }

    pub(super) const fn shared(layers: Layers) -> Self {
        Self {
            layers,
            origin: Origin::Shared,
        }
    }
}

impl Table {
    pub(super) fn get(&self, service: &str) -> Option<Entry> {
        read(&self.rows).entries.get(service).copied()
    }

    /// The breakers, by name.
    pub(super) fn breakers(&self) -> Vec<&'static Breaker> {
        let mut breakers: Vec<_> = read(&self.rows).breakers().collect();
        breakers.sort_by_key(|breaker| breaker.name());
        breakers
    }

    /// Lets no breaker be made until the answer is dropped.
    pub(super) fn freeze(&self) -> RwLockReadGuard<'_, Rows> {
        read(&self.rows)
    }

    /// The breaker of a service: the one there is, else a new one with `numbers`,
    /// which are asked for under the lock, so that none set meanwhile is missed.
    pub(super) fn make(
        &self,
        service: Cow<'static, str>,
        host: &Arc<Host>,
        numbers: impl FnOnce() -> Numbers,
    ) -> Made {
        if let Some(entry) = self.get(&service) {
            return Made::Known(entry);
        }
        let mut rows = write(&self.rows);
        match rows.entries.get(&*service) {
            Some(entry) => Made::Known(*entry),
            None => rows.insert(service, host, numbers()),
        }
    }

    /// The same for a service named at run time, of which there are at most `limit`.
    pub(super) fn make_dynamic(
        &self,
        service: &str,
        host: &Arc<Host>,
        numbers: impl FnOnce() -> Numbers,
        limit: usize,
    ) -> Option<Made> {
        {
            let rows = read(&self.rows);
            if let Some(entry) = rows.entries.get(service) {
                return Some(Made::Known(*entry));
            }
            if rows.dynamic >= limit {
                return None;
            }
        }
        let mut rows = write(&self.rows);
        if let Some(entry) = rows.entries.get(service) {
            return Some(Made::Known(*entry));
        }
        if rows.dynamic >= limit {
            return None;
        }
        rows.dynamic += 1;
        let service = Cow::Owned(service.to_owned());
        Some(rows.insert(service, host, numbers()))
    }

    /// Gives a breaker that was declared by its name the numbers of the first call site that
    /// names it, below those that it has. The lock makes one of several the first.
    #[cold]
    pub(super) fn adopt(
        &self,
        entry: Entry,
        declaration: &'static Declaration,
    ) -> (Entry, Vec<ConfigError>) {
        let mut unused = Vec::new();
        match write(&self.rows).entries.get_mut(entry.breaker.name()) {
            None => (entry, unused),
            Some(known) => {
                if matches!(known.origin, Origin::Unnamed) {
                    let held = known.breaker.hold();
                    let mut layers = held.layers().clone();
                    layers.attribute = Some(declaration);
                    unused = layers.leave_out(known.breaker.name());
                    held.put(layers);
                    known.origin = Origin::Site(declaration);
                }
                (*known, unused)
            }
        }
    }
}

impl Rows {
    pub(super) fn breakers(&self) -> impl Iterator<Item = &'static Breaker> {
        self.entries.values().map(|entry| entry.breaker)
    }

    fn insert(&mut self, service: Cow<'static, str>, host: &Arc<Host>, numbers: Numbers) -> Made {
        let name: &'static str = match service {
            Cow::Borrowed(name) => name,
            Cow::Owned(name) => Box::leak(name.into_boxed_str()),
        };
        let Numbers { mut layers, origin } = numbers;
        let unused = layers.leave_out(name);
        let breaker = Breaker::new(name, layers, Arc::clone(host));
        let entry = Entry {
            breaker: Box::leak(Box::new(breaker)),
            origin,
        };
        self.entries.insert(name, entry);
        // Its numbers are to be told.
        host.bell.ring();
        Made::New(entry, unused)
    }
}

#[cfg(test)]
mod tests {
    use crate::declaration::Location;
    use crate::host::Host;
    use crate::policy::Policy;

    use super::*;

    const SITE: Policy = Policy::new().threshold(2).probes(3);
    const CODE: Policy = Policy::new().threshold(9);

    static DECLARATION: Declaration = Declaration {
        operation: "call",
        policy: SITE,
        module: "tests",
        location: Location::new("table.rs", 1),
    };

    fn entry(table: &Table, code: Policy) -> Entry {
        let host = Arc::new(Host::new());
        let layers = Layers::new(None, Arc::default(), code);
        let numbers = || Numbers::new(layers, None);
        match table.make(Cow::Borrowed("bare"), &host, numbers) {
            Made::New(entry, _) | Made::Known(entry) => entry,
        }
    }

    /// A declaration may come while a call does.
    #[test]
    fn code_has_the_last_word_on_its_keys_before_and_after_a_site_has_given_its_numbers() {
        let table = Table::default();
        let (after, _) = table.adopt(entry(&table, CODE), &DECLARATION);
        assert_eq!(after.breaker.policy(), CODE.probes(3));
        assert!(matches!(after.origin, Origin::Site(_)));

        let table = Table::default();
        let (adopted, _) = table.adopt(entry(&table, Policy::new()), &DECLARATION);
        assert_eq!(adopted.breaker.policy(), SITE);
        let held = adopted.breaker.hold();
        let mut layers = held.layers().clone();
        layers.code = CODE;
        held.put(layers);
        assert_eq!(adopted.breaker.policy(), CODE.probes(3));
    }

    /// The word of code is kept, and what the attribute says against it is told.
    #[test]
    fn what_a_late_site_says_against_code_is_left_out() {
        let table = Table::default();
        let (adopted, unused) =
            table.adopt(entry(&table, Policy::new().close_after(4)), &DECLARATION);
        assert_eq!(
            adopted.breaker.policy(),
            Policy::new().threshold(2).close_after(4)
        );
        let told: Vec<_> = unused.iter().map(ToString::to_string).collect();
        let expected = "table.rs:1: service `bare`: `close_after` is larger than `probes`, so a \
                        round could never close the circuit (`close_after` is 4 in code); it is \
                        left out";
        assert_eq!(told, [expected]);
    }
}
