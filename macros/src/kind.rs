//! The attributes of this crate, and where one of them stands.

use proc_macro2::Span;
use proc_macro2::TokenStream;
use syn::Path;

/// Which attribute it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    CircuitBreaker,
    Retry,
    Timeout,
    Bulkhead,
    RateLimit,
    Fallback,
    /// Several of them in one.
    Resilient,
}

impl Kind {
    const ALL: [Self; 7] = [
        Self::CircuitBreaker,
        Self::Retry,
        Self::Timeout,
        Self::Bulkhead,
        Self::RateLimit,
        Self::Fallback,
        Self::Resilient,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::CircuitBreaker => "circuit_breaker",
            Self::Retry => "retry",
            Self::Timeout => "timeout",
            Self::Bulkhead => "bulkhead",
            Self::RateLimit => "rate_limit",
            Self::Fallback => "fallback",
            Self::Resilient => "resilient",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The policies, without the attribute that holds them.
    pub(crate) fn policies() -> impl Iterator<Item = Self> {
        Self::ALL
            .into_iter()
            .filter(|kind| *kind != Self::Resilient)
    }
}

/// One attribute of ours on a function.
pub(crate) struct Attribute {
    pub(crate) kind: Kind,
    /// Where something about it as a whole is said.
    pub(crate) at: Span,
    /// Its name as it is written, where it was taken from the function.
    pub(crate) path: Option<Path>,
    /// What stands in its parentheses.
    pub(crate) args: TokenStream,
}
