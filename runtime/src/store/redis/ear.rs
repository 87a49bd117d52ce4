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
