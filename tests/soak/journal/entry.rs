//! One entry of a journal, as the script writes it:
//! `what|from|to|reason|instance|now|` + a snapshot + `|` + circuit + `|` + origin.
//!
//! [`breakerbox::journal`] is for people, and leaves out what the law is about: epochs, trips, and
//! the opening beneath an override.

#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// `moved` or `restored`.
    pub(super) what: String,
    pub(super) from: String,
    /// Where it stands now, also where it was restored.
    pub(super) to: String,
    /// The label of the rule, and its first number.
    pub(super) reason: String,
    pub(super) number: u64,
    pub(super) now: u64,
    pub(super) epoch: u64,
    pub(super) phase: String,
    pub(super) until: u64,
    pub(super) length: u64,
    pub(super) trips: u32,
}

impl Entry {
    pub(super) fn of(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split('|').collect();
        let &[
            what,
            from,
            to,
            reason,
            _instance,
            now,
            epoch,
            phase,
            until,
            length,
            trips,
            _opened_by,
            _suspect,
            cover,
            _live,
            _circuit,
            _origin,
        ] = fields.as_slice()
        else {
            return None;
        };
        let (reason, numbers) = reason.split_once(':').unwrap_or((reason, ""));
        let (number, _) = numbers.split_once(':').unwrap_or((numbers, ""));
        let kind = cover.split(':').next()?;
        let stands = if kind == "-" { phase } else { kind };
        match what {
            "moved" if to == stands => {}
            "restored" if from.is_empty() && to.is_empty() => {}
            _ => return None,
        }
        Some(Self {
            what: what.to_owned(),
            from: from.to_owned(),
            to: stands.to_owned(),
            reason: reason.to_owned(),
            number: number.parse().unwrap_or(0),
            now: now.parse().ok()?,
            epoch: epoch.parse().ok()?,
            phase: phase.to_owned(),
            until: until.parse().ok()?,
            length: length.parse().ok()?,
            trips: trips.parse().ok()?,
        })
    }
}
