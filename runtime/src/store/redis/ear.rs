//! Tells the listener what happens, in order, and nothing of a connection that is over.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;

use crate::store::Entry;
use crate::store::Listener;
use crate::store::StoreError;

/// The lock is held while the listener is told, so that it hears of one thing at a time.
pub(super) struct Ear {
    listener: Arc<dyn Listener>,
    standing: Mutex<Standing>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// Nothing was told yet.
    New,
    /// The connection of this number is up.
    Up(u64),
    Down,
}

impl Ear {
    pub(super) fn new(listener: Arc<dyn Listener>) -> Self {
        Self {
            listener,
            standing: Mutex::new(Standing::New),
        }
    }

    pub(super) fn up(&self, connection: u64) {
        self.at(|standing| {
            *standing = Standing::Up(connection);
            self.listener.up();
        });
    }

    /// There is no connection, or none any more: told once until there is one again.
    pub(super) fn down(&self, cause: &StoreError) {
        self.at(|standing| {
            if *standing != Standing::Down {
                *standing = Standing::Down;
                self.listener.down(cause);
            }
        });
    }

    /// A message has come by the connection of this number. Before it is up, circuits will be
    /// asked for anyway; after it, the message may be older than what is known.
    pub(super) fn told(&self, connection: u64, circuit: &str, entry: &Entry) {
        self.at(|standing| {
            if *standing == Standing::Up(connection) {
                self.listener.told(circuit, &entry.told, &entry.origin);
            }
        });
    }

    /// Some process goes by other numbers, as the connection of this number says.
    pub(super) fn renumbered(&self, connection: u64, circuit: &str) {
        self.at(|standing| {
            if *standing == Standing::Up(connection) {
                self.listener.renumbered(circuit);
            }
        });
    }

    fn at(&self, tell: impl FnOnce(&mut Standing)) {
        let standing = self.standing.lock();
        tell(&mut standing.unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::fleet::Snapshot;
    use crate::rules::fleet::Told;
    use crate::rules::fleet::What;

    #[derive(Default)]
    struct Notes(Mutex<Vec<String>>);

    impl Notes {
        fn add(&self, note: &str) {
            let notes = self.0.lock();
            notes.expect("nobody panicked").push(note.to_owned());
        }
    }

    impl Listener for Notes {
        fn up(&self) {
            self.add("up");
        }

        fn down(&self, _: &StoreError) {
            self.add("down");
        }

        fn told(&self, circuit: &str, _: &Told, _: &Arc<str>) {
            self.add(circuit);
        }

        fn renumbered(&self, circuit: &str) {
            self.add(circuit);
        }
    }

    #[test]
    fn each_connection_is_heard_while_it_stands_and_no_longer() {
        let notes = Arc::new(Notes::default());
        let ear = Ear::new(Arc::clone(&notes) as Arc<dyn Listener>);
        let told = Told {
            what: What::Suspect,
            snapshot: Snapshot::default(),
            now: 1,
            instance: 1,
            live: None,
        };
        let told = Entry {
            told,
            origin: "worker:7".into(),
        };
        ear.down(&StoreError::TimedOut);
        ear.down(&StoreError::TimedOut);
        ear.told(1, "before it is up", &told);
        ear.up(1);
        ear.told(1, "stripe", &told);
        ear.down(&StoreError::TimedOut);
        ear.told(1, "after it", &told);
        ear.up(2);
        ear.told(1, "of the one before", &told);
        ear.told(2, "paypal", &told);
        let notes = notes.0.lock().expect("nobody panicked");
        assert_eq!(*notes, ["down", "up", "stripe", "down", "up", "paypal"]);
    }
}
