//! Two functions that disagree about the one bulkhead or rate limit of a service.

use std::fmt;

use crate::declaration::Location;

/// Two places declare the bulkhead or the rate limit of one service with different numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitConflict {
    service: String,
    policy: &'static str,
    first: Numbers,
    second: Numbers,
}

/// What one place says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub(crate) location: Location,
    pub(crate) text: String,
}

impl LimitConflict {
    /// What two places say about a `policy`, if it is not the same.
    pub(crate) fn between(
        service: &str,
        policy: &'static str,
        first: &Numbers,
        second: Numbers,
    ) -> Option<Self> {
        (first.text != second.text).then(|| Self {
            service: service.to_owned(),
            policy,
            first: first.clone(),
            second,
        })
    }

    /// The service.
    #[must_use]
    pub fn service(&self) -> &str {
        &self.service
    }

    /// What it is about: `bulkhead` or `rate_limit`.
    #[must_use]
    pub const fn policy(&self) -> &'static str {
        self.policy
    }

    /// The place whose numbers are in force.
    #[must_use]
    pub const fn first(&self) -> Location {
        self.first.location
    }

    /// The place whose numbers are not.
    #[must_use]
    pub const fn second(&self) -> Location {
        self.second.location
    }
}

impl fmt::Display for LimitConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            service,
            policy,
            first,
            second,
        } = self;
        let (here, there) = (first.location, second.location);
        write!(
            f,
            "service `{service}` is declared with different numbers: {policy}({}) at {here} but \
             {policy}({}) at {there}; those at {here} are in force",
            first.text, second.text
        )
    }
}

impl std::error::Error for LimitConflict {}
