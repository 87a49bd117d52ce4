//! What the policies of a service have done since it was told last.

use std::sync::Mutex;
use std::sync::PoisonError;

use crate::event::Activity;
use crate::event::Did;
use crate::policies::Policies;

const ALL: [Did; 7] = [
    Did::BulkheadFull,
    Did::RateLimited,
    Did::TimedOut,
    Did::Retried,
    Did::RetryBudgetExhausted,
    Did::FellBack,
    Did::FallbackFailed,
];

/// How often each was done when it was told last.
#[derive(Debug, Default)]
pub(super) struct Told(Mutex<[u64; ALL.len()]>);

impl Policies {
    /// What was done since the last call. Functions that name no service tell nothing.
    pub(crate) fn take_activities(&self) -> Vec<Activity> {
        let Some(service) = self.service() else {
            return Vec::new();
        };
        let mut told = self.told.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut activities = Vec::new();
        for (did, told) in ALL.into_iter().zip(told.iter_mut()) {
            let done = self.done(did);
            let times = done.saturating_sub(*told);
            if times > 0 {
                activities.push(Activity {
                    service,
                    did,
                    times,
                });
            }
            *told = done;
        }
        activities
    }

    fn done(&self, did: Did) -> u64 {
        let [answered, failed] = self.fallbacks();
        match did {
            Did::BulkheadFull => self.get_bulkhead().map_or(0, |it| it.rejected()),
            Did::TimedOut => self.timeouts(),
            Did::FellBack => answered,
            Did::FallbackFailed => failed,
            #[cfg(feature = "rate-limit")]
            Did::RateLimited => self.get_rate_limiter().map_or(0, |it| it.rejected()),
            #[cfg(not(feature = "rate-limit"))]
            Did::RateLimited => 0,
            #[cfg(feature = "retry")]
            Did::Retried => self.retries.counts().attempts(),
            #[cfg(feature = "retry")]
            Did::RetryBudgetExhausted => self.retries.counts().budget_exhausted(),
            #[cfg(not(feature = "retry"))]
            Did::Retried | Did::RetryBudgetExhausted => 0,
        }
    }
}
