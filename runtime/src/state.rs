//! The states of a circuit, by name.

use std::fmt;

/// Where a circuit stands.
///
/// Reading a state never changes it: an open circuit whose cooldown has passed
/// reads [`Open`](Self::Open) until the next call comes and becomes its probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum State {
    /// Calls pass, and their failures are counted.
    Closed,
    /// Calls are rejected until the cooldown has passed.
    Open,
    /// A few calls, the probes, find out whether the service is back.
    HalfOpen,
    /// All calls are rejected, since somebody wants that.
    ForcedOpen,
    /// All calls pass and nothing is judged, since somebody wants that.
    ForcedClosed,
    /// All calls pass, and what would have been done to them is told.
    Shadow,
}

impl State {
    /// Every state, in the order in which they are published.
    pub const ALL: &'static [Self] = &[
        Self::Closed,
        Self::Open,
        Self::HalfOpen,
        Self::ForcedOpen,
        Self::ForcedClosed,
        Self::Shadow,
    ];

    /// The state as metrics label it: `closed`, `open`, `half_open`, `forced_open`,
    /// `forced_closed` or `shadow`.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half_open",
            Self::ForcedOpen => "forced_open",
            Self::ForcedClosed => "forced_closed",
            Self::Shadow => "shadow",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half-open",
            Self::ForcedOpen => "forced-open",
            Self::ForcedClosed => "forced-closed",
            Self::Shadow => "shadow",
        })
    }
}
