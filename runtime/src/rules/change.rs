//! What a step changed, for those who tell it.

use crate::clock::Tick;
use crate::reason::Reason;
use crate::state::State;

/// A move of the circuit from one state to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Change {
    pub(crate) from: State,
    pub(crate) to: State,
    pub(crate) reason: Reason,
    /// The generation that begins with it.
    pub(crate) generation: u64,
    pub(crate) at: Tick,
    /// The end of the opening, where it opened.
    pub(crate) until: Option<Tick>,
    pub(crate) scope: Scope,
    /// Whether it is what somebody has forced that begins or ends, and no policy's shadow.
    pub(crate) is_by_hand: bool,
}

/// Whom a change concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Everybody: the circuit reads otherwise now.
    Seen,
    /// It happened beneath an override that rejects nobody.
    Beneath,
}

/// The changes of one step, in order. No step makes more than these.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Changes([Option<Change>; 3]);

impl Change {
    /// Whether the circuit opened with it: an earlier opening may also come to light again.
    pub(crate) fn opens(&self) -> bool {
        self.to == State::Open && !self.is_by_hand
    }
}

impl Changes {
    pub(crate) fn push(&mut self, change: Change) {
        if let Some(free) = self.0.iter_mut().find(|change| change.is_none()) {
            *free = Some(change);
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Change> {
        self.0.iter().flatten()
    }

    /// Whether the circuit opened, for everybody or beneath an override.
    pub(crate) fn opened(&self) -> bool {
        self.iter().any(Change::opens)
    }
}
