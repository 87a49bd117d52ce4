//! The packed word: all that a call of a closed circuit needs to know.
//!
//! ```text
//!  63                                    22 21              3 2     0
//! +----------------------------------------+-----------------+-------+
//! | generation                             | count           | state |
//! +----------------------------------------+-----------------+-------+
//! ```
//!
//! The count is the failures in a row while closed; in the copy that a probe's
//! guard keeps, it is the place in the round. The generation rises by one with each
//! transition; its 42 bits also hold a time in milliseconds until the year 2109, for a
//! circuit whose transitions several processes have to put in order.

use crate::policy::Policy;
use crate::rules::GENERATIONS;
use crate::rules::Ticket;
use crate::state::State;

const STATE_BITS: u32 = 3;
const COUNT_BITS: u32 = 19;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;
const STATE_MASK: u64 = (1 << STATE_BITS) - 1;

// Every threshold that a policy may have can be counted, and every generation told.
const _: () = assert!(Policy::MAX_THRESHOLD as u64 == COUNT_MASK);
const _: () = assert!(GENERATIONS == u64::MAX >> (COUNT_BITS + STATE_BITS));

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word(pub(crate) u64);

impl Word {
    /// A word that no circuit ever has.
    pub(crate) const NONE: Self = Self(u64::MAX);

    pub(crate) const fn new(generation: u64, count: u32, state: State) -> Self {
        let state = match state {
            State::Closed => 0,
            State::Open => 1,
            State::HalfOpen => 2,
        };
        Self(
            generation << (COUNT_BITS + STATE_BITS)
                | (count as u64 & COUNT_MASK) << STATE_BITS
                | state,
        )
    }

    pub(crate) const fn generation(self) -> u64 {
        self.0 >> (COUNT_BITS + STATE_BITS)
    }

    pub(crate) const fn count(self) -> u32 {
        (self.0 >> STATE_BITS & COUNT_MASK) as u32
    }

    pub(crate) const fn state(self) -> State {
        match self.0 & STATE_MASK {
            0 => State::Closed,
            1 => State::Open,
            _ => State::HalfOpen,
        }
    }

    #[inline]
    pub(crate) const fn is_closed(self) -> bool {
        self.0 & STATE_MASK == 0
    }

    /// Closed, with no failure counted.
    #[inline]
    pub(crate) const fn is_calm(self) -> bool {
        self.0 & (COUNT_MASK << STATE_BITS | STATE_MASK) == 0
    }

    pub(crate) const fn with_count(self, count: u32) -> Self {
        Self::new(self.generation(), count, self.state())
    }

    /// For a call that a probe makes itself: it has no place in the round.
    pub(crate) const fn riding(self) -> Self {
        self.with_count(Ticket::RIDING)
    }

    /// Whether a call with this word is one of the round's probes.
    pub(crate) const fn is_probe(self) -> bool {
        matches!(self.state(), State::HalfOpen) && self.count() != Ticket::RIDING
    }

    pub(crate) const fn ticket(self) -> Ticket {
        Ticket {
            generation: self.generation(),
            place: self.count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_a_word_do_not_touch_each_other() {
        for &state in State::ALL {
            for generation in [0, 1, GENERATIONS] {
                for count in [0, 1, Policy::MAX_THRESHOLD] {
                    let word = Word::new(generation, count, state);
                    assert_eq!(word.generation(), generation);
                    assert_eq!(word.count(), count);
                    assert_eq!(word.state(), state);
                    assert_eq!(word.is_closed(), state == State::Closed);
                    assert_eq!(word.is_calm(), state == State::Closed && count == 0);
                }
            }
        }
    }
}
