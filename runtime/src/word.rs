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

const PHASE_BITS: u32 = 3;
const COUNT_BITS: u32 = 19;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;
const PHASE_MASK: u64 = (1 << PHASE_BITS) - 1;

// Every threshold that a policy may have can be counted, and every generation told.
const _: () = assert!(Policy::MAX_THRESHOLD as u64 == COUNT_MASK);
const _: () = assert!(GENERATIONS == u64::MAX >> (COUNT_BITS + PHASE_BITS));

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word(pub(crate) u64);

/// What a call has to do: how it gets in where a circuit has this phase, and how it is
/// settled where its guard has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The usual one: calls pass and are counted without a lock.
    Closed,
    /// Calls are counted as those of a closed circuit, but the lock decides on each: the
    /// circuit ramps up, or is closed beneath a shadow.
    Watched,
    Open,
    HalfOpen,
    ForcedOpen,
    /// All pass, and their outcomes decide nothing.
    ForcedClosed,
    /// The lock knows.
    Shadow,
    /// No circuit has it: that of a guard whose call probes by leave of all processes that
    /// share the circuit, with the place of its lease.
    Leased,
}

impl Phase {
    const ALL: [Self; 8] = [
        Self::Closed,
        Self::Watched,
        Self::Open,
        Self::HalfOpen,
        Self::ForcedOpen,
        Self::ForcedClosed,
        Self::Shadow,
        Self::Leased,
    ];
}

impl Word {
    /// A word that no circuit ever has.
    pub(crate) const NONE: Self = Self(u64::MAX);

    /// Nor this one: that of a call which has asked for leave and waits for it.
    pub(crate) const ASKING: Self = Self(u64::MAX - 1);

    pub(crate) const fn new(generation: u64, count: u32, phase: Phase) -> Self {
        Self(
            generation << (COUNT_BITS + PHASE_BITS)
                | (count as u64 & COUNT_MASK) << PHASE_BITS
                | phase as u64,
        )
    }

    pub(crate) const fn generation(self) -> u64 {
        self.0 >> (COUNT_BITS + PHASE_BITS)
    }

    pub(crate) const fn count(self) -> u32 {
        (self.0 >> PHASE_BITS & COUNT_MASK) as u32
    }

    pub(crate) const fn phase(self) -> Phase {
        Phase::ALL[(self.0 & PHASE_MASK) as usize]
    }

    #[inline]
    pub(crate) const fn is_closed(self) -> bool {
        self.0 & PHASE_MASK == 0
    }

    /// Closed, with no failure counted.
    #[inline]
    pub(crate) const fn is_calm(self) -> bool {
        self.0 & (COUNT_MASK << PHASE_BITS | PHASE_MASK) == 0
    }

    pub(crate) const fn with_count(self, count: u32) -> Self {
        Self::new(self.generation(), count, self.phase())
    }

    /// Whether a call with this word is one of the round's probes.
    pub(crate) const fn is_probe(self) -> bool {
        matches!(self.phase(), Phase::HalfOpen | Phase::Leased) && self.count() != Ticket::RIDING
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
        for phase in Phase::ALL {
            for generation in [0, 1, GENERATIONS] {
                for count in [0, 1, Policy::MAX_THRESHOLD] {
                    let word = Word::new(generation, count, phase);
                    assert_eq!(word.generation(), generation);
                    assert_eq!(word.count(), count);
                    assert_eq!(word.phase(), phase);
                    assert_eq!(word.is_closed(), phase == Phase::Closed);
                    assert_eq!(word.is_calm(), phase == Phase::Closed && count == 0);
                    // No call has the last place of all.
                    if generation < GENERATIONS || count < Policy::MAX_THRESHOLD {
                        assert_ne!(word, Word::NONE);
                        assert_ne!(word, Word::ASKING);
                    }
                }
            }
        }
    }
}
