//! The breakers that exist, by service: made once, never replaced.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::RwLock;

use crate::breaker::Breaker;
use crate::declaration::Declaration;
use crate::host::Host;
use crate::policy::Policy;
use crate::registry::read;
use crate::registry::write;

#[derive(Default)]
pub(super) struct Table {
    rows: RwLock<Rows>,
}

#[derive(Default)]
struct Rows {
    entries: HashMap<&'static str, Entry>,
    /// How many of them were named at run time.
    dynamic: usize,
}

/// A breaker, and where its numbers are written.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) breaker: &'static Breaker,
    pub(super) origin: Origin,
}

/// Where the numbers of a breaker are written.
#[derive(Clone, Copy)]
pub(super) enum Origin {
    /// Nowhere yet: code declared the service by its name alone, and the breaker has the
    /// defaults until a call site names it.
    ByNameAlone,
    /// In code, which has the last word.
    Code,
    Site(&'static Declaration),
}

/// What came of making a breaker.
pub(super) enum Made {
    New(Entry),
    Known(Entry),
}

impl Made {
    pub(super) const fn entry(&self) -> Entry {
        match self {
            Self::New(entry) | Self::Known(entry) => *entry,
        }
    }
}

/// The numbers that a new breaker begins with, and where they are written.
#[derive(Clone, Copy)]
pub(super) struct Numbers {
    pub(super) policy: Policy,
    origin: Origin,
}

impl Numbers {
    pub(super) const fn by_name_alone() -> Self {
        Self {
            policy: Policy::new(),
            origin: Origin::ByNameAlone,
        }
    }

    pub(super) const fn of_code(policy: Policy) -> Self {
        Self {
            policy,
            origin: Origin::Code,
        }
    }

    pub(super) const fn of_site(declaration: &'static Declaration) -> Self {
        Self {
            policy: declaration.policy,
            origin: Origin::Site(declaration),
        }
    }
}

impl Table {
    pub(super) fn get(&self, service: &str) -> Option<Entry> {
        read(&self.rows).entries.get(service).copied()
    }

    /// The breakers, by name.
    pub(super) fn breakers(&self) -> Vec<&'static Breaker> {
        let mut breakers: Vec<_> = read(&self.rows)
            .entries
            .values()
            .map(|entry| entry.breaker)
            .collect();
        breakers.sort_by_key(|breaker| breaker.name());
        breakers
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
            None => Made::New(rows.insert(service, host, numbers())),
        }
    }

    /// The same for a service named at run time, of which there are at most `limit`.
    pub(super) fn make_dynamic(
        &self,
        service: &str,
        host: &Arc<Host>,
        numbers: Numbers,
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
        Some(Made::New(rows.insert(service, host, numbers)))
    }

    /// Gives a breaker that was declared by its name alone the numbers of the first call
    /// site that names it. The lock makes one of several the first, and lets no late word
    /// of code be lost.
    #[cold]
    pub(super) fn adopt(&self, entry: Entry, declaration: &'static Declaration) -> Entry {
        match write(&self.rows).entries.get_mut(entry.breaker.name()) {
            None => entry,
            Some(known) => {
                if matches!(known.origin, Origin::ByNameAlone) {
                    known.breaker.set_policy(declaration.policy);
                    known.origin = Origin::Site(declaration);
                }
                *known
            }
        }
    }

    /// Puts the numbers of code in place of those that a breaker began with.
    pub(super) fn redeclare(&self, service: &str, policy: Policy) {
        if let Some(entry) = write(&self.rows).entries.get_mut(service) {
            entry.breaker.set_policy(policy);
            entry.origin = Origin::Code;
        }
    }
}

impl Rows {
    fn insert(&mut self, service: Cow<'static, str>, host: &Arc<Host>, numbers: Numbers) -> Entry {
        let name: &'static str = match service {
            Cow::Borrowed(name) => name,
            Cow::Owned(name) => Box::leak(name.into_boxed_str()),
        };
        let breaker = Breaker::new(name, numbers.policy, Arc::clone(host));
        let entry = Entry {
            breaker: Box::leak(Box::new(breaker)),
            origin: numbers.origin,
        };
        self.entries.insert(name, entry);
        entry
    }
}

#[cfg(test)]
mod tests {
    use crate::declaration::Location;
    use crate::host::Host;

    use super::*;

    const SITE: Policy = Policy::new().threshold(2);
    const CODE: Policy = Policy::new().threshold(9);

    static DECLARATION: Declaration = Declaration {
        operation: "call",
        policy: SITE,
        module: "tests",
        location: Location::new("table.rs", 1),
    };

    fn by_name_alone(table: &Table) -> Entry {
        let host = Arc::new(Host::new());
        let made = table.make(Cow::Borrowed("bare"), &host, Numbers::by_name_alone);
        made.entry()
    }

    /// A declaration may come while a call does.
    #[test]
    fn code_has_the_last_word_before_and_after_a_site_has_given_its_numbers() {
        let table = Table::default();
        let before = by_name_alone(&table);
        table.redeclare("bare", CODE);
        let after = table.adopt(before, &DECLARATION);
        assert_eq!(after.breaker.policy(), CODE);
        assert!(matches!(after.origin, Origin::Code));

        let table = Table::default();
        let adopted = table.adopt(by_name_alone(&table), &DECLARATION);
        assert_eq!(adopted.breaker.policy(), SITE);
        assert!(matches!(adopted.origin, Origin::Site(_)));
        table.redeclare("bare", CODE);
        assert_eq!(adopted.breaker.policy(), CODE);
    }
}
