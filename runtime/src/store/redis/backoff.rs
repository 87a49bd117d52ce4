//! How long a connection waits before it is tried anew.

use std::time::Duration;

/// Grows from one failure to the next, and is spread so that a fleet does not come back all
/// at once. With the same seed it is the same.
#[derive(Debug)]
pub(super) struct Backoff {
    failures: u32,
    random: fastrand::Rng,
}

impl Backoff {
    const FIRST: Duration = Duration::from_millis(50);
    const LONGEST: Duration = Duration::from_secs(2);

    pub(super) fn new(seed: u64) -> Self {
        Self {
            failures: 0,
            random: fastrand::Rng::with_seed(seed),
        }
    }

    /// From a quarter of what it has grown to up to all of it.
    pub(super) fn next(&mut self) -> Duration {
        let grown =
            Self::FIRST.saturating_mul(1_u32.checked_shl(self.failures).unwrap_or(u32::MAX));
        self.failures = self.failures.saturating_add(1);
        grown
            .min(Self::LONGEST)
            .mul_f64(0.25 + 0.75 * self.random.f64())
    }

    /// A connection has held.
    pub(super) fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(seed: u64, count: usize) -> Vec<Duration> {
        let mut backoff = Backoff::new(seed);
        (0..count).map(|_| backoff.next()).collect()
    }

    /// M13
    #[test]
    fn it_doubles_up_to_its_end_and_stays_within_a_quarter_and_all_of_that() {
        for seed in 0..100 {
            for (failures, drawn) in draws(seed, 64).into_iter().enumerate() {
                let grown = match failures {
                    0..=5 => Duration::from_millis(50 << failures),
                    _ => Duration::from_secs(2),
                };
                assert!(
                    drawn >= grown / 4 && drawn <= grown,
                    "{failures}: {drawn:?}"
                );
            }
        }
    }

    /// M13
    #[test]
    fn one_seed_draws_alike_and_another_does_not() {
        assert_eq!(draws(7, 20), draws(7, 20));
        assert_ne!(draws(7, 20), draws(8, 20));
    }

    /// M13
    #[test]
    fn a_connection_that_held_begins_anew() {
        let mut backoff = Backoff::new(7);
        for _ in 0..10 {
            backoff.next();
        }
        backoff.reset();
        assert!(backoff.next() <= Backoff::FIRST);
    }
}
