//! How long an opening lasts.

use std::time::Duration;

use crate::clock::Tick;
use crate::rules::circuit::Law;
use crate::rules::window::Sums;
use crate::verdict::Verdict;

/// One opening: until when, and on what sums.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Opening {
    /// The first instant at which a call is admitted again.
    pub(crate) until: Tick,
    /// What the window held when it opened; nothing where half-open opened it.
    pub(crate) sums: Sums,
}

/// What decides how long an opening lasts.
pub(super) struct Trip {
    pub(super) verdict: Verdict,
    pub(super) sums: Sums,
    /// How many openings there were without a close in between, this one included.
    pub(super) number: u32,
    /// The generation that ends with it: no two openings are drawn alike.
    pub(super) generation: u64,
}

impl Opening {
    pub(super) fn begin(law: &Law<'_>, trip: &Trip, now: Tick) -> Self {
        let longest = law.policy.get_max_open_for();
        let length = match trip.verdict {
            Verdict::OpenFor(exactly) => exactly.min(longest),
            Verdict::RetryAfter(at_least) => cooldown(law, trip).max(at_least.min(longest)),
            Verdict::Success | Verdict::Failure | Verdict::Ignore => cooldown(law, trip),
        };
        Self {
            until: now + length,
            sums: trip.sums,
        }
    }
}

/// `cooldown * backoff^(number - 1)`, up to `max_cooldown`, then the jitter.
fn cooldown(law: &Law<'_>, trip: &Trip) -> Duration {
    let policy = law.policy;
    let longest = policy.get_max_cooldown();
    let steps = i32::try_from(trip.number.saturating_sub(1)).unwrap_or(i32::MAX);
    let grown = times(policy.get_cooldown(), policy.get_backoff().powi(steps));
    let grown = grown.min(longest);
    let jitter = policy.get_jitter();
    if jitter == 0.0 {
        return grown;
    }
    grown.saturating_add(times(grown, jitter * law.draw(trip.generation)))
}

/// Exact where nothing is multiplied, and at most the longest duration.
fn times(duration: Duration, factor: f64) -> Duration {
    if factor == 1.0 {
        return duration;
    }
    Duration::try_from_secs_f64(duration.as_secs_f64() * factor).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use crate::policy::Policy;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn length(policy: Policy, verdict: Verdict, number: u32) -> Duration {
        let law = Law {
            policy: &policy,
            seed: 7,
        };
        let trip = Trip {
            verdict,
            sums: Sums::default(),
            number,
            generation: u64::from(number),
        };
        let now = Tick(7);
        Opening::begin(&law, &trip, now).until.since(now)
    }

    /// E11
    #[test]
    fn a_verdict_can_ask_for_a_longer_opening_up_to_the_cap() {
        let policy = Policy::new()
            .cooldown(5 * SECOND)
            .max_open_for(200 * SECOND);
        let length = |verdict| length(policy, verdict, 1);
        assert_eq!(length(Verdict::Failure), 5 * SECOND);
        assert_eq!(length(Verdict::RetryAfter(SECOND)), 5 * SECOND);
        assert_eq!(length(Verdict::RetryAfter(120 * SECOND)), 120 * SECOND);
        assert_eq!(length(Verdict::RetryAfter(999 * SECOND)), 200 * SECOND);
        assert_eq!(length(Verdict::OpenFor(SECOND)), SECOND);
        assert_eq!(length(Verdict::OpenFor(999 * SECOND)), 200 * SECOND);
    }

    /// K11, B066
    #[test]
    fn the_longest_cooldown_does_not_overflow() {
        let longest = Policy::new()
            .cooldown(Duration::MAX)
            .backoff(2.0)
            .jitter(1.0);
        let whole = Duration::from_nanos(u64::MAX - 7);
        for number in [1, 2, 40, u32::MAX] {
            assert_eq!(length(longest, Verdict::Failure, number), whole);
        }
    }

    /// E5, E8
    #[test]
    fn each_opening_is_longer_than_the_last_one_up_to_the_longest() {
        let policy = Policy::new()
            .cooldown(5 * SECOND)
            .backoff(1.5)
            .max_cooldown(12 * SECOND);
        let length = |number| length(policy, Verdict::Failure, number);
        assert_eq!(length(1), 5 * SECOND);
        assert_eq!(length(2), Duration::from_millis(7_500));
        assert_eq!(length(3), Duration::from_millis(11_250));
        assert_eq!(length(4), 12 * SECOND);
        assert_eq!(length(1_000_000), 12 * SECOND);
    }

    #[test]
    fn jitter_only_lengthens_and_is_drawn_anew_for_each_opening() {
        let policy = Policy::new().cooldown(10 * SECOND).jitter(0.5);
        let all: Vec<_> = (1..=100)
            .map(|number| length(policy, Verdict::Failure, number))
            .collect();
        assert!(all.iter().all(|it| (10 * SECOND..15 * SECOND).contains(it)));
        assert!(all.iter().any(|it| *it < 12 * SECOND));
        assert!(all.iter().any(|it| *it > 13 * SECOND));
        assert_eq!(all[4], length(policy, Verdict::Failure, 5));
    }

    #[test]
    fn a_ban_is_neither_grown_nor_spread() {
        let policy = Policy::new().backoff(2.0).jitter(1.0);
        assert_eq!(length(policy, Verdict::OpenFor(SECOND), 5), SECOND);
    }
}
