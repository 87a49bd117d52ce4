//! The numbers of the policies, which are those of our attributes.

use std::time::Duration;

/// In total, the first among them.
pub(crate) const ATTEMPTS: u32 = 3;

/// Before the second attempt; twice as long before the third.
pub(crate) const DELAY: Duration = Duration::from_millis(100);

/// How long one attempt may take.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(1);

/// How long all attempts together may take.
pub(crate) const TOTAL: Duration = Duration::from_secs(5);

/// How many calls at once a bulkhead lets through.
pub(crate) const CONCURRENT: usize = 100;

/// How many calls in [`PER`] a limiter lets through: more than anybody makes.
pub(crate) const RATE: u32 = 200_000_000;

pub(crate) const PER: Duration = Duration::from_secs(1);

/// How many failures in a row open a circuit.
pub(crate) const THRESHOLD: usize = 5;

/// How long it stays open: longer than anything here takes.
pub(crate) const COOLDOWN: Duration = Duration::from_secs(3600);

/// What a fallback answers.
pub(crate) const FALLBACK: u64 = 7;
