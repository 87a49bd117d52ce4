//! The numbers of a service while it lives: where they come from, and how they change.

use std::fmt;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crate::breaker::Breaker;
use crate::breaker::Service;
use crate::event::Event;
use crate::policy::Key;
use crate::policy::Policy;
use crate::policy::PolicyError;
use crate::settings::Layers;
use crate::settings::Setting;

pub(super) struct Configured {
    inner: Mutex<Inner>,
    /// Live changes come one after the other, each to what the one before has left. It is
    /// another lock, so that nobody else waits for the code of the user.
    updating: Mutex<()>,
    /// Whether the listeners are yet to hear of it.
    untold: AtomicBool,
}

struct Inner {
    layers: Layers,
    /// Made when they are first asked for.
    settings: Option<Arc<[Setting]>>,
    /// What the listeners have heard last.
    told: Option<Arc<[Setting]>>,
}

impl Configured {
    pub(super) const fn new(layers: Layers) -> Self {
        Self {
            inner: Mutex::new(Inner {
                layers,
                settings: None,
                told: None,
            }),
            updating: Mutex::new(()),
            untold: AtomicBool::new(true),
        }
    }

    pub(super) fn settings(&self, service: &str) -> Arc<[Setting]> {
        lock(&self.inner).settings(service)
    }
}

impl Inner {
    fn settings(&mut self, service: &str) -> Arc<[Setting]> {
        let layers = &self.layers;
        let made = self
            .settings
            .get_or_insert_with(|| layers.settings(service).into());
        Arc::clone(made)
    }
}

impl Service {
    /// What is in force, if the listeners have not heard of it.
    pub(crate) fn take_configured(&self) -> Option<Event> {
        // Taken back first: a change that comes now is told once more.
        let untold = &self.configured.untold;
        let is_untold = untold.load(Relaxed) && untold.swap(false, Relaxed);
        if !is_untold {
            return None;
        }
        let mut inner = lock(&self.configured.inner);
        let settings = inner.settings(self.name);
        if inner.told.as_ref() == Some(&settings) {
            return None;
        }
        inner.told = Some(Arc::clone(&settings));
        Some(Event::Configured {
            service: self.name,
            settings,
        })
    }

    /// Has listeners that came late hear of it, too.
    pub(crate) fn retell_configured(&self) {
        lock(&self.configured.inner).told = None;
        self.configured.untold.store(true, Relaxed);
    }
}

/// A breaker whose numbers nobody else changes while this lives.
pub(crate) struct Held<'b> {
    breaker: &'b Breaker,
    inner: MutexGuard<'b, Inner>,
}

impl Breaker {
    /// Changes the numbers of this service while it runs. `change` is given those in force,
    /// with what is written and what is not, and answers others; the keys that it changes
    /// come before every other place from now on, the rest stay as they are.
    ///
    /// ```
    /// # let registry = breakerbox::Registry::builder().declare("stripe").build().unwrap();
    /// # let stripe = registry.breaker("stripe").unwrap();
    /// stripe.update(|policy| policy.threshold(3))?;
    /// assert_eq!(stripe.policy().get_threshold(), Some(3));
    /// assert!(stripe.update(|policy| policy.threshold(0)).is_err());
    /// # Ok::<(), breakerbox::PolicyError>(())
    /// ```
    ///
    /// State and counts stay: another threshold is judged at the next outcome, another
    /// cooldown at the next opening. A window of another kind or length starts empty, and with
    /// it a half-open round from its beginning.
    ///
    /// A key that `change` does not write stays as it is:
    /// [`clear_update`](Self::clear_update) takes all live changes back.
    ///
    /// Live changes of one service wait for each other: `change` is not to make another.
    ///
    /// # Where processes share their circuits
    ///
    /// With the feature `redis`, a live change is one of all processes that share the circuit
    /// of this service, also of those that start later, for as long as one of them lives. Here
    /// it is in force when this returns, and in the others a moment later. Keys that do not go
    /// with what is written there otherwise are left out there, with a
    /// [`Warning::Unused`](crate::Warning::Unused).
    ///
    /// Two changes of different keys at once are both in force in the end; of two changes of
    /// one key it is the later one. A change that is made while the store cannot be reached is
    /// one of this process alone until it is found again. It is told to the others then, but
    /// for keys that they have changed after it, and unless they have taken all live changes
    /// back after it.
    ///
    /// # Errors
    ///
    /// [`PolicyError`] where no breaker can work with the new numbers. Nothing is changed
    /// then.
    pub fn update(&self, change: impl FnOnce(Policy) -> Policy) -> Result<(), PolicyError> {
        let service = self.name();
        let _one_at_a_time = lock(&self.service.configured.updating);
        let before = self.hold().layers().policy(service);
        let after = change(before);
        // The configuration may have been read again meanwhile: only what was changed
        // here is put on top of it.
        let held = self.hold();
        let mut layers = held.layers().clone();
        let mut changed = Policy::new();
        for &key in Key::ALL {
            if after.writes(key) && !after.same(key, &before) {
                changed.copy(key, &after);
            }
        }
        layers.live = changed.over(layers.live);
        layers.check(service)?;
        self.share_live(false, changed);
        held.put(layers);
        Ok(())
    }

    /// Takes all live changes of this service back, so that the numbers are again those of
    /// code, environment, file and attribute. Says whether there were any.
    ///
    /// Where processes share the circuit of this service, they are taken back in all of them,
    /// as [`update`](Self::update) changes them in all.
    pub fn clear_update(&self) -> bool {
        let held = self.hold();
        let mut layers = held.layers().clone();
        let had_any = layers.is_live();
        self.share_live(true, Policy::new());
        if had_any {
            layers.live = Policy::new();
            // What was set up goes together; what a late call brought may not.
            drop(layers.leave_out(self.name()));
            held.put(layers);
        }
        had_any
    }

    /// Keeps the numbers as they are until it is dropped.
    pub(crate) fn hold(&self) -> Held<'_> {
        Held {
            breaker: self,
            inner: lock(&self.service.configured.inner),
        }
    }
}

impl Held<'_> {
    pub(crate) fn layers(&self) -> &Layers {
        &self.inner.layers
    }

    /// Puts other numbers in force. State and counts stay.
    pub(crate) fn put(mut self, layers: Layers) {
        let service = self.breaker.name();
        let (before, after) = (self.inner.layers.policy(service), layers.policy(service));
        self.inner.layers = layers;
        self.inner.settings = None;
        if Key::ALL.iter().any(|key| !after.same(*key, &before)) {
            self.breaker.set_policy(after);
        }
        // Whether that is worth telling is judged by whoever tells it.
        self.breaker.service.configured.untold.store(true, Relaxed);
        self.breaker.service.host.bell.ring();
    }
}

impl fmt::Debug for Held<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Held").field(self.breaker).finish()
    }
}

/// Nothing of it is half done when the code of a user panics.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
