//! What one place in the source says about a service.

use std::fmt;

use crate::policy::Key;
use crate::policy::Policy;

/// What one place in the source says about a service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declaration {
    pub(crate) operation: &'static str,
    pub(crate) policy: Policy,
    pub(crate) module: &'static str,
    pub(crate) location: Location,
}

/// A place in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    file: &'static str,
    line: u32,
}

impl Location {
    pub(crate) const fn new(file: &'static str, line: u32) -> Self {
        Self { file, line }
    }

    /// The file, as the compiler knows it.
    #[must_use]
    pub const fn file(&self) -> &'static str {
        self.file
    }

    /// The line in it.
    #[must_use]
    pub const fn line(&self) -> u32 {
        self.line
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Two places declare one service with different numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    service: String,
    first: Location,
    second: Location,
    differences: Vec<Difference>,
}

/// A key that two places give different values.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Difference {
    key: Key,
    first: String,
    second: String,
}

/// What a rule shows that does not stand.
const NONE: &str = "(none)";

impl Conflict {
    /// The conflict between two declarations of one service, if there is one: what is written
    /// `above` both of them settles its keys.
    pub(crate) fn between(
        service: &str,
        above: Policy,
        first: &Declaration,
        second: &Declaration,
    ) -> Option<Self> {
        let value = |policy: &Policy, key| {
            let effective = above.over(*policy).value(key);
            effective.unwrap_or_else(|| NONE.to_owned())
        };
        let keys = Key::ALL.iter().copied();
        let differences: Vec<_> = keys
            .map(|key| Difference {
                key,
                first: value(&first.policy, key),
                second: value(&second.policy, key),
            })
            .filter(|difference| difference.first != difference.second)
            .collect();
        (!differences.is_empty()).then(|| Self {
            service: service.to_owned(),
            first: first.location,
            second: second.location,
            differences,
        })
    }

    /// The service.
    #[must_use]
    pub fn service(&self) -> &str {
        &self.service
    }

    /// The place whose numbers are in force.
    #[must_use]
    pub const fn first(&self) -> Location {
        self.first
    }

    /// The place whose numbers are not.
    #[must_use]
    pub const fn second(&self) -> Location {
        self.second
    }

    /// The keys that differ.
    pub fn keys(&self) -> impl Iterator<Item = Key> {
        self.differences.iter().map(|difference| difference.key)
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            service,
            first,
            second,
            differences,
        } = self;
        write!(f, "service `{service}` is declared with different numbers:")?;
        for (n, difference) in differences.iter().enumerate() {
            let comma = if n == 0 { "" } else { "," };
            let Difference {
                key,
                first: one,
                second: other,
            } = difference;
            write!(f, "{comma} {key} {one} at {first} but {other} at {second}")?;
        }
        write!(f, "; those at {first} are in force")
    }
}

impl std::error::Error for Conflict {}
