//! How often one circuit may tell the others of its calls.

use std::time::Duration;
use std::time::Instant;

/// So many times at once, and once more each so long.
const MOST: u32 = 8;
const EACH: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct Budget {
    left: u32,
    since: Instant,
}

impl Budget {
    pub(super) const fn full(now: Instant) -> Self {
        Self {
            left: MOST,
            since: now,
        }
    }

    /// Takes one, or says when there will be one.
    pub(super) fn take(&mut self, now: Instant) -> Result<(), Instant> {
        while self.left < MOST && now >= self.since + EACH {
            self.left += 1;
            self.since += EACH;
        }
        if self.left == MOST {
            self.since = now;
        }
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(self.since + EACH),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_go_at_once_and_then_ten_a_second() {
        let start = Instant::now();
        let mut budget = Budget::full(start);
        for _ in 0..8 {
            assert_eq!(budget.take(start), Ok(()));
        }
        assert_eq!(budget.take(start), Err(start + EACH));
        assert_eq!(budget.take(start + EACH), Ok(()));
        assert_eq!(budget.take(start + EACH), Err(start + 2 * EACH));
        let later = start + 100 * EACH;
        for _ in 0..8 {
            assert_eq!(budget.take(later), Ok(()));
        }
        assert_eq!(budget.take(later), Err(later + EACH));
    }
}
