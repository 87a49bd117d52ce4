//! What a configuration that was read again has changed.

use std::fmt;

use crate::policy::Key;
use crate::settings::Source;

/// A configuration that was read again and is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reloaded {
    changes: Vec<Change>,
}

/// A key of a service that has another effective value now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The service.
    pub service: String,
    /// The key.
    pub key: Key,
    /// Its value before; none where that rule did not stand.
    pub from: Option<String>,
    /// Its value now; none where that rule no longer stands.
    pub to: Option<String>,
    /// Where the value of now comes from.
    pub source: Source,
}

impl Reloaded {
    #[cfg(feature = "config")]
    pub(crate) const fn new(changes: Vec<Change>) -> Self {
        Self { changes }
    }

    /// Every key of a known service whose effective value has changed, by service.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }
}

/// `stripe: cooldown 60s -> 30s (breakerbox.toml:4)`
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            service,
            key,
            from,
            to,
            source,
        } = self;
        let from = from.as_deref().unwrap_or("(none)");
        let to = to.as_deref().unwrap_or("(none)");
        write!(f, "{service}: {key} {from} -> {to} ({source})")
    }
}

/// What has changed for one service, between its settings before and after.
#[cfg(feature = "config")]
pub(crate) fn changes(
    service: &str,
    before: &crate::settings::Layers,
    after: &crate::settings::Layers,
) -> Vec<Change> {
    let (from, to) = (before.policy(service), after.policy(service));
    if from == to {
        return Vec::new();
    }
    let settings = after.settings(service);
    let keys = Key::ALL.iter().copied();
    keys.filter_map(|key| {
        let (from, to) = (from.value(key), to.value(key));
        let setting = settings.iter().find(|setting| setting.key == key);
        let source = setting.map_or(Source::Default, |setting| setting.source.clone());
        (from != to).then(|| Change {
            service: service.to_owned(),
            key,
            from,
            to,
            source,
        })
    })
    .collect()
}
