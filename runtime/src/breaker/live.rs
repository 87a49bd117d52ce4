//! Live changes that all processes have.

use std::sync::MutexGuard;
use std::time::Instant;

use crate::breaker::Breaker;
use crate::breaker::configured::Held;
use crate::event::Warning;
use crate::member::Heard;
use crate::member::LiveChanges;
use crate::member::Member;
use crate::policy::Key;
use crate::policy::Policy;
use crate::policy::written;
use crate::settings::ConfigError;
use crate::settings::Source;

impl Breaker {
    /// Somebody changes this here, for all. Nobody else changes the numbers while that is
    /// noted.
    pub(super) fn share_live(&self, takes_back: bool, changed: Policy) {
        // The numbers are those of the service, whichever of its breakers is asked.
        let main = self.service.main().unwrap_or(self);
        if let Some(member) = main.member() {
            let now = Instant::now();
            member.live().wish(takes_back, changed, now);
            member.bell.notify_one();
        }
    }

    /// What was changed here before the circuit was shared is for all, too.
    pub(super) fn share_earlier_live(&self) {
        let held = self.hold();
        let live = held.layers().live;
        if written(&live).next().is_some() {
            self.share_live(false, live);
        }
    }

    /// The store has said which live change is the last one, at `now` by its time, and perhaps
    /// what it says.
    pub(crate) fn hear_live(&self, id: u64, text: Option<&str>, now: u64) {
        let Some(member) = self.member() else {
            return;
        };
        if id <= member.live().told().id {
            return;
        }
        let held = self.hold();
        let mut live = member.live();
        match live.hear(id, text, now, Instant::now()) {
            Heard::Nothing => {}
            Heard::Unread => member.ask_again(),
            Heard::News => self.put_live(held, live),
        }
    }

    /// A change that was made here is one that all have: it has this number.
    pub(crate) fn told_live(&self, member: &Member, id: u64) {
        let held = self.hold();
        let mut live = member.live();
        live.done(id);
        self.put_live(held, live);
    }

    /// What is written here otherwise has changed, so other keys of the live changes may go with
    /// it.
    #[cfg(feature = "config")]
    pub(crate) fn judge_live_again(&self) {
        if let Some(member) = self.member() {
            let held = self.hold();
            self.put_live(held, member.live());
        }
    }

    /// Puts in force what a breaker can work with here.
    fn put_live(&self, held: Held<'_>, mut live: MutexGuard<'_, LiveChanges>) {
        let service = self.name();
        let text = live.in_force();
        let mut layers = held.layers().clone();
        let is_in_force = |key: &Key| layers.live.same(*key, &text.policy);
        let is_news = !Key::ALL.iter().all(is_in_force);
        let mut complaints: Vec<_> = text.unread().map(|key| unread(service, key)).collect();
        if is_news {
            complaints.extend(layers.put_live(service, text.policy));
        }
        let new = live.complain(complaints);
        drop(live);
        if is_news {
            held.put(layers);
        } else {
            drop(held);
        }
        for error in new {
            self.service.warn(Warning::Unused(error));
        }
    }
}

fn unread(service: &str, key: &str) -> ConfigError {
    let message = format!(
        "service `{service}`: another version has changed `{key}`, which this one cannot read; \
         it is left out"
    );
    ConfigError::new(Source::Live, message)
        .about(service)
        .at_key(key)
}
