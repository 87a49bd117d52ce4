//! What can be wrong with the set-up of a registry.

use std::fmt;

use crate::declaration::Conflict;
use crate::limit_conflict::LimitConflict;
use crate::name;
use crate::name::NameError;
use crate::policy::PolicyError;
use crate::settings::Source;

/// One thing that is wrong with the set-up of a registry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// No service can have this name.
    #[error("service {:?}: {source}", name::shown(.name))]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        source: NameError,
    },
    /// No breaker can work with the numbers of code.
    #[error("service {service:?}: {source}")]
    Policy {
        /// The service.
        service: String,
        /// What is wrong with its numbers.
        source: PolicyError,
    },
    /// Two call sites contradict each other, and the registry is strict.
    #[error(transparent)]
    Conflict(Conflict),
    /// Two call sites contradict each other about a bulkhead or a rate limit, and the registry
    /// is strict.
    #[error(transparent)]
    LimitConflict(LimitConflict),
    /// Something in a file or in the environment is wrong.
    #[error(transparent)]
    Configuration(ConfigError),
    /// Files are to be watched, and there is none.
    #[error("there is nothing to watch: name a file with `config_file`")]
    NothingToWatch,
}

/// One thing that is wrong in a file or in the environment, and where.
///
/// ```text
/// breakerbox.toml:4: [services.stripe] treshold: unknown key: did you mean `threshold`?
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    place: Source,
    table: Table,
    service: Option<String>,
    key: Option<String>,
    message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Table {
    None,
    Defaults,
    /// Of the service that it is about.
    Service,
}

/// A configuration that was not taken over. Everything is as it was before.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", list(.problems))]
pub struct ReloadError {
    problems: Vec<Problem>,
}

impl ConfigError {
    pub(crate) const fn new(place: Source, message: String) -> Self {
        Self {
            place,
            table: Table::None,
            service: None,
            key: None,
            message,
        }
    }

    pub(crate) fn in_defaults(mut self) -> Self {
        self.table = Table::Defaults;
        self
    }

    pub(crate) fn in_service(mut self, service: &str) -> Self {
        self.table = Table::Service;
        self.about(service)
    }

    pub(crate) fn about(mut self, service: &str) -> Self {
        self.service = Some(service.to_owned());
        self
    }

    pub(crate) fn at_key(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    /// The line, the variable, or the place in the code.
    #[must_use]
    pub const fn place(&self) -> &Source {
        &self.place
    }

    /// The service that it is about, if it is about one alone.
    #[must_use]
    pub fn service(&self) -> Option<&str> {
        self.service.as_deref()
    }

    /// The key, as it is written.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// What is wrong, and what to write.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Source::Code => f.write_str("in code: ")?,
            place => write!(f, "{place}: ")?,
        }
        let table = match self.table {
            Table::None => None,
            Table::Defaults => Some("defaults".to_owned()),
            Table::Service => self.service.as_deref().map(table_of),
        };
        match (&table, &self.key) {
            (None, _) => {}
            (Some(table), None) => write!(f, "[{table}]: ")?,
            // A key may be anything that stands in quotes.
            (Some(table), Some(key)) => write!(f, "[{table}] {}: ", shown(key))?,
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for ConfigError {}

impl ReloadError {
    #[cfg(feature = "config")]
    pub(crate) const fn new(problems: Vec<Problem>) -> Self {
        Self { problems }
    }

    /// All that is wrong.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

fn table_of(service: &str) -> String {
    format!("services.{}", shown(service))
}

/// A key of TOML as it is written there.
fn shown(key: &str) -> String {
    let key = name::shown(key);
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if !key.is_empty() && key.bytes().all(is_bare) {
        key.into_owned()
    } else {
        format!("{key:?}")
    }
}

/// One line a problem.
pub(crate) fn list(problems: &[Problem]) -> String {
    let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}
