//! A store in the memory of one process, for several registries in it.

use std::collections::HashMap;
use std::fmt;
use std::future;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::time::Duration;
use std::time::SystemTime;
use std::time::UNIX_EPOCH;

use crate::policy::Policy;
use crate::rules::fleet;
use crate::rules::fleet::Request;
use crate::rules::fleet::Shared;
use crate::store::Listener;
use crate::store::Store;
use crate::store::StoreError;
use crate::store::Submission;

/// A store in memory: registries that have clones of it share their circuits, as processes do
/// that share a Redis server. It is for tests of what a fleet does.
#[derive(Clone, Default)]
pub struct MemoryStore {
    hub: Arc<Hub>,
}

#[derive(Default)]
struct Hub {
    /// Held while everybody is told, so that all hear in one order.
    circuits: Mutex<HashMap<String, Shared>>,
    listeners: Mutex<Vec<Arc<dyn Listener>>>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Loses all that it knows, as a server does that is started again.
    pub fn lose_everything(&self) {
        self.hub.circuits().clear();
    }
}

impl Hub {
    fn circuits(&self) -> MutexGuard<'_, HashMap<String, Shared>> {
        self.circuits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listeners(&self) -> Vec<Arc<dyn Listener>> {
        let listeners = self.listeners.lock();
        listeners.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Store for MemoryStore {
    fn start(&self, listener: Arc<dyn Listener>) {
        let listeners = self.hub.listeners.lock();
        listeners
            .unwrap_or_else(PoisonError::into_inner)
            .push(Arc::clone(&listener));
        listener.up();
    }

    fn submit<'a>(
        &'a self,
        circuit: &'a str,
        request: Request,
        policy: &'a Policy,
        _within: Duration,
    ) -> Submission<'a> {
        let mut circuits = self.hub.circuits();
        let applied = fleet::apply(circuits.get(circuit), &request, policy, now());
        match applied.state {
            Some(state) if applied.is_changed => {
                circuits.insert(circuit.to_owned(), state);
            }
            Some(_) | None => {}
        }
        for told in &applied.told {
            for listener in self.hub.listeners() {
                listener.told(circuit, told);
            }
        }
        drop(circuits);
        Box::pin(future::ready(Ok::<_, StoreError>(applied.reply)))
    }

    fn polls(&self) -> Option<Duration> {
        None
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

/// Milliseconds since 1970.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX))
}
