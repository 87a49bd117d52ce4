//! A store in the memory of one process, for several registries in it.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::fmt;
use std::future;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::Weak;
use std::time::Duration;
use std::time::SystemTime;
use std::time::UNIX_EPOCH;

use crate::policy::Policy;
use crate::rules::fleet;
use crate::rules::fleet::Request;
use crate::rules::fleet::Shared;
use crate::rules::fleet::Told;
use crate::rules::fleet::What;
use crate::store::Comparison;
use crate::store::Entry;
use crate::store::JOURNAL;
use crate::store::Journal;
use crate::store::Listener;
use crate::store::Note;
use crate::store::Store;
use crate::store::StoreError;
use crate::store::Submission;
use crate::store::name;
use crate::store::noted::Noted;

/// A store in memory: registries that have clones of it share their circuits, as processes do
/// that share a Redis server. It is for tests of what a fleet does.
#[derive(Clone)]
pub struct MemoryStore {
    hub: Arc<Hub>,
    /// What the process is called that has this clone.
    origin: Arc<str>,
}

#[derive(Default)]
struct Hub {
    /// Held while everybody is told, so that all hear in one order.
    circuits: Mutex<HashMap<String, Kept>>,
    /// Those that are left: a registry may be gone long before the store is.
    listeners: Mutex<Vec<Weak<dyn Listener>>>,
}

/// All of one circuit.
#[derive(Default)]
struct Kept {
    state: Option<Shared>,
    /// Newest first.
    journal: VecDeque<Entry>,
    noted: Noted,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same store, for a process that events and the journal call by this name; its host
    /// and number where nothing is said.
    #[must_use]
    pub fn instance(mut self, name: impl AsRef<str>) -> Self {
        self.origin = Arc::from(name.as_ref());
        self
    }

    /// Loses all that it knows, as a server does that is started again.
    pub fn lose_everything(&self) {
        self.hub.circuits().clear();
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self {
            hub: Arc::default(),
            origin: Arc::from(name::of_process()),
        }
    }
}

impl Hub {
    fn circuits(&self) -> MutexGuard<'_, HashMap<String, Kept>> {
        self.circuits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listeners(&self) -> Vec<Arc<dyn Listener>> {
        let listeners = self.listeners.lock();
        let mut listeners = listeners.unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|it| it.strong_count() > 0);
        listeners.iter().filter_map(Weak::upgrade).collect()
    }
}

impl Store for MemoryStore {
    fn start(&self, listener: Arc<dyn Listener>) {
        let listeners = self.hub.listeners.lock();
        listeners
            .unwrap_or_else(PoisonError::into_inner)
            .push(Arc::downgrade(&listener));
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
        let before = circuits.get(circuit).and_then(|kept| kept.state.as_ref());
        let applied = fleet::apply(before, &request, policy, now());
        if applied.is_changed {
            let kept = circuits.entry(circuit.to_owned()).or_default();
            kept.state = applied.state;
            for told in &applied.told {
                kept.enter(told, &self.origin);
            }
        }
        for told in &applied.told {
            for listener in self.hub.listeners() {
                listener.told(circuit, told, &self.origin);
            }
        }
        drop(circuits);
        Box::pin(future::ready(Ok::<_, StoreError>(applied.reply)))
    }

    fn compare<'a>(&'a self, circuit: &'a str, note: &'a Note) -> Comparison<'a> {
        let mut circuits = self.hub.circuits();
        let kept = circuits.entry(circuit.to_owned()).or_default();
        let (alive, is_news) = kept.noted.note(note, now());
        if is_news {
            for listener in self.hub.listeners() {
                listener.renumbered(circuit);
            }
        }
        drop(circuits);
        Box::pin(future::ready(Ok(alive)))
    }

    fn polls(&self) -> Option<Duration> {
        None
    }

    fn journal<'a>(&'a self, circuit: &'a str, limit: usize) -> Journal<'a> {
        let circuits = self.hub.circuits();
        let kept = circuits.get(circuit);
        let entries = kept.map(|kept| kept.journal.iter().take(limit).cloned().collect());
        Box::pin(future::ready(Ok(entries.unwrap_or_default())))
    }
}

impl Kept {
    fn enter(&mut self, told: &Told, origin: &Arc<str>) {
        match told.what {
            What::Moved { .. } | What::Restored | What::Renumbered => {}
            // Nothing has happened yet.
            What::Suspect => return,
        }
        self.journal.push_front(Entry {
            told: told.clone(),
            origin: Arc::clone(origin),
        });
        self.journal.truncate(JOURNAL);
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

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::Context;
    use std::task::Poll;
    use std::task::Waker;

    use super::*;
    use crate::rules::fleet::Command;
    use crate::rules::fleet::Flush;
    use crate::rules::fleet::Force;
    use crate::rules::fleet::View;
    use crate::state::State;

    fn at_once<T>(future: impl Future<Output = T>) -> T {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => value,
            Poll::Pending => panic!("memory waits for nobody"),
        }
    }

    fn submit(store: &MemoryStore, command: Command) {
        let request = Request {
            command,
            view: View::default(),
            instance: 7,
            draw: 0,
            deadline: 0,
        };
        let policy = Policy::new();
        at_once(store.submit("stripe", request, &policy, Duration::ZERO)).expect("an answer");
    }

    fn failures(failures: u32) -> Command {
        Command::Flush(Flush {
            failures,
            ..Flush::default()
        })
    }

    #[test]
    fn the_journal_holds_what_happened_and_no_suspicion() {
        let store = MemoryStore::new();
        submit(&store, failures(1));
        assert_eq!(at_once(store.journal("stripe", 9)), Ok(Vec::new()));
        submit(&store, failures(4));
        submit(&store, Command::Force(Force::Reset));
        let entries = at_once(store.journal("stripe", 9)).expect("a journal");
        let moves: Vec<_> = entries.iter().map(|entry| entry.told.what).collect();
        let [What::Moved { to: last, .. }, What::Moved { to: first, .. }] = moves.as_slice() else {
            panic!("{moves:?}");
        };
        assert_eq!((*first, *last), (State::Open, State::Closed));
        let newest = at_once(store.journal("stripe", 1)).expect("a journal");
        assert_eq!(newest, entries[..1]);
    }

    #[test]
    fn the_journal_of_a_circuit_does_not_grow_for_ever() {
        let store = MemoryStore::new();
        for _ in 0..JOURNAL {
            submit(&store, failures(5));
            submit(&store, Command::Force(Force::Reset));
        }
        let entries = at_once(store.journal("stripe", usize::MAX)).expect("a journal");
        assert_eq!(entries.len(), JOURNAL);
    }

    struct Deaf;

    impl Listener for Deaf {
        fn up(&self) {}
        fn down(&self, _: &StoreError) {}
        fn told(&self, _: &str, _: &Told, _: &Arc<str>) {}
        fn renumbered(&self, _: &str) {}
    }

    /// It kept all that ever were, with all that they knew.
    #[test]
    fn registries_that_are_gone_leave_nothing_behind() {
        let store = MemoryStore::new();
        for _ in 0..9 {
            let listener = Arc::new(Deaf);
            store.start(Arc::clone(&listener) as Arc<_>);
            assert_eq!(store.hub.listeners().len(), 1);
            assert_eq!(Arc::strong_count(&listener), 1);
        }
        assert_eq!(store.hub.listeners().len(), 0);
    }
}
