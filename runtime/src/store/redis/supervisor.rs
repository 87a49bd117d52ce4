//! Keeps one connection standing: connects, beats, notices a loss, tells of it once, waits
//! and connects anew.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use tokio::time::Instant;
use tokio::time::MissedTickBehavior;

use crate::store::StoreError;
use crate::store::redis::address::Address;
use crate::store::redis::backoff::Backoff;
use crate::store::redis::calls::Calls;
use crate::store::redis::ear::Ear;
use crate::store::redis::link::Link;
use crate::store::redis::plan::Plan;
use crate::store::redis::pushes::Pushes;

/// The connection that stands, or why there is none.
pub(super) struct Standing(Mutex<Result<Arc<Link>, StoreError>>);

impl Standing {
    pub(super) fn new() -> Self {
        let cause = StoreError::Unavailable("it is not connected yet".into());
        Self(Mutex::new(Err(cause)))
    }

    pub(super) fn link(&self) -> Result<Arc<Link>, StoreError> {
        self.lock().clone()
    }

    fn set(&self, standing: Result<Arc<Link>, StoreError>) {
        *self.lock() = standing;
    }

    fn lock(&self) -> MutexGuard<'_, Result<Arc<Link>, StoreError>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Never ends: whoever started it aborts it.
pub(super) async fn supervise(
    plan: Arc<Plan>,
    calls: Arc<Calls>,
    standing: Arc<Standing>,
    ear: Arc<Ear>,
) {
    let counts = &calls.counts;
    let mut backoff = Backoff::new(plan.seed);
    let mut known: Vec<Address> = Vec::new();
    for connection in 1.. {
        let pushes = Pushes::new(connection, Arc::clone(&ear), Arc::clone(counts));
        let cause = match Link::connect(&plan, &known, &calls, &pushes).await {
            Ok(link) => {
                let link = Arc::new(link);
                standing.set(Ok(Arc::clone(&link)));
                counts.connected();
                ear.up(connection);
                let cause = keep(&link, &plan, &calls, &mut backoff).await;
                counts.lost();
                known = link.nodes();
                link.connection().lose(cause.clone());
                cause
            }
            Err(cause) => cause,
        };
        standing.set(Err(cause.clone()));
        ear.down(&cause);
        tokio::time::sleep(backoff.next()).await;
    }
}

/// Beats until the connection is lost, and answers why it is.
async fn keep(link: &Link, plan: &Plan, calls: &Calls, backoff: &mut Backoff) -> StoreError {
    let connection = link.connection();
    let mut beats = tokio::time::interval_at(Instant::now() + plan.beat(), plan.beat());
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut answered = Instant::now();
    loop {
        tokio::select! {
            cause = connection.lost() => return cause,
            _ = beats.tick() => {}
            () = link.has_changed() => {
                // The connection counts for itself how often it is silent.
                let _ = link.look().await;
                continue;
            }
        }
        loop {
            calls.counts.beat();
            let beat = tokio::select! {
                cause = connection.lost() => return cause,
                beat = link.beat() => beat,
            };
            match beat {
                Ok(()) => {
                    answered = Instant::now();
                    backoff.reset();
                    break;
                }
                // Asked again at once; the connection counts for itself how often it is silent.
                Err(_) if answered.elapsed() < plan.lease => {}
                Err(fault) => return fault.into_store_error(),
            }
            // An error that comes at once is not to be asked for without end.
            tokio::task::yield_now().await;
        }
    }
}
