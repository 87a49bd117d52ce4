//! By which numbers the processes of a circuit go, as far as they have said so lately.
//!
//! In Redis this is a script, the twin of [`Noted::note`].

use std::collections::BTreeMap;
use std::time::Duration;

/// So long what somebody has noted counts: two looks of his, the latest ones.
pub(crate) const KEPT: Duration = Duration::from_secs(80);

/// What one process has to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Note {
    /// The numbers that it went by, and does no more. Others who do note them again.
    pub(crate) former: Option<String>,
    /// The numbers that it goes by; none where it leaves.
    pub(crate) current: Option<String>,
}

/// Numbers, and when they were noted last, in milliseconds of the store.
#[derive(Debug, Default)]
pub(super) struct Noted(BTreeMap<String, u64>);

impl Noted {
    /// Notes that, and gives all numbers that somebody goes by; and whether everybody else has
    /// to look now.
    pub(super) fn note(&mut self, note: &Note, now: u64) -> (Vec<String>, bool) {
        let mut is_news = false;
        if let Some(former) = &note.former {
            is_news |= self.0.remove(former).is_some();
        }
        if let Some(current) = &note.current {
            is_news |= self.0.insert(current.clone(), now).is_none();
        }
        let kept = KEPT.as_millis();
        self.0.retain(|_, at| u128::from(now.abs_diff(*at)) < kept);
        let alive: Vec<_> = self.0.keys().cloned().collect();
        let is_alone = alive.iter().all(|it| Some(it) == note.current.as_ref());
        (alive, is_news && (note.former.is_some() || !is_alone))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goes_by(current: &str) -> Note {
        Note {
            former: None,
            current: Some(current.to_owned()),
        }
    }

    #[test]
    fn everybody_looks_when_other_numbers_come_and_nobody_when_the_same_do() {
        let mut noted = Noted::default();
        assert_eq!(noted.note(&goes_by("a"), 1), (vec!["a".to_owned()], false));
        assert_eq!(noted.note(&goes_by("a"), 2), (vec!["a".to_owned()], false));
        let both = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(noted.note(&goes_by("b"), 3), (both.clone(), true));
        assert_eq!(noted.note(&goes_by("a"), 4), (both, false));
    }

    #[test]
    fn numbers_that_nobody_has_noted_for_two_looks_are_gone() {
        let kept = u64::try_from(KEPT.as_millis()).unwrap();
        let mut noted = Noted::default();
        noted.note(&goes_by("a"), 1_000);
        assert_eq!(noted.note(&goes_by("b"), 999 + kept).0, ["a", "b"]);
        assert_eq!(noted.note(&goes_by("b"), 1_000 + kept).0, ["b"]);
        // The clock has jumped back by an hour.
        assert_eq!(noted.note(&goes_by("c"), 0).0, ["c"]);
    }

    #[test]
    fn whoever_leaves_or_changes_takes_the_numbers_along_and_the_others_look() {
        let mut noted = Noted::default();
        noted.note(&goes_by("a"), 1);
        let change = Note {
            former: Some("a".to_owned()),
            ..goes_by("b")
        };
        assert_eq!(noted.note(&change, 2), (vec!["b".to_owned()], true));
        let leave = Note {
            former: Some("b".to_owned()),
            current: None,
        };
        assert_eq!(noted.note(&leave, 3), (Vec::new(), true));
        assert_eq!(noted.note(&leave, 4), (Vec::new(), false));
    }
}
