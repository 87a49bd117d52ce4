//! How long to wait before the next attempt.

use std::time::Duration;

use backon::BackoffBuilder;
use backon::ExponentialBuilder;

use crate::clock::nanos;
use crate::policy::RetryPolicy;

/// The delays of one call, one after the other and without an end.
///
/// `backon` grows a delay in single precision, adds its jitter above the cap, and caps all
/// delays but the first. So it is asked only for what `delay` is to be multiplied by, which it
/// tells as whole and parts of a second; the cap and the jitter are put on here.
#[derive(Debug)]
pub(super) struct Delays {
    factors: <ExponentialBuilder as BackoffBuilder>::Backoff,
    first: Duration,
    longest: Duration,
    has_jitter: bool,
}

impl Delays {
    pub(super) fn new(policy: &RetryPolicy) -> Self {
        Self {
            factors: ExponentialBuilder::new()
                .with_min_delay(Duration::from_secs(1))
                .with_factor(single(policy.get_factor()))
                .without_max_delay()
                .without_max_times()
                .build(),
            first: policy.get_delay(),
            longest: policy.get_max_delay(),
            has_jitter: policy.get_jitter(),
        }
    }

    /// The delay before the next attempt: never zero unless `delay` is, and never above
    /// `max_delay`.
    pub(super) fn next(&mut self, rng: &mut fastrand::Rng) -> Duration {
        // The factors never end.
        let factor = self.factors.next().unwrap_or(Duration::MAX);
        let grown = self.first.as_secs_f64() * factor.as_secs_f64();
        let grown = Duration::try_from_secs_f64(grown).unwrap_or(Duration::MAX);
        let delay = grown.min(self.longest);
        if !self.has_jitter || delay.is_zero() {
            return delay;
        }
        Duration::from_nanos(rng.u64(1..=nanos(delay)))
    }
}

/// Also what nobody has checked never shrinks, and is a number.
#[allow(clippy::cast_possible_truncation)]
const fn single(factor: f64) -> f32 {
    factor.max(1.0) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEADY: RetryPolicy = RetryPolicy::new().jitter(false);

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn first(delays: usize, policy: &RetryPolicy) -> Vec<Duration> {
        let mut rng = fastrand::Rng::with_seed(7);
        let mut all = Delays::new(policy);
        (0..delays).map(|_| all.next(&mut rng)).collect()
    }

    /// B103
    #[test]
    fn each_delay_is_so_many_times_longer_than_the_one_before() {
        let policy = STEADY.delay(millis(50)).factor(2.0);
        assert_eq!(first(5, &policy), [50, 100, 200, 400, 800].map(millis));
        let policy = STEADY.delay(millis(100)).factor(1.5);
        assert_eq!(
            first(4, &policy),
            [100_000, 150_000, 225_000, 337_500].map(Duration::from_micros)
        );
        let policy = STEADY.delay(millis(250)).factor(1.0);
        assert_eq!(first(100, &policy), [millis(250); 100]);
    }

    #[test]
    fn a_factor_that_is_no_sum_of_powers_of_two_is_exact_to_a_millionth() {
        let policy = STEADY.delay(millis(100)).factor(1.1);
        let mut exact = 0.1;
        for delay in first(40, &policy) {
            assert!(
                (delay.as_secs_f64() / exact - 1.0).abs() < 1e-6,
                "{delay:?}"
            );
            exact *= 1.1;
        }
    }

    /// B090
    #[test]
    fn no_delay_is_above_the_longest() {
        let policy = STEADY.delay(millis(100)).max_delay(millis(1_000));
        let delays = first(20, &policy);
        assert_eq!(delays[..5], [100, 200, 400, 800, 1_000].map(millis));
        assert_eq!(delays[5..], [millis(1_000); 15]);
        let unchecked = STEADY.delay(millis(5_000)).max_delay(millis(1_000));
        assert_eq!(first(3, &unchecked), [millis(1_000); 3]);
    }

    /// B093
    #[test]
    fn no_attempt_number_is_too_high() {
        for first_delay in [Duration::from_nanos(1), millis(100), Duration::MAX] {
            for factor in [1.0, 2.0, 10.0, f64::MAX] {
                let policy = STEADY.delay(first_delay).factor(factor);
                for policy in [policy, policy.max_delay(Duration::MAX)] {
                    let delays = first(1_001, &policy);
                    for attempt in [1, 31, 32, 33, 63, 64, 65, 1_000, 1_001] {
                        let delay = delays[attempt - 1];
                        assert!(delay >= first_delay, "{policy:?}, {attempt}: {delay:?}");
                        assert!(delay <= policy.get_max_delay());
                    }
                    assert!(delays.is_sorted());
                }
            }
        }
    }

    #[test]
    fn delays_double_to_the_nanosecond_for_a_hundred_days() {
        let policy = STEADY
            .delay(Duration::from_nanos(1))
            .max_delay(Duration::MAX);
        for (doublings, delay) in first(53, &policy).into_iter().enumerate() {
            assert_eq!(delay.as_nanos(), 1 << doublings);
        }
    }

    /// B091
    #[test]
    fn jitter_at_the_cap_stays_below_it_and_above_zero() {
        let longest = millis(1_000);
        let policy = RetryPolicy::new().delay(longest).max_delay(longest);
        let delays = first(10_000, &policy);
        assert!(delays.iter().all(|it| *it <= longest && !it.is_zero()));
        let mean = delays.iter().sum::<Duration>() / 10_000;
        // Even draws of so many are within a hundredth of the middle.
        assert!((490..=510).contains(&mean.as_millis()), "{mean:?}");
        let below = |share: u32| {
            delays
                .iter()
                .filter(|it| **it < longest * share / 10)
                .count()
        };
        for share in 1..10 {
            assert!((usize::try_from(share).unwrap() * 1_000).abs_diff(below(share)) < 200);
        }
    }

    /// B091
    #[test]
    fn each_drawn_delay_keeps_to_its_own_full_length() {
        let policy = RetryPolicy::new().delay(millis(50));
        let full = first(20, &policy.jitter(false));
        for seed in 0..500 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut drawn = Delays::new(&policy);
            for full in &full {
                let delay = drawn.next(&mut rng);
                assert!(delay <= *full && !delay.is_zero());
            }
        }
    }

    /// B093
    #[test]
    fn the_shortest_delays_can_be_drawn() {
        let none = RetryPolicy::new().delay(Duration::ZERO);
        assert_eq!(first(1_001, &none), [Duration::ZERO; 1_001]);
        let one = RetryPolicy::new()
            .delay(Duration::from_nanos(1))
            .factor(1.0);
        assert_eq!(first(1_001, &one), [Duration::from_nanos(1); 1_001]);
    }

    #[test]
    fn one_seed_gives_one_sequence() {
        let policy = RetryPolicy::new();
        assert_eq!(first(50, &policy), first(50, &policy));
        let other = Delays::new(&policy).next(&mut fastrand::Rng::with_seed(8));
        assert_ne!(first(1, &policy), [other]);
    }

    #[test]
    fn numbers_that_nobody_has_checked_do_no_harm() {
        for factor in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let policy = STEADY.delay(millis(100)).factor(factor);
            for delay in first(100, &policy) {
                assert!(delay >= millis(100) && delay <= policy.get_max_delay());
            }
        }
    }
}
