//! A registry whose circuits are shared with other processes.

use std::io;
use std::io::Write;
use std::sync::Arc;

use crate::breaker::Breaker;
use crate::event::Event;
use crate::fleet::Fleet;
use crate::fleet::Heard;
use crate::member::WhenStoreIsLost;
use crate::registry::Inner;
use crate::registry::Registry;
use crate::store::SharedStore;
use crate::store::Store;

/// What a builder says about it.
#[derive(Default)]
pub(super) struct Sharing {
    pub(super) store: Option<SharedStore>,
    pub(super) when_lost: WhenStoreIsLost,
}

impl Registry {
    /// From now on its circuits are shared.
    pub(super) fn share(
        &self,
        store: Arc<dyn Store>,
        when_lost: WhenStoreIsLost,
    ) -> io::Result<()> {
        // The thread lives on after a registry that is only dropped, for a moment.
        let registry = Arc::downgrade(&self.inner);
        let tell = move |heard| {
            if let Some(inner) = registry.upgrade() {
                inner.tell_of_store(heard);
            }
        };
        let fleet = Fleet::start(store, when_lost, tell)?;
        // A builder is applied once.
        let _ = self.inner.fleet.set(fleet);
        for breaker in self.services() {
            self.inner.join_fleet(breaker);
        }
        Ok(())
    }
}

impl Inner {
    pub(super) fn join_fleet(&self, breaker: &'static Breaker) {
        if let Some(fleet) = self.fleet.get() {
            fleet.join(breaker);
        }
    }

    pub(super) fn leave_fleet(&self) {
        if let Some(fleet) = self.fleet.get() {
            fleet.close();
        }
    }

    fn tell_of_store(&self, heard: Heard) {
        let event = match heard {
            Heard::Found => Event::StoreFound,
            Heard::Lost(cause) => Event::StoreLost {
                cause: Arc::from(cause.to_string()),
            },
        };
        if self.listeners.is_empty()
            && self.speaks
            && let Event::StoreLost { cause } = &event
        {
            // Standard error may be closed, and no call may suffer from that.
            let _ = writeln!(io::stderr(), "breakerbox: the store is lost: {cause}");
        }
        self.listeners.tell(&event);
    }
}
