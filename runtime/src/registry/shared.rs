//! A registry whose circuits are shared with other processes.

use std::io;
use std::io::Write;
use std::sync::Arc;

use tokio::sync::oneshot;

use crate::breaker::Breaker;
use crate::event::Event;
use crate::event::Warning;
use crate::fleet::Fleet;
use crate::fleet::Heard;
use crate::fleet::Read;
use crate::journal::JournalEntry;
use crate::journal::JournalError;
use crate::journal::read;
#[cfg(feature = "metrics")]
use crate::publish;
use crate::registry::Inner;
use crate::registry::Registry;
use crate::sharing::WhenStoreIsLost;
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
        // A private one, as tests have, shares what it is asked for and not all that is linked.
        let breakers = match self.inner.speaks {
            true => self.services(),
            false => self.inner.breakers.breakers(),
        };
        for breaker in breakers {
            self.inner.join_fleet(breaker);
        }
        Ok(())
    }
}

/// What has happened to the circuit of a service in all processes that share it, in the registry
/// in force: see [`Registry::journal`].
///
/// # Errors
///
/// As there.
pub fn journal(
    service: &str,
) -> impl Future<Output = Result<Vec<JournalEntry>, JournalError>> + Send + use<> {
    Registry::current().journal(service)
}

impl Registry {
    /// The last that has happened to the circuit of a service in all processes that share it,
    /// newest first, at most 100 entries: each transition and override with when, why and who.
    /// In Redis they are kept for 30 days after the last one.
    ///
    /// It may be awaited in every runtime, and without one: the store has a thread of its own.
    /// An answer, or an error, comes within about a quarter of a second.
    ///
    /// ```no_run
    /// # async fn show() -> Result<(), breakerbox::JournalError> {
    /// for entry in breakerbox::journal("stripe").await? {
    ///     println!("{entry}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`JournalError`] where there is no store, it cannot be read, or nobody declares the
    /// service.
    ///
    /// # Cancel safety
    ///
    /// It only reads. Dropped, it leaves nothing behind.
    pub fn journal(
        &self,
        service: &str,
    ) -> impl Future<Output = Result<Vec<JournalEntry>, JournalError>> + Send + use<> {
        let asked = self.ask_for_journal(service);
        async move {
            let answered = asked?.await.map_err(|_| JournalError::Closed)?;
            let entries = answered.map_err(|error| JournalError::Unavailable {
                cause: Arc::from(error.to_string()),
            })?;
            Ok(read(&entries))
        }
    }

    fn ask_for_journal(&self, service: &str) -> Result<oneshot::Receiver<Read>, JournalError> {
        let fleet = self.inner.fleet.get().ok_or(JournalError::NoStore)?;
        let breaker = self.breaker(service);
        let member = breaker.and_then(Breaker::member);
        let member = member.ok_or_else(|| JournalError::UnknownService(service.to_owned()))?;
        Ok(fleet.journal(member.circuit.clone()))
    }

    /// The metrics of the store.
    #[cfg(feature = "metrics")]
    pub(super) fn publish_store(&self, breakers: &[&Breaker]) {
        if let Some(fleet) = self.inner.fleet.get() {
            publish::store::publish(fleet, breakers);
        }
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
            Heard::Lost(cause, policy) => Event::StoreLost {
                cause: Arc::from(cause.to_string()),
                policy,
            },
            Heard::Differ(service, differences) => {
                return self.warn(Warning::NumbersDiffer {
                    service,
                    differences,
                });
            }
            Heard::Apart(service, cause) => {
                return self.warn(Warning::NotShared { service, cause });
            }
        };
        if self.listeners.is_empty()
            && self.speaks
            && let Event::StoreLost { cause, policy } = &event
        {
            // Standard error may be closed, and no call may suffer from that.
            let _ = writeln!(
                io::stderr(),
                "breakerbox: the store is lost: {cause}; until it is found, {policy}"
            );
        }
        self.listeners.tell(&event);
    }
}
