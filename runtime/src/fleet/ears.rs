//! Hears what the store tells, and hands it to the circuits.

use std::collections::HashMap;
use std::mem;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::time::Duration;
use std::time::Instant;

use crate::breaker::Breaker;
use crate::breaker::News;
use crate::member::Link;
use crate::member::Probes;
use crate::numbers::Difference;
use crate::rules::fleet::Told;
use crate::rules::fleet::What;
use crate::sharing::WhenStoreIsLost;
use crate::store::Listener;
use crate::store::StoreError;

/// What there is to tell of the store itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Found,
    Lost(StoreError, WhenStoreIsLost),
    /// Others go by other numbers.
    Differ(&'static str, Vec<Difference>),
    /// The store does not take the circuit.
    Apart(&'static str, Arc<str>),
}

/// So long nobody is told again of what concerns many circuits, and comes and goes.
const KNOWN: Duration = Duration::from_secs(600);

pub(super) struct Ears {
    link: Arc<Link>,
    breakers: Mutex<HashMap<String, &'static Breaker>>,
    /// Why circuits were not taken, and when that was told.
    apart: Mutex<Vec<(Arc<str>, Instant)>>,
    /// A registry is one that may be used after a panic, and so is what it tells with.
    tell: AssertUnwindSafe<Box<dyn Fn(Heard) + Send + Sync>>,
}

impl Ears {
    pub(super) fn new(link: Arc<Link>, tell: Box<dyn Fn(Heard) + Send + Sync>) -> Self {
        Self {
            link,
            breakers: Mutex::default(),
            apart: Mutex::default(),
            tell: AssertUnwindSafe(tell),
        }
    }

    pub(super) fn know(&self, breaker: &'static Breaker) {
        let Some(member) = breaker.member() else {
            return;
        };
        let mut breakers = self.breakers();
        if !self.link.has_left() {
            breakers.insert(member.circuit.clone(), breaker);
        }
        let is_lost = self.link.is_lost();
        drop(breakers);
        if is_lost {
            breaker.lose(self.link.when_lost);
        }
    }

    /// Nobody is heard any more, and nobody asked.
    pub(super) fn leave(&self) {
        self.link.leave();
        let breakers = mem::take(&mut *self.breakers());
        for breaker in breakers.into_values() {
            if let Some(member) = breaker.member() {
                member.probes(Probes::lose_all);
            }
        }
    }

    /// Others go by other numbers than the circuit of this service.
    pub(super) fn differ(&self, service: &'static str, differences: Vec<Difference>) {
        (self.tell)(Heard::Differ(service, differences));
    }

    /// The store does not take the circuit of this service.
    pub(super) fn apart(&self, service: &'static str, cause: &Arc<str>, now: Instant) {
        let mut told = self.apart.lock().unwrap_or_else(PoisonError::into_inner);
        told.retain(|(_, at)| now.saturating_duration_since(*at) < KNOWN);
        let is_news = told.iter().all(|(known, _)| known != cause);
        if is_news {
            told.push((Arc::clone(cause), now));
        }
        drop(told);
        if is_news {
            (self.tell)(Heard::Apart(service, Arc::clone(cause)));
        }
    }

    /// All circuits, and whether they are lost from now on: none is missed that joins meanwhile.
    fn lose(&self) -> Option<Vec<&'static Breaker>> {
        let breakers = self.breakers();
        let lost = self.link.set_lost();
        lost.then(|| breakers.values().copied().collect())
    }

    fn all(&self) -> Vec<&'static Breaker> {
        self.breakers().values().copied().collect()
    }

    fn breakers(&self) -> MutexGuard<'_, HashMap<String, &'static Breaker>> {
        self.breakers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener for Ears {
    fn up(&self) {
        let was_down = self.link.set_up();
        for breaker in self.all() {
            if let Some(member) = breaker.member() {
                member.ask_again();
            }
        }
        if was_down {
            (self.tell)(Heard::Found);
        }
    }

    fn down(&self, cause: &StoreError) {
        let Some(lost) = self.lose() else {
            return;
        };
        for breaker in lost {
            if let Some(member) = breaker.member() {
                member.probes(Probes::lose_all);
                member.bell.notify_one();
            }
            breaker.lose(self.link.when_lost);
        }
        (self.tell)(Heard::Lost(cause.clone(), self.link.when_lost));
    }

    fn told(&self, circuit: &str, told: &Told, origin: &Arc<str>) {
        let Some(breaker) = self.breakers().get(circuit).copied() else {
            return;
        };
        if let Some(member) = breaker.member() {
            member.was_told(told.snapshot.epoch);
        }
        breaker.hear_live(told.snapshot.live, told.live.as_deref(), told.now);
        let is_other = told.instance != self.link.instance;
        let news = News {
            reason: match told.what {
                What::Moved { reason, .. } => Some(reason),
                What::Restored | What::Renumbered | What::Suspect => None,
            },
            origin: is_other.then(|| Arc::clone(origin)),
        };
        breaker.hear(&told.snapshot, told.now, &news, false);
    }

    fn renumbered(&self, circuit: &str) {
        let breaker = self.breakers().get(circuit).copied();
        if let Some(member) = breaker.and_then(Breaker::member) {
            member.compare_again();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_concerns_many_circuits_is_told_once_in_a_while() {
        let heard: Arc<Mutex<Vec<Heard>>> = Arc::default();
        let ears = Ears::new(Arc::new(Link::new(1, WhenStoreIsLost::Local)), {
            let heard = Arc::clone(&heard);
            Box::new(move |told| heard.lock().expect("nobody panics").push(told))
        });
        let (denied, full) = (
            Arc::from("it does not allow that"),
            Arc::from("it has no room"),
        );
        let now = Instant::now();
        for service in ["stripe", "mail"] {
            ears.apart(service, &denied, now);
        }
        ears.apart("stripe", &full, now);
        ears.apart("stripe", &denied, now + KNOWN / 2);
        ears.apart("mail", &denied, now + KNOWN);
        let told = heard.lock().expect("nobody panics").clone();
        let expected = [
            Heard::Apart("stripe", Arc::clone(&denied)),
            Heard::Apart("stripe", full),
            Heard::Apart("mail", denied),
        ];
        assert_eq!(told, expected);
    }
}
