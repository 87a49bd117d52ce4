//! The live changes of a service: those that all processes know of, and those that were made
//! here and are still to be told.
//!
//! All have the last that the store was told. A change that was made here is in force here at
//! once, on top of that; it is told with the number of the one that it was put on, and where
//! the store knows a later one it is put on that and told again. So of two changes at once none
//! is lost, and of one key the later word counts.

use std::time::Instant;

use crate::policy::Policy;
use crate::policy::PolicyText;
use crate::policy::written;
use crate::rules::fleet::Live;
use crate::settings::ConfigError;

/// What somebody has changed here since it was told last.
#[derive(Clone, Debug)]
struct Change {
    /// All changes before are taken back.
    takes_back: bool,
    changed: Policy,
    made: Instant,
}

#[derive(Debug, Default)]
pub(crate) struct LiveChanges {
    /// The last that the store was told, as far as it is known here.
    told: Live,
    /// What is on its way to the store.
    sent: Option<Change>,
    /// What that says. Nobody else is taken for its author.
    tried: Option<String>,
    /// What is not.
    wished: Option<Change>,
    /// What was complained about last.
    complaints: Vec<ConfigError>,
}

/// What it means to be told of a live change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Nothing that was not known.
    Nothing,
    /// Other numbers are in force.
    News,
    /// There is a later one, and what it says has to be asked for.
    Unread,
}

impl LiveChanges {
    /// What this process knows to be told.
    pub(crate) const fn told(&self) -> &Live {
        &self.told
    }

    /// Somebody has changed this here.
    pub(crate) fn wish(&mut self, takes_back: bool, changed: Policy, made: Instant) {
        let wish = Change {
            takes_back,
            changed,
            made,
        };
        self.wished = Some(wish.after(self.wished.take()));
    }

    /// What is in force here, as far as a breaker can work with it.
    pub(crate) fn in_force(&self) -> PolicyText {
        let mut text = PolicyText::read(&self.told.text);
        for change in self.sent.iter().chain(&self.wished) {
            change.put_on(&mut text);
        }
        text
    }

    /// The store has said that this is the last one, at `now` by its time.
    pub(crate) fn hear(&mut self, id: u64, text: Option<&str>, now: u64, here: Instant) -> Heard {
        if id <= self.told.id {
            return Heard::Nothing;
        }
        let Some(text) = text else {
            return Heard::Unread;
        };
        let later = Live {
            id,
            text: text.to_owned(),
        };
        if self.tried.as_deref() != Some(text) {
            for change in [&mut self.sent, &mut self.wished] {
                let age = |it: &Change| here.saturating_duration_since(it.made).as_millis();
                let made = |it| now.saturating_sub(u64::try_from(age(it)).unwrap_or(u64::MAX));
                if change.as_ref().is_some_and(|it| made(it) < id) {
                    *change = change.take().and_then(|it| it.before(&self.told, &later));
                }
            }
        }
        self.told = later;
        Heard::News
    }

    /// What is to be told now, and which one it is put on.
    pub(crate) fn send(&mut self) -> Option<(String, u64)> {
        let wished = self.wished.take()?;
        let mut text = PolicyText::read(&self.told.text);
        wished.put_on(&mut text);
        let text = text.write();
        if text == self.told.text {
            return None;
        }
        self.sent = Some(wished);
        self.tried = Some(text.clone());
        Some((text, self.told.id))
    }

    /// What was sent was told, and has this number.
    pub(crate) fn done(&mut self, id: u64) {
        self.sent = None;
        let tried = self.tried.take();
        if let Some(text) = tried
            && id > self.told.id
        {
            self.told = Live { id, text };
        }
    }

    /// What was sent was not told, or nobody knows whether it was.
    pub(crate) fn failed(&mut self) {
        let sent = self.sent.take();
        self.wished = match self.wished.take() {
            Some(wished) => Some(wished.after(sent)),
            None => sent,
        };
    }

    /// Those of the complaints that were not there the last time.
    pub(crate) fn complain(&mut self, complaints: Vec<ConfigError>) -> Vec<ConfigError> {
        let is_new = |it: &&ConfigError| !self.complaints.contains(it);
        let new = complaints.iter().filter(is_new).cloned().collect();
        self.complaints = complaints;
        new
    }
}

impl Change {
    /// Both as one.
    fn after(self, earlier: Option<Self>) -> Self {
        match earlier {
            Some(earlier) if !self.takes_back => Self {
                takes_back: earlier.takes_back,
                changed: self.changed.over(earlier.changed),
                made: self.made,
            },
            _ => self,
        }
    }

    fn put_on(&self, text: &mut PolicyText) {
        if self.takes_back {
            *text = PolicyText::default();
        }
        text.put(self.changed);
    }

    /// What is left of a change that was made before another one, of which it did not know:
    /// what that has not touched.
    fn before(mut self, told: &Live, later: &Live) -> Option<Self> {
        if later.text.is_empty() {
            return None;
        }
        self.takes_back = false;
        let told = PolicyText::read(&told.text).policy;
        let later = PolicyText::read(&later.text).policy;
        for key in written(&self.changed) {
            if !told.same(key, &later) {
                self.changed.copy(key, &Policy::new());
            }
        }
        let is_left = written(&self.changed).next().is_some();
        is_left.then_some(self)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const NOW: u64 = 1_800_000_000_000;

    fn in_force(changes: &LiveChanges) -> String {
        changes.in_force().write()
    }

    fn hear(changes: &mut LiveChanges, id: u64, text: &str, here: Instant) -> Heard {
        changes.hear(id, Some(text), id, here)
    }

    #[test]
    fn what_is_changed_here_is_in_force_before_it_is_told() {
        let (mut changes, here) = (LiveChanges::default(), Instant::now());
        hear(&mut changes, NOW, "threshold=3 probes=2", here);
        changes.wish(false, Policy::new().probes(4), here);
        changes.wish(false, Policy::new().jitter(0.5), here);
        let expected = "threshold=3 jitter=0.5 probes=4";
        assert_eq!(in_force(&changes), expected);
        assert_eq!(changes.send(), Some((expected.to_owned(), NOW)));
        assert_eq!(in_force(&changes), expected);
        changes.done(NOW + 1);
        assert_eq!(
            (in_force(&changes).as_str(), changes.told().id),
            (expected, NOW + 1)
        );
        assert_eq!(changes.send(), None);
    }

    #[test]
    fn what_others_have_changed_is_known_once_it_is_read() {
        let (mut changes, here) = (LiveChanges::default(), Instant::now());
        assert_eq!(changes.hear(NOW, None, NOW, here), Heard::Unread);
        assert_eq!(hear(&mut changes, NOW, "probes=2", here), Heard::News);
        assert_eq!(changes.hear(NOW, None, NOW, here), Heard::Nothing);
        assert_eq!(
            hear(&mut changes, NOW - 1, "probes=9", here),
            Heard::Nothing
        );
        assert_eq!(in_force(&changes), "probes=2");
    }

    /// The message of the first may come before the answer to it or after it.
    #[test]
    fn the_echo_of_a_change_does_not_undo_the_next_one() {
        for answer_first in [true, false] {
            let (mut changes, here) = (LiveChanges::default(), Instant::now());
            changes.wish(false, Policy::new().threshold(3), here);
            let (first, _) = changes.send().expect("a change");
            changes.wish(false, Policy::new().threshold(4), here);
            let later = here + Duration::from_millis(5);
            if answer_first {
                changes.done(NOW + 2);
            }
            changes.hear(NOW + 2, Some(&first), NOW + 2, later);
            assert_eq!(in_force(&changes), "threshold=4");
            if !answer_first {
                changes.done(NOW + 2);
            }
            assert_eq!(in_force(&changes), "threshold=4");
            assert_eq!(changes.send(), Some(("threshold=4".to_owned(), NOW + 2)));
        }
    }

    #[test]
    fn a_change_that_may_have_been_told_is_told_again_unless_it_was() {
        let (mut changes, here) = (LiveChanges::default(), Instant::now());
        changes.wish(false, Policy::new().threshold(3), here);
        let sent = changes.send();
        changes.failed();
        assert_eq!(in_force(&changes), "threshold=3");
        assert_eq!(changes.send(), sent);
        changes.failed();
        hear(&mut changes, NOW, "threshold=3", here);
        assert_eq!(changes.send(), None);
        assert_eq!(in_force(&changes), "threshold=3");
    }

    #[test]
    fn of_two_changes_at_once_none_is_lost() {
        let (mut changes, here) = (LiveChanges::default(), Instant::now());
        changes.wish(false, Policy::new().threshold(3), here);
        assert!(changes.send().is_some());
        // The store knew of another one, which came first.
        changes.failed();
        hear(&mut changes, NOW, "probes=2", here);
        assert_eq!(in_force(&changes), "threshold=3 probes=2");
        let expected = "threshold=3 probes=2".to_owned();
        assert_eq!(changes.send(), Some((expected, NOW)));
    }

    /// By the time of the store, from the age that it has here.
    #[test]
    fn of_one_key_the_later_word_counts_also_after_an_outage() {
        for (asked_after, expected) in [(9, "threshold=5 probes=4"), (11, "threshold=9 probes=4")] {
            let (mut changes, here) = (LiveChanges::default(), Instant::now());
            hear(&mut changes, NOW, "probes=2", here);
            changes.wish(false, Policy::new().threshold(5).probes(4), here);
            // The others have changed the threshold ten seconds before they are heard again.
            let (id, now) = (NOW + 90_000, NOW + 100_000);
            let later = here + Duration::from_secs(asked_after);
            changes.hear(id, Some("threshold=9 probes=2"), now, later);
            assert_eq!(in_force(&changes), expected);
            assert_eq!(changes.send(), Some((expected.to_owned(), id)));
        }
    }

    #[test]
    fn what_is_taken_back_later_is_taken_back_here_too() {
        let (mut changes, here) = (LiveChanges::default(), Instant::now());
        hear(&mut changes, NOW, "probes=2", here);
        changes.wish(false, Policy::new().threshold(5), here);
        let later = here + Duration::from_secs(60);
        changes.hear(NOW + 50_000, Some(""), NOW + 51_000, later);
        assert_eq!((in_force(&changes).as_str(), changes.send()), ("", None));
        // And here, for all, with what only a later version can read.
        hear(&mut changes, NOW + 52_000, "probes=2 mood=good", later);
        changes.wish(true, Policy::new(), later + Duration::from_secs(9));
        assert_eq!(in_force(&changes), "");
        assert_eq!(changes.send(), Some((String::new(), NOW + 52_000)));
    }

    #[test]
    fn what_cannot_be_in_force_is_said_once() {
        let error = |text: &str| ConfigError::new(crate::settings::Source::Live, text.to_owned());
        let mut changes = LiveChanges::default();
        assert_eq!(changes.complain(vec![error("one")]), [error("one")]);
        assert_eq!(changes.complain(vec![error("one")]), []);
        let both = vec![error("one"), error("two")];
        assert_eq!(changes.complain(both), [error("two")]);
    }
}
