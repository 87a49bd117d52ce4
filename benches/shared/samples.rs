//! How long something took, many times.

use std::time::Duration;

#[derive(Debug, Default)]
pub(crate) struct Samples {
    nanos: Vec<u64>,
}

impl Samples {
    pub(crate) fn with_capacity(samples: usize) -> Self {
        Self {
            nanos: Vec::with_capacity(samples),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.nanos.len()
    }

    pub(crate) fn push(&mut self, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.nanos.push(nanos);
    }

    pub(crate) fn extend(&mut self, other: Self) {
        self.nanos.extend(other.nanos);
    }

    /// Ready to be asked.
    pub(crate) fn sorted(mut self) -> Sorted {
        assert!(!self.nanos.is_empty(), "something was measured");
        self.nanos.sort_unstable();
        Sorted(self.nanos)
    }
}

/// The same in order.
#[derive(Debug)]
pub(crate) struct Sorted(Vec<u64>);

impl Sorted {
    /// What so many of a thousand took at most.
    pub(crate) fn of_thousand(&self, share: usize) -> Duration {
        let at = (self.0.len() * share).div_ceil(1000).saturating_sub(1);
        Duration::from_nanos(self.0[at])
    }

    pub(crate) fn median(&self) -> Duration {
        self.of_thousand(500)
    }

    pub(crate) fn p99(&self) -> Duration {
        self.of_thousand(990)
    }

    pub(crate) fn max(&self) -> Duration {
        self.of_thousand(1000)
    }
}

pub(crate) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

pub(crate) fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}
