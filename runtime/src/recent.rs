//! The last so many calls of a circuit: a count window.

use crate::rules::Sums;

/// What is kept of one call.
const CALL: u8 = 1;
const FAILURE: u8 = 2;
const SLOW: u8 = 4;

/// Whoever holds it writes it: the order of the calls is what it is about, so threads
/// cannot count each for itself.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    /// The generation in which it was emptied last.
    emptied: u64,
    /// A place for each call, filled round and round.
    places: Box<[u8]>,
    next: usize,
    held: Counted<u32>,
    /// All that were ever recorded, of whatever window.
    #[cfg(feature = "redis")]
    recorded: Counted<u64>,
    /// Those of them from before it was emptied last.
    #[cfg(feature = "redis")]
    before: Counted<u64>,
}

/// No wider than it has to be: every key has one.
#[derive(Clone, Copy, Debug, Default)]
struct Counted<N> {
    calls: N,
    failures: N,
    slow: N,
}

impl<N: Into<u64>> From<Counted<N>> for Sums {
    fn from(counted: Counted<N>) -> Self {
        Self {
            calls: counted.calls.into(),
            failures: counted.failures.into(),
            slow: counted.slow.into(),
            hung: 0,
        }
    }
}

impl Recent {
    /// Empty, for so many calls.
    pub(crate) fn new(calls: u32) -> Self {
        Self {
            places: vec![0; calls as usize].into_boxed_slice(),
            ..Self::default()
        }
    }

    /// The same, in place of another one: what was ever recorded goes on.
    #[cfg(feature = "redis")]
    pub(crate) fn after(self, before: Option<&Self>) -> Self {
        Self {
            recorded: before.map_or(self.recorded, |it| it.recorded),
            ..self
        }
    }

    /// One more call, in a window that was emptied in this generation.
    #[inline]
    pub(crate) fn record(&mut self, emptied: u64, is_failure: bool, is_slow: bool) {
        if self.emptied != emptied {
            self.empty(emptied);
        }
        let at = self.next;
        let Some(&gone) = self.places.get(at) else {
            return;
        };
        let mut comes = CALL;
        if is_failure {
            comes |= FAILURE;
        }
        if is_slow {
            comes |= SLOW;
        }
        #[cfg(feature = "redis")]
        {
            self.recorded.calls += 1;
            self.recorded.failures += u64::from(is_failure);
            self.recorded.slow += u64::from(is_slow);
        }
        self.next += 1;
        if self.next == self.places.len() {
            self.next = 0;
        }
        // As it mostly is.
        if comes == gone {
            return;
        }
        self.places[at] = comes;
        let moved =
            |bit: u8, sum: u32| sum + u32::from(comes & bit != 0) - u32::from(gone & bit != 0);
        self.held.calls = moved(CALL, self.held.calls);
        self.held.failures = moved(FAILURE, self.held.failures);
        self.held.slow = moved(SLOW, self.held.slow);
    }

    /// What a window holds that was emptied in this generation.
    pub(crate) fn sums(&self, emptied: u64) -> Sums {
        if self.emptied == emptied {
            self.held.into()
        } else {
            Sums::default()
        }
    }

    /// All that were ever recorded.
    #[cfg(feature = "redis")]
    pub(crate) fn recorded(&self) -> Sums {
        self.recorded.into()
    }

    /// All that were ever recorded before it was emptied in this generation.
    #[cfg(feature = "redis")]
    pub(crate) fn recorded_before(&self, emptied: u64) -> Sums {
        if self.emptied == emptied {
            self.before.into()
        } else {
            self.recorded.into()
        }
    }

    #[cold]
    fn empty(&mut self, emptied: u64) {
        self.places.fill(0);
        self.next = 0;
        self.held = Counted::default();
        self.emptied = emptied;
        #[cfg(feature = "redis")]
        {
            self.before = self.recorded;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(recent: &Recent) -> (u64, u64, u64) {
        let Sums {
            calls,
            failures,
            slow,
            ..
        } = recent.sums(0);
        (calls, failures, slow)
    }

    #[test]
    fn the_oldest_call_leaves_when_one_more_comes() {
        let mut recent = Recent::new(3);
        recent.record(0, true, true);
        recent.record(0, true, false);
        assert_eq!(sums(&recent), (2, 2, 1));
        recent.record(0, false, true);
        recent.record(0, false, false);
        assert_eq!(sums(&recent), (3, 1, 1));
        for _ in 0..3 {
            recent.record(0, false, false);
        }
        assert_eq!(sums(&recent), (3, 0, 0));
    }

    #[test]
    fn a_window_that_was_emptied_holds_nothing_of_before() {
        let mut recent = Recent::new(3);
        recent.record(0, true, false);
        assert_eq!(recent.sums(4), Sums::default());
        recent.record(4, false, false);
        assert_eq!(recent.sums(4).calls, 1);
        assert_eq!(recent.sums(4).failures, 0);
    }
}
