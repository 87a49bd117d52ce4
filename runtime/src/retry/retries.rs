//! What the retries of one service share.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use crate::clock::Tick;
use crate::host::Host;
use crate::policy::RetryPolicy;
use crate::retry::budget::Budget;
use crate::retry::counts::Counts;
use crate::retry::delays::Delays;

/// What the retries of one service share: time, budget, counts, and what their delays are
/// drawn from.
#[derive(Debug)]
pub(crate) struct Retries {
    pub(super) host: Arc<Host>,
    pub(super) counts: Counts,
    budget: Budget,
    rng: Mutex<fastrand::Rng>,
}

impl Retries {
    pub(crate) fn new(host: Arc<Host>, service: &str) -> Self {
        // A fork, since the breaker of the service draws from the same seed.
        let rng = fastrand::Rng::with_seed(host.seed_of(service)).fork();
        Self {
            host,
            counts: Counts::default(),
            budget: Budget::default(),
            rng: Mutex::new(rng),
        }
    }

    pub(crate) const fn counts(&self) -> &Counts {
        &self.counts
    }

    /// A call begins that may be made again by `policy`.
    #[inline]
    pub(super) fn begin_call(&self, policy: &RetryPolicy) {
        if policy.get_budget().is_some() {
            self.deposit();
        }
    }

    #[inline(never)]
    fn deposit(&self) {
        self.budget.deposit(self.host.clock.coarse());
    }

    #[inline(never)]
    pub(super) fn in_a_while(&self, duration: Duration) -> Tick {
        self.host.clock.now() + duration
    }

    /// Whether the budget, if there is one, allows another attempt; it is counted then.
    pub(super) fn afford(&self, policy: &RetryPolicy) -> bool {
        let may = |share| self.budget.withdraw(self.host.clock.coarse(), share);
        policy.get_budget().is_none_or(may)
    }

    pub(super) fn draw(&self, delays: &mut Delays) -> Duration {
        delays.next(&mut self.rng.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
