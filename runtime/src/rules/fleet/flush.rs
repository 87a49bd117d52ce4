//! Calls that have ended somewhere, and what they mean for all.

use std::mem;

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
        let before = self.state.slots.len();
        let slots = mem::take(&mut self.state.slots).into_iter();
        let (mut own, mut slots): (Vec<_>, Vec<_>) = slots.partition(|slot| slot.width == width);
        let is_merged = match width {
            Width::Millis(width) => merge_by_time(&mut own, deltas, width, self.now),
            Width::Calls(width) => merge_by_calls(&mut own, deltas, width, self.now),
        };
        let mut sums = Sums::default();
        for slot in &own {
            sums.calls += slot.calls;
            sums.failures += slot.failures;
            sums.slow += slot.slow;
        }
        self.sums = sums;
        slots.retain(|slot| slot.is_of_use(self.now));
        slots.append(&mut own);
        self.is_changed |= is_merged || slots.len() != before;
        // Also of what another version counts.
        let is_clean = slots.iter().all(|slot| slot.failures + slot.slow == 0);
        self.state.slots = slots;
        self.note_suspicion(is_clean);
        if is_clean {
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

/// Whether anything was told.
fn merge_by_time(slots: &mut Vec<Slot>, deltas: &[Delta], width: u64, now: u64) -> bool {
    for delta in deltas {
        let index = now.saturating_sub(delta.age) / width;
        add(slots, Width::Millis(width), index, delta);
    }
    // A jump of the clock leaves buckets in the future.
    slots.retain(|slot| slot.is_of_use(now));
    !deltas.is_empty()
}

/// Which of several processes' calls came first nobody knows: those that are told together
/// stay together.
fn merge_by_calls(slots: &mut Vec<Slot>, deltas: &[Delta], width: u64, now: u64) -> bool {
    let mut is_merged = false;
    for delta in deltas.iter().filter(|delta| delta.calls > 0) {
        let index = match slots.last() {
            Some(newest) if newest.calls < width => newest.index,
            Some(newest) => now.max(newest.index + 1),
            None => now,
        };
        add(slots, Width::Calls(width), index, delta);
        is_merged = true;
    }
    while slots.len() as u64 > Width::BUCKETS {
        slots.remove(0);
    }
    is_merged
}

fn add(slots: &mut Vec<Slot>, width: Width, index: u64, delta: &Delta) {
    let at = slots.partition_point(|slot| slot.index < index);
    if slots.get(at).is_none_or(|slot| slot.index != index) {
        let empty = Slot {
            width,
            index,
            calls: 0,
            failures: 0,
            slow: 0,
        };
        slots.insert(at, empty);
    }
    let slot = &mut slots[at];
    slot.calls += delta.calls;
    slot.failures += delta.failures;
    slot.slow += delta.slow;
}

const fn is_rate(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::FailureRate { .. } | Reason::SlowCallRate { .. }
    )
}
