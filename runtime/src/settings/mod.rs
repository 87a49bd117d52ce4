//! Where the numbers of a service are written, in which order the places come, and what is
//! in force.

mod fault;
mod layers;
mod problem;
mod reloaded;
mod stack;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::declaration::Location;
use crate::policy::Key;

pub use problem::ConfigError;
pub use problem::Problem;
pub use problem::ReloadError;
pub use reloaded::Change;
pub use reloaded::Reloaded;

pub(crate) use layers::Configuration;
pub(crate) use layers::Layers;
#[cfg(feature = "config")]
pub(crate) use layers::Section;
#[cfg(feature = "config")]
pub(crate) use layers::Written;
pub(crate) use problem::list;
#[cfg(feature = "config")]
pub(crate) use reloaded::changes;

/// The place that the value of a key comes from.
///
/// Where several places write one key, the lower one in this list has the last word.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// Nobody writes it: it is the default, or follows from other keys.
    Default,
    /// The attribute of a function.
    Attribute(Location),
    /// A TOML file.
    File {
        /// The file, as it was named to
        /// [`config_file`](crate::RegistryBuilder#method.config_file); `<config_toml>` is
        /// the text that was given to
        /// [`config_toml`](crate::RegistryBuilder#method.config_toml).
        path: Arc<Path>,
        /// The line, from 1 on; 0 where all of the file is meant.
        line: u32,
    },
    /// A variable of the environment.
    Environment {
        /// Its name.
        variable: Arc<str>,
    },
    /// [`declare_with`](crate::RegistryBuilder::declare_with).
    Code,
    /// [`Breaker::update`](crate::Breaker::update).
    Live,
}

/// The effective value of one key of a service, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Setting {
    /// The key.
    pub key: Key,
    /// Its value, as a person writes it.
    pub value: String,
    /// Where it is written.
    pub source: Source,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Attribute(location) => location.fmt(f),
            Self::File { path, line: 0 } => path.display().fmt(f),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Environment { variable } => f.write_str(variable),
            Self::Code => f.write_str("code"),
            Self::Live => f.write_str("live change"),
        }
    }
}

/// `cooldown = 30s (breakerbox.toml:4)`
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {} ({})", self.key, self.value, self.source)
    }
}
