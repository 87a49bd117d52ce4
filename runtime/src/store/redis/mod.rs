//! A store in Redis: one connection to a process, which carries the commands and the messages
//! of all its circuits.

mod address;
mod backoff;
mod calls;
mod changes;
mod cluster;
#[cfg(test)]
mod conformance;
mod connection;
mod counts;
#[cfg(test)]
mod differential;
mod ear;
mod fault;
mod link;
mod names;
mod nodes;
mod options;
mod plan;
mod pushes;
mod sentinel;
mod server;
mod slots;
mod stream;
mod supervisor;
#[cfg(test)]
mod tests;
mod time;
mod tls;
#[cfg(test)]
mod twin;
mod wire;

use std::fmt;
use std::sync::Arc;
use std::sync::OnceLock;
use std::time::Duration;

use redis::Cmd;
use tokio::task::AbortHandle;

use crate::policy::Policy;
use crate::rules::fleet::Request;
use crate::store::Comparison;
use crate::store::Journal;
use crate::store::Listener;
use crate::store::Note;
use crate::store::Store;
use crate::store::StoreError;
use crate::store::Submission;

use calls::Calls;
use counts::Op;
use ear::Ear;
use fault::Fault;
use fault::unavailable;
use plan::Plan;
use supervisor::Standing;

pub use address::AddressError;
#[cfg(any(test, feature = "metrics"))]
pub(crate) use counts::Counts;
pub use options::Redis;

/// Circuits in Redis. Dropped, it disconnects.
pub(crate) struct RedisStore {
    plan: Arc<Plan>,
    calls: Arc<Calls>,
    standing: Arc<Standing>,
    supervisor: OnceLock<AbortHandle>,
}

impl RedisStore {
    fn new(plan: Plan) -> Self {
        let calls = Calls {
            prefix: plan.prefix.clone(),
            origin: plan.origin.clone(),
            counts: Arc::default(),
        };
        Self {
            plan: Arc::new(plan),
            calls: Arc::new(calls),
            standing: Arc::new(Standing::new()),
            supervisor: OnceLock::new(),
        }
    }

    /// Asks for texts that are kept of a circuit.
    async fn list(&self, op: Op, circuit: &str, command: &Cmd) -> Result<Vec<String>, StoreError> {
        let counts = &self.calls.counts;
        let listed = match self.standing.link() {
            Ok(link) => {
                counts.sent_for(op);
                let listed = link.list(circuit, command).await;
                listed.map_err(Fault::into_store_error)
            }
            Err(cause) => Err(unavailable(cause)),
        };
        listed.inspect_err(|error| counts.dropped_for(error))
    }
}

impl Store for RedisStore {
    /// # Panics
    ///
    /// Outside of a tokio runtime with its timer and its sockets.
    fn start(&self, listener: Arc<dyn Listener>) {
        self.supervisor.get_or_init(|| {
            let supervised = supervisor::supervise(
                Arc::clone(&self.plan),
                Arc::clone(&self.calls),
                Arc::clone(&self.standing),
                Arc::new(Ear::new(listener)),
            );
            tokio::spawn(supervised).abort_handle()
        });
    }

    fn submit<'a>(
        &'a self,
        circuit: &'a str,
        request: Request,
        policy: &'a Policy,
        within: Duration,
    ) -> Submission<'a> {
        Box::pin(async move {
            let counts = &self.calls.counts;
            let called = match self.standing.link() {
                Ok(link) => {
                    counts.sent(&request.command);
                    let called = link.call(circuit, &request, policy, within).await;
                    called.map_err(Fault::into_store_error)
                }
                Err(cause) => Err(unavailable(cause)),
            };
            called.inspect_err(|error| counts.dropped_for(error))
        })
    }

    fn journal<'a>(&'a self, circuit: &'a str, limit: usize) -> Journal<'a> {
        Box::pin(async move {
            if limit == 0 {
                return Ok(Vec::new());
            }
            let command = self.calls.journal(circuit, limit);
            let texts = self.list(Op::Journal, circuit, &command).await?;
            // What a version to come has written is left out.
            let entries = texts.iter().filter_map(|text| wire::message(text));
            Ok(entries.map(|(_, entry)| entry).collect())
        })
    }

    fn compare<'a>(&'a self, circuit: &'a str, note: &'a Note) -> Comparison<'a> {
        Box::pin(async move {
            let command = self.calls.compare(circuit, note);
            self.list(Op::Numbers, circuit, &command).await
        })
    }

    fn polls(&self) -> Option<Duration> {
        let link = self.standing.link().ok()?;
        link.polls(&self.plan)
    }

    #[cfg(any(test, feature = "metrics"))]
    fn counts(&self) -> Option<Arc<Counts>> {
        Some(Arc::clone(&self.calls.counts))
    }
}

impl Drop for RedisStore {
    fn drop(&mut self) {
        if let Some(supervisor) = self.supervisor.get() {
            supervisor.abort();
        }
    }
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore").finish_non_exhaustive()
    }
}
