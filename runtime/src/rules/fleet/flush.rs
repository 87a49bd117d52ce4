//! Calls that have ended somewhere, and what they mean for all.

use crate::reason::Reason;
use crate::rules::Sums;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Reporter;
use crate::rules::fleet::Slot;
use crate::rules::fleet::motion::Asked;
use crate::rules::fleet::motion::Motion;
use crate::rules::fleet::motion::Width;
use crate::rules::fleet::request::Delta;
use crate::rules::fleet::request::Flush;
use crate::rules::fleet::request::Status;
use crate::rules::fleet::request::What;

/// How long a rate is not judged after the first failure, in milliseconds: until the others
/// have told of their successes. One failing process would trip on its own calls otherwise.
const SETTLE: u64 = 100;

/// How often everybody is told that successes matter, in milliseconds.
const TELL: u64 = 100;

/// The epoch of a circuit that is counted for and has never moved, as far as the store knows.
const UNMOVED: u64 = 1;

impl Motion<'_> {
    pub(super) fn flush(&mut self, flush: &Flush) -> Status {
        let known = self.request.view.epoch;
        let is_past = known != 0 && known != self.state.epoch && self.state.epoch != 0;
        if self.state.phase != Phase::Closed || self.state.cover.is_some() || is_past {
            return Status::Stale;
        }
        if self.state.epoch == 0 {
            // The store may have lost what it knew: so whoever knows of any move of the circuit
            // knows of a later epoch, and is believed.
            self.state.epoch = UNMOVED;
            self.is_changed = true;
        }
        let asked = Asked {
            at_least: flush.at_least,
            exactly: flush.exactly,
        };
        let judged = match Width::of(self.policy) {
            None => self.count_in_a_row(flush),
            Some(width) => self.count_in_window(&flush.deltas, width),
        };
        if flush.exactly.is_some() {
            self.open(Reason::OpenFor, asked);
            return Status::Opened;
        }
        if let Some(reason) = judged
            && self.are_enough()
        {
            let settled = self.state.suspect_since.saturating_add(SETTLE);
            if is_rate(reason) && self.now < settled {
                self.tell_suspicion();
                return Status::Settling(settled - self.now);
            }
            self.open(reason, asked);
            return Status::Opened;
        }
        self.tell_suspicion();
        Status::Done
    }

    fn count_in_a_row(&mut self, flush: &Flush) -> Option<Reason> {
        if flush.success && self.state.failures > 0 {
            self.state.failures = 0;
            self.state.reporters = Vec::new();
            self.is_changed = true;
        }
        if flush.failures > 0 {
            self.state.failures = self.state.failures.saturating_add(flush.failures);
            self.is_changed = true;
            self.note_reporter();
        }
        self.note_suspicion(self.state.failures == 0);
        let threshold = self.policy.get_threshold()?;
        let failures = self.state.failures;
        (failures >= threshold).then_some(Reason::Threshold {
            failures,
            threshold,
        })
    }

    fn count_in_window(&mut self, deltas: &[Delta], width: Width) -> Option<Reason> {
        match width {
            Width::Millis(width) => self.merge_by_time(deltas, width),
            Width::Calls(width) => self.merge_by_calls(deltas, width),
        }
        let mut sums = Sums::default();
        for slot in &self.state.slots {
            sums.calls += slot.calls;
            sums.failures += slot.failures;
            sums.slow += slot.slow;
        }
        self.sums = sums;
        self.note_suspicion(sums.is_clean());
        if sums.is_clean() {
            self.state.reporters = Vec::new();
        }
        if let Width::Millis(width) = width {
            self.forget_reporters(width * Width::BUCKETS);
        }
        if deltas.iter().any(|it| it.failures + it.slow > 0) {
            self.note_reporter();
        }
        sums.judge(self.policy)
    }

    fn merge_by_time(&mut self, deltas: &[Delta], width: u64) {
        let newest = self.now / width;
        for delta in deltas {
            let index = self.now.saturating_sub(delta.age) / width;
            self.add(index, delta);
        }
        let oldest = (newest + 1).saturating_sub(Width::BUCKETS);
        // A jump of the clock leaves buckets in the future.
        let before = self.state.slots.len();
        self.state
            .slots
            .retain(|slot| (oldest..=newest).contains(&slot.index));
        if !deltas.is_empty() || self.state.slots.len() != before {
            self.is_changed = true;
        }
    }

    fn add(&mut self, index: u64, delta: &Delta) {
        let slots = &mut self.state.slots;
        let at = slots.partition_point(|slot| slot.index < index);
        if slots.get(at).is_none_or(|slot| slot.index != index) {
            let empty = Slot {
                index,
                ..Slot::default()
            };
            slots.insert(at, empty);
        }
        let slot = &mut slots[at];
        slot.calls += delta.calls;
        slot.failures += delta.failures;
        slot.slow += delta.slow;
    }

    /// Which of several processes' calls came first nobody knows: those that are told together
    /// stay together.
    fn merge_by_calls(&mut self, deltas: &[Delta], width: u64) {
        for delta in deltas.iter().filter(|delta| delta.calls > 0) {
            let newest = self.state.slots.last().copied().unwrap_or_default();
            let is_full = newest.calls >= width;
            self.add(newest.index + u64::from(is_full), delta);
            self.is_changed = true;
        }
        let newest = self.state.slots.last().map_or(0, |slot| slot.index);
        self.state
            .slots
            .retain(|slot| slot.index + Width::BUCKETS > newest);
    }

    /// The counts hold nothing but successes, or they do.
    fn note_suspicion(&mut self, is_clean: bool) {
        if is_clean {
            self.state.suspect_since = 0;
        } else if self.state.suspect_since == 0 {
            self.state.suspect_since = self.now;
        }
    }

    fn tell_suspicion(&mut self) {
        let is_due = self.now >= self.state.told_at.saturating_add(TELL);
        if self.state.suspect_since > 0 && is_due {
            self.state.told_at = self.now;
            self.is_changed = true;
            self.tell(What::Suspect);
        }
    }

    /// What they have seen has left the window.
    fn forget_reporters(&mut self, window: u64) {
        let now = self.now;
        let reporters = &mut self.state.reporters;
        let before = reporters.len();
        reporters.retain(|it| it.at.saturating_add(window) > now);
        self.is_changed |= reporters.len() != before;
    }

    /// No more are noted than are asked for.
    fn note_reporter(&mut self) {
        let instance = self.request.instance;
        let now = self.now;
        let reporters = &mut self.state.reporters;
        reporters.retain(|it| it.instance != instance);
        let wanted = usize::try_from(self.policy.get_min_instances()).unwrap_or(usize::MAX);
        if reporters.len() < wanted {
            reporters.push(Reporter { instance, at: now });
        }
        self.is_changed = true;
    }

    /// Whether as many processes have seen failures as have to.
    fn are_enough(&self) -> bool {
        let seen = u32::try_from(self.state.reporters.len()).unwrap_or(u32::MAX);
        seen >= self.policy.get_min_instances()
    }
}

const fn is_rate(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::FailureRate { .. } | Reason::SlowCallRate { .. }
    )
}
