//! What has happened to a circuit that several processes share, for people.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use std::time::SystemTime;
use std::time::UNIX_EPOCH;

use crate::event::By;
use crate::name;
use crate::reason::Reason;
use crate::rules::fleet::Cover;
use crate::rules::fleet::What;
use crate::state::State;
use crate::store::Entry;

/// That a shared circuit has moved, that somebody has forced it, or that it was put back after
/// the store had lost it.
///
/// Its text is one line:
///
/// ```text
/// 2026-11-30 03:12:09.218Z closed -> open for 60s: 5 failures in a row (threshold 5), by web-1:4711
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct JournalEntry {
    /// When, by the clock of the store.
    pub at: SystemTime,
    /// The process that moved it: its host and number, or the name that was given to its store.
    pub origin: Arc<str>,
    /// The state that it left; none where the store had lost the circuit.
    pub from: Option<State>,
    /// The state that it entered.
    pub to: State,
    /// The rule that moved it, and its numbers; none where the store had lost the circuit, and
    /// this process has put back what it knew.
    pub reason: Option<Reason>,
    /// How long it was to be open, or forced.
    pub lasts: Option<Duration>,
    /// Who forced it, or had forced it, and why.
    pub by: Option<By>,
    /// Where somebody has changed the numbers of all: those that are written in the live changes
    /// since, or nothing where they were taken back.
    pub numbers: Option<Arc<str>>,
}

/// Why there is no journal to read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The registry shares its circuits with nobody.
    #[error("no store is set up, and only a store has a journal: see `RegistryBuilder::redis`")]
    NoStore,
    /// Nobody declares the service.
    #[error("nobody declares the service {:?}", name::shown(.0))]
    UnknownService(String),
    /// The store is lost, does not answer in time, or does not let itself be read.
    #[error("the journal cannot be read: {cause}")]
    Unavailable {
        /// Why.
        cause: Arc<str>,
    },
    /// The registry is closed.
    #[error("the registry is closed")]
    Closed,
}

/// Entries as a store has them, newest first.
pub(crate) fn read(entries: &[Entry]) -> Vec<JournalEntry> {
    let mut read: Vec<JournalEntry> = Vec::with_capacity(entries.len());
    // Where an override ends it is gone: who had wanted it says the entry of its beginning.
    let mut by = None;
    for entry in entries.iter().rev() {
        let mut one = read_one(entry);
        match one.reason {
            Some(Reason::OverrideEnded) if one.by.is_none() => one.by = by.take(),
            _ => by.clone_from(&one.by),
        }
        read.push(one);
    }
    read.reverse();
    read
}

fn read_one(Entry { told, origin }: &Entry) -> JournalEntry {
    let snapshot = &told.snapshot;
    let stands = match &snapshot.cover {
        Some(cover) => cover.kind.state(),
        None => snapshot.phase.state(),
    };
    let (from, to, reason) = match told.what {
        What::Moved { from, to, reason } => (Some(from), to, Some(reason)),
        What::Restored | What::Renumbered | What::Suspect => (None, stands, None),
    };
    let lasts = match &snapshot.cover {
        Some(cover) => Some(cover.until.saturating_sub(cover.began)),
        None => (to == State::Open).then_some(snapshot.length),
    };
    JournalEntry {
        at: UNIX_EPOCH + Duration::from_millis(told.now),
        origin: Arc::clone(origin),
        from,
        to,
        reason,
        lasts: lasts.map(Duration::from_millis),
        by: snapshot.cover.as_ref().map(by),
        numbers: told.live.as_deref().map(Arc::from),
    }
}

fn by(cover: &Cover) -> By {
    By {
        actor: Arc::from(&*cover.actor),
        reason: Arc::from(&*cover.why),
    }
}

impl fmt::Display for JournalEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_time(f, self.at)?;
        if let Some(numbers) = &self.numbers {
            match &**numbers {
                "" => f.write_str(" live changes taken back")?,
                numbers => write!(f, " live changes {numbers}")?,
            }
            return write!(f, ", by {}", self.origin);
        }
        match self.from {
            Some(from) => write!(f, " {} -> {}", from.label(), self.to.label())?,
            None => write!(f, " put back as {}", self.to.label())?,
        }
        if let Some(lasts) = self.lasts {
            write!(f, " for {lasts:?}")?;
        }
        match (self.reason, &self.by) {
            (Some(Reason::Override), Some(by)) => write!(f, ": forced by {by}")?,
            (Some(reason), Some(by)) => write!(f, ": {reason}, of {by}")?,
            (Some(reason), None) => write!(f, ": {reason}")?,
            (None, _) => f.write_str(": the store had lost it")?,
        }
        write!(f, ", by {}", self.origin)
    }
}

/// As in `2026-11-30 03:12:09.218Z`, since whoever reads it may be anywhere.
fn write_time(f: &mut fmt::Formatter<'_>, at: SystemTime) -> fmt::Result {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (seconds, millis) = (since.as_secs(), since.subsec_millis());
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    write!(
        f,
        "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{millis:03}Z"
    )
}

/// Year, month and day of a day since 1970.
fn date(mut day: u64) -> (u64, usize, u64) {
    let mut year = 1970;
    // 400 years are a whole number of days, and the same ones each time.
    year += day / 146_097 * 400;
    day %= 146_097;
    while day >= days_of(year) {
        day -= days_of(year);
        year += 1;
    }
    let february = days_of(year) - 337;
    let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while day >= months[month] {
        day -= months[month];
        month += 1;
    }
    (year, month + 1, day + 1)
}

const fn days_of(year: u64) -> u64 {
    let is_leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    if is_leap { 366 } else { 365 }
}

#[cfg(test)]
mod tests {
    use crate::rules::fleet::CoverKind;
    use crate::rules::fleet::Phase;
    use crate::rules::fleet::Snapshot;
    use crate::rules::fleet::Told;

    use super::*;

    /// `date -u -d 2026-11-30T03:12:09Z +%s`
    const AT: u64 = 1_796_008_329_218;

    fn entry(what: What, snapshot: Snapshot) -> Entry {
        let told = Told {
            what,
            snapshot,
            now: AT,
            instance: 7,
            live: None,
        };
        Entry {
            told,
            origin: "web-1:4711".into(),
        }
    }

    fn moved(from: State, to: State, reason: Reason) -> What {
        What::Moved { from, to, reason }
    }

    fn open() -> Snapshot {
        Snapshot {
            phase: Phase::Open,
            length: 60_000,
            ..Snapshot::default()
        }
    }

    #[test]
    fn one_line_says_when_what_why_for_how_long_and_who() {
        let reason = Reason::Threshold {
            failures: 5,
            threshold: 5,
        };
        let read = read(&[
            entry(What::Restored, open()),
            entry(moved(State::Closed, State::Open, reason), open()),
        ]);
        let lines: Vec<_> = read.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "2026-11-30 03:12:09.218Z put back as open for 60s: the store had lost it, by \
                 web-1:4711",
                "2026-11-30 03:12:09.218Z closed -> open for 60s: 5 failures in a row \
                 (threshold 5), by web-1:4711",
            ]
        );
    }

    #[test]
    fn the_end_of_an_override_has_the_name_of_whoever_wanted_it() {
        let covered = Snapshot {
            cover: Some(Cover {
                kind: CoverKind::ForcedOpen,
                id: 1,
                began: AT,
                until: AT + 90_000,
                actor: "ann".to_owned(),
                why: "incident 7".to_owned(),
            }),
            ..Snapshot::default()
        };
        let begun = moved(State::Closed, State::ForcedOpen, Reason::Override);
        let ended = moved(State::ForcedOpen, State::Closed, Reason::OverrideEnded);
        let reset = moved(State::Closed, State::Closed, Reason::Reset);
        let read = read(&[
            entry(reset, Snapshot::default()),
            entry(ended, Snapshot::default()),
            entry(begun, covered),
        ]);
        let who = |it: &JournalEntry| it.by.as_ref().map(|by| by.actor.to_string());
        let who: Vec<_> = read.iter().map(who).collect();
        assert_eq!(who, [None, Some("ann".to_owned()), Some("ann".to_owned())]);
        assert_eq!(read[2].lasts, Some(Duration::from_secs(90)));
        let line = read[2].to_string();
        assert!(
            line.ends_with("-> forced_open for 90s: forced by ann: incident 7, by web-1:4711"),
            "{line}"
        );
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        // `date -u -d @SECONDS +%F`, at the edges of leap years and centuries.
        for (seconds, expected) in [
            (0, (1970, 1, 1)),
            (68_169_600, (1972, 2, 29)),
            (68_256_000, (1972, 3, 1)),
            (951_782_400, (2000, 2, 29)),
            (1_735_603_200, (2024, 12, 31)),
            (1_735_689_600, (2025, 1, 1)),
            (4_107_542_400, (2100, 3, 1)),
            (13_574_563_200, (2400, 2, 29)),
        ] {
            assert_eq!(date(seconds / 86_400), expected);
        }
    }
}
