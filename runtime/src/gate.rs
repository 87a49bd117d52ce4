//! The live circuit: one packed word that every call reads, and behind a lock
//! what only the rare paths need.
//!
//! # Memory ordering
//!
//! The word is read with `Acquire` and written with `AcqRel`, always by
//! compare-and-swap. In a closed circuit anybody may change the count. Every
//! transition, and everything in the other states, happens under the lock, so that
//! there the swap cannot fail.
//!
//! `until` and `reason` are written under the lock with `Release` before the word
//! that makes the circuit open. A reader loads the word, then these, then the word
//! again: if it read numbers of a later opening, the `Acquire` load of them makes
//! it see that the word has moved on, too.

#[cfg(all(test, breakerbox_loom))]
mod loom_tests;

use std::collections::VecDeque;
use std::sync::atomic::Ordering::AcqRel;
use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::Ordering::Release;

use crate::clock::Tick;
use crate::clock::nanos;
use crate::policy::OnCancel;
use crate::policy::Policy;
use crate::reason::Reason;
use crate::rules;
use crate::rules::Admission;
use crate::rules::Change;
use crate::rules::Circuit;
use crate::rules::Count;
use crate::rules::Mode;
use crate::rules::Opening;
use crate::rules::Settled;
use crate::state::State;
use crate::sync;
use crate::sync::AtomicU32;
use crate::sync::AtomicU64;
use crate::sync::Mutex;
use crate::verdict::Verdict;
use crate::word::Word;

/// The changes that wait for the background thread at most; older ones go first. A gap
/// in the generations tells.
const NOTES: usize = 64;

#[derive(Debug)]
pub(crate) struct Gate {
    word: AtomicU64,
    /// Of the opening that the word tells of.
    until: AtomicU64,
    reason: AtomicU64,
    /// Copies of what the paths without a lock need of the policy.
    threshold: AtomicU32,
    /// A call dropped at this age or older is a failure, in nanoseconds.
    cancel_fails_at: AtomicU64,
    core: Mutex<Core>,
}

#[derive(Debug)]
struct Core {
    policy: Policy,
    /// In a closed circuit the word is right and the count here is not.
    circuit: Circuit,
    notes: VecDeque<Change>,
}

/// Dropped calls never count as failures.
const NEVER: u64 = u64::MAX;

impl Gate {
    pub(crate) fn new(policy: Policy) -> Self {
        let circuit = Circuit::new();
        Self {
            word: AtomicU64::new(word_of(&circuit).0),
            until: AtomicU64::new(0),
            reason: AtomicU64::new(0),
            threshold: AtomicU32::new(policy.get_threshold().unwrap_or(u32::MAX)),
            cancel_fails_at: AtomicU64::new(cancel_fails_at(&policy)),
            core: Mutex::new(Core {
                policy,
                circuit,
                // Taken now, so that a note that a drop leaves never allocates.
                notes: VecDeque::with_capacity(NOTES),
            }),
        }
    }

    #[inline]
    pub(crate) fn load(&self) -> Word {
        Word(self.word.load(Acquire))
    }

    /// Whether a success of a call that was admitted with `seen` changes nothing:
    /// the usual end of a call.
    #[inline]
    pub(crate) fn is_calm_since(&self, seen: Word) -> bool {
        // Relaxed: the answer guards no other data, and whatever this thread knows
        // to have happened before, it also sees here.
        seen.is_calm() && self.word.load(Relaxed) == seen.0
    }

    /// Whether calls have to remember when they began.
    #[inline]
    pub(crate) fn times_calls(&self) -> bool {
        !matches!(self.cancel_fails_at.load(Relaxed), 0 | NEVER)
    }

    /// What a call counts as that was dropped after `age`.
    pub(crate) fn cancelled(&self, age: u64) -> Verdict {
        match self.cancel_fails_at.load(Relaxed) {
            NEVER => Verdict::Ignore,
            fails_at if age >= fails_at => Verdict::Failure,
            _ => Verdict::Ignore,
        }
    }

    /// The word and the opening that belongs to it: the one that lasts, or the last
    /// one. Takes no lock.
    pub(crate) fn view(&self) -> (Word, Opening) {
        let mut seen = self.load();
        loop {
            let opening = Opening {
                until: Tick(self.until.load(Acquire)),
                reason: Reason::unpack(self.reason.load(Acquire)),
            };
            let again = self.load();
            if again == seen {
                return (seen, opening);
            }
            seen = again;
        }
    }

    /// The opening that lasts at `now`, if one does.
    pub(crate) fn opening(&self, now: Tick) -> Option<Opening> {
        let (seen, opening) = self.view();
        (seen.state() == State::Open && now < opening.until).then_some(opening)
    }

    /// A call comes at `now`, and the word alone did not admit it.
    pub(crate) fn admit(&self, now: Tick) -> (Result<Word, Admission>, Option<Change>) {
        let (admission, change) = self.transact(|policy, circuit| {
            let (admission, change) = rules::admit(policy, circuit, now);
            let answer = match admission {
                Admission::Admitted(ticket) => Ok(match circuit.mode {
                    Mode::HalfOpen(_) => {
                        Word::new(ticket.generation, ticket.place, State::HalfOpen)
                    }
                    Mode::Closed { .. } | Mode::Open(_) => word_of(circuit),
                }),
                refused => Err(refused),
            };
            (answer, change)
        });
        (admission, change)
    }

    /// A call that was admitted with `seen` has ended at `now`.
    pub(crate) fn settle(
        &self,
        seen: Word,
        verdict: Verdict,
        now: Tick,
    ) -> (Settled, Option<Change>) {
        if seen.is_closed()
            && let Some(settled) = self.count(seen, verdict)
        {
            return (settled, None);
        }
        self.transact(|policy, circuit| rules::settle(policy, circuit, seen.ticket(), verdict, now))
    }

    /// Counts in a closed circuit: one word and one loop. Answers nothing where
    /// the outcome opens the circuit, which is for the lock.
    fn count(&self, seen: Word, verdict: Verdict) -> Option<Settled> {
        let threshold = self.threshold.load(Relaxed);
        let mut current = self.load();
        loop {
            if current.generation() != seen.generation() {
                return Some(Settled::Late);
            }
            let next = match rules::count(threshold, current.count(), verdict) {
                Count::Keep => return Some(Settled::Counted),
                Count::Failures(failures) => current.with_count(failures),
                Count::Trip(_) => return None,
            };
            match self
                .word
                .compare_exchange_weak(current.0, next.0, AcqRel, Acquire)
            {
                Ok(_) => return Some(Settled::Counted),
                Err(actual) => current = Word(actual),
            }
        }
    }

    /// Moves the circuit by `step`, under the lock. It may run more than once,
    /// while others count in a closed circuit, and so must be pure.
    fn transact<T>(
        &self,
        step: impl Fn(&Policy, &mut Circuit) -> (T, Option<Change>),
    ) -> (T, Option<Change>) {
        let mut guard = sync::lock(&self.core);
        let core = &mut *guard;
        let mut seen = self.load();
        loop {
            if seen.is_closed() {
                core.circuit = Circuit {
                    generation: seen.generation(),
                    mode: Mode::Closed {
                        failures: seen.count(),
                    },
                };
            }
            let (answer, change) = step(&core.policy, &mut core.circuit);
            if let Mode::Open(opening) = core.circuit.mode {
                self.until.store(opening.until.0, Release);
                self.reason.store(opening.reason.pack(), Release);
            }
            let next = word_of(&core.circuit);
            match self.word.compare_exchange(seen.0, next.0, AcqRel, Acquire) {
                Ok(_) => {
                    if let Some(change) = change {
                        core.note(change);
                    }
                    return (answer, change);
                }
                // Only a closed circuit is ever changed without the lock, so the
                // step left nothing behind that the next round does not replace.
                Err(actual) => seen = Word(actual),
            }
        }
    }

    /// The changes since the last call, oldest first.
    pub(crate) fn take_notes(&self) -> Vec<Change> {
        sync::lock(&self.core).notes.drain(..).collect()
    }

    pub(crate) fn policy(&self) -> Policy {
        sync::lock(&self.core).policy
    }

    /// Puts other numbers in place. State and counts stay: a new threshold is
    /// judged at the next outcome, a new cooldown at the next opening.
    pub(crate) fn set_policy(&self, policy: Policy) {
        let mut core = sync::lock(&self.core);
        core.policy = policy;
        self.threshold
            .store(policy.get_threshold().unwrap_or(u32::MAX), Relaxed);
        self.cancel_fails_at
            .store(cancel_fails_at(&policy), Relaxed);
    }
}

impl Core {
    fn note(&mut self, change: Change) {
        if self.notes.len() == NOTES {
            self.notes.pop_front();
        }
        self.notes.push_back(change);
    }
}

fn word_of(circuit: &Circuit) -> Word {
    let count = match circuit.mode {
        Mode::Closed { failures } => failures,
        Mode::Open(_) | Mode::HalfOpen(_) => 0,
    };
    Word::new(circuit.generation, count, circuit.state())
}

fn cancel_fails_at(policy: &Policy) -> u64 {
    match policy.get_on_cancel() {
        OnCancel::Ignore => NEVER,
        OnCancel::Failure => 0,
        // Strictly longer.
        OnCancel::After(limit) => nanos(limit).saturating_add(1),
    }
}

#[cfg(all(test, not(breakerbox_loom)))]
mod tests {
    use std::time::Duration;

    use super::*;

    const POLICY: Policy = Policy::new().threshold(2).cooldown(Duration::from_secs(60));
    const END: Tick = Tick(60_000_000_000);

    fn fail(gate: &Gate, seen: Word, now: Tick) -> (Settled, Option<Change>) {
        gate.settle(seen, Verdict::Failure, now)
    }

    #[test]
    fn a_success_with_nothing_to_reset_leaves_the_word_alone() {
        let gate = Gate::new(POLICY);
        let seen = gate.load();
        assert!(gate.is_calm_since(seen));
        fail(&gate, seen, Tick(0));
        assert!(!gate.is_calm_since(seen));
        gate.settle(seen, Verdict::Success, Tick(0));
        assert!(gate.is_calm_since(seen));
    }

    #[test]
    fn the_opening_can_be_read_without_the_lock_until_it_ends() {
        let gate = Gate::new(POLICY);
        let seen = gate.load();
        assert_eq!(gate.opening(Tick(0)), None);
        fail(&gate, seen, Tick(0));
        let (_, change) = fail(&gate, seen, Tick(0));
        assert_eq!(change.map(|change| change.to), Some(State::Open));
        let opening = gate.opening(Tick(END.0 - 1)).unwrap();
        assert_eq!(opening.until, END);
        let numbers = Reason::Threshold {
            failures: 2,
            threshold: 2,
        };
        assert_eq!(opening.reason, numbers);
        assert_eq!(gate.opening(END), None);
    }

    #[test]
    fn a_threshold_of_one_opens_at_the_first_failure() {
        let gate = Gate::new(POLICY.threshold(1));
        assert!(fail(&gate, gate.load(), Tick(0)).1.is_some());
        assert_eq!(gate.load().state(), State::Open);
    }

    #[test]
    fn notes_come_in_order_and_the_oldest_are_forgotten_first() {
        let gate = Gate::new(POLICY.threshold(1));
        let mut now = Tick(0);
        fail(&gate, gate.load(), now);
        for _ in 0..NOTES {
            now = gate.view().1.until;
            let seen = gate.admit(now).0.unwrap();
            fail(&gate, seen, now);
        }
        let notes = gate.take_notes();
        assert_eq!(notes.len(), NOTES);
        assert!(notes.is_sorted_by_key(|change| change.generation));
        assert_eq!(notes.last().unwrap().generation, gate.load().generation());
        assert!(gate.take_notes().is_empty());
    }

    #[test]
    fn new_numbers_keep_the_state_and_the_count() {
        let gate = Gate::new(POLICY);
        let seen = gate.load();
        fail(&gate, seen, Tick(0));
        gate.set_policy(POLICY.threshold(5));
        assert!(fail(&gate, seen, Tick(0)).1.is_none());
        assert_eq!(gate.load().count(), 2);
    }
}
