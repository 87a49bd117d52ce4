//! The live circuit: one packed word that every call reads, and behind a lock
//! what only the rare paths need.
//!
//! # Memory ordering
//!
//! The word is read with `Acquire` and written with `AcqRel`, always by
//! compare-and-swap. In a closed circuit anybody may change the count. Every
//! transition, and everything in the other phases, happens under the lock, so that
//! there the swap cannot fail.
//!
//! `until` and `reason` are written under the lock with `Release` before the word
//! that they belong to, and after one that sends whoever reads it to the lock. A reader
//! loads the word, then these, then the word again: if it read numbers of a later opening,
//! the `Acquire` load of them makes it see that the word has moved on, too.

#[cfg(all(test, breakerbox_loom))]
mod loom_tests;

use std::sync::atomic::Ordering::AcqRel;
use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::Ordering::Release;

use crate::clock::Tick;
use crate::hot::Numbers;
use crate::policy::Policy;
use crate::policy::Window;
use crate::reason::Packed;
use crate::reason::Reason;
use crate::recent::Recent;
use crate::ring::Era;
use crate::ring::Total;
use crate::rules;
use crate::rules::Admission;
use crate::rules::Changes;
use crate::rules::Circuit;
use crate::rules::Closed;
use crate::rules::Command;
use crate::rules::Count;
use crate::rules::Law;
use crate::rules::Mode;
use crate::rules::Observed;
use crate::rules::Outcome;
#[cfg(feature = "redis")]
use crate::rules::Ruling;
use crate::rules::Settled;
use crate::rules::Sums;
use crate::rules::Ticket;
use crate::state::State;
use crate::sync;
use crate::sync::AtomicU64;
use crate::sync::Mutex;
use crate::word::Phase;
use crate::word::Word;

/// Later than every instant.
const NEVER: u64 = u64::MAX;

#[derive(Debug)]
pub(crate) struct Gate {
    word: AtomicU64,
    /// The first instant at which a success has to be judged, too: before, it could
    /// change nothing.
    judge_at: AtomicU64,
    /// The first instant at which a call that comes looks for those that hang.
    look_at: AtomicU64,
    /// The generation in which the window was emptied last.
    emptied: AtomicU64,
    /// The end of what the word tells of: an opening, or an override.
    until: AtomicU64,
    reason: [AtomicU64; 2],
    /// In a closed circuit the word is right and the count here is not.
    circuit: Mutex<Circuit>,
    /// Where there is a count window.
    recent: Mutex<Option<Box<Recent>>>,
}

/// What a call is told, with the word that its guard keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Answer {
    Admitted(Word),
    /// Let through by an override alone.
    Spared(Word),
    Open(Tick),
    ForcedOpen,
    ProbesBusy,
    Ramp,
}

/// What can be seen of a circuit without the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) word: Word,
    pub(crate) until: Tick,
    pub(crate) reason: Packed,
}

/// Asks for what the rings of all threads hold.
pub(crate) trait Totals: Fn(Era) -> Total {}

impl<F: Fn(Era) -> Total> Totals for F {}

/// Others that may have a say in the circuit.
pub(crate) trait Others {
    /// Whether it is as they have decided in this generation.
    fn govern(&self, generation: u64) -> bool;

    /// An override has ended, which began this generation: so it still is, if it was.
    fn follow(&self, generation: u64);
}

impl Gate {
    pub(crate) fn new(policy: &Policy, now: Tick) -> Self {
        let circuit = Circuit::new(policy, now);
        let gate = Self {
            word: AtomicU64::new(word_of(&circuit).0),
            judge_at: AtomicU64::new(0),
            look_at: AtomicU64::new(0),
            emptied: AtomicU64::new(0),
            until: AtomicU64::new(0),
            reason: [AtomicU64::new(0), AtomicU64::new(0)],
            circuit: Mutex::new(circuit),
            recent: Mutex::new(recent_of(policy)),
        };
        gate.publish(gate.load(), &sync::lock(&gate.circuit));
        gate
    }

    #[inline]
    pub(crate) fn load(&self) -> Word {
        Word(self.word.load(Acquire))
    }

    /// Whether a success of a call that was admitted with `seen` changes nothing in the
    /// word: the usual end of a call.
    #[inline]
    pub(crate) fn is_calm_since(&self, seen: Word) -> bool {
        // Relaxed: the answer guards no other data, and whatever this thread knows
        // to have happened before, it also sees here.
        seen.is_calm() && self.word.load(Relaxed) == seen.0
    }

    /// Whether a call that comes at `now` has to look for calls that hang.
    #[inline]
    pub(crate) fn is_time_to_look(&self, now: Tick) -> bool {
        now.0 >= self.look_at.load(Relaxed)
    }

    /// Whether a success that ends at `now` has to be judged.
    #[inline]
    pub(crate) fn is_time_to_judge(&self, now: Tick) -> bool {
        now.0 >= self.judge_at.load(Relaxed)
    }

    /// What a ring is about while the word is in this generation.
    pub(crate) fn era(&self, generation: u64) -> Era {
        Era {
            generation,
            emptied: self.emptied_as_of(generation),
        }
    }

    /// It is written before the word: whoever still sees the generation before may see
    /// that of the future, in which its outcome has no part.
    fn emptied_as_of(&self, generation: u64) -> u64 {
        self.emptied.load(Acquire).min(generation)
    }

    /// Counts an outcome among the last so many.
    #[inline]
    pub(crate) fn record(&self, generation: u64, is_failure: bool, is_slow: bool) {
        let emptied = self.emptied_as_of(generation);
        if let Some(recent) = &mut *sync::lock(&self.recent) {
            recent.record(emptied, is_failure, is_slow);
        }
    }

    /// All the outcomes that were ever counted among the last so many.
    #[cfg(feature = "redis")]
    pub(crate) fn recorded(&self) -> Sums {
        let recent = sync::lock(&self.recent);
        recent
            .as_ref()
            .map_or_else(Sums::default, |it| it.recorded())
    }

    /// Those of them from before the window was emptied in this generation.
    #[cfg(feature = "redis")]
    pub(crate) fn recorded_before(&self, emptied: u64) -> Sums {
        let recent = sync::lock(&self.recent);
        recent
            .as_ref()
            .map_or_else(Sums::default, |it| it.recorded_before(emptied))
    }

    /// The word, and what belongs to it. Takes no lock.
    pub(crate) fn view(&self) -> View {
        let mut word = self.load();
        loop {
            let view = View {
                word,
                until: Tick(self.until.load(Acquire)),
                reason: Packed {
                    numbers: self.reason[0].load(Acquire),
                    limit: self.reason[1].load(Acquire),
                },
            };
            let again = self.load();
            if again == word {
                return view;
            }
            word = again;
        }
    }

    /// A call comes at `now`, and the word alone did not admit it. Where the circuit is not
    /// closed as `others` have decided, they have to be asked who may probe, and the call has come
    /// too early for that.
    pub(crate) fn admit(
        &self,
        numbers: &Numbers,
        totals: impl Totals,
        others: &impl Others,
        now: Tick,
    ) -> (Answer, Changes) {
        self.transact(numbers, |law, circuit| {
            let mut changes = Changes::default();
            expire(law, circuit, others, now, &mut changes);
            let may_probe = match (circuit.state(), &circuit.mode) {
                (State::HalfOpen, _) => true,
                (State::Open, Mode::Open(opening)) => opening.until <= now,
                _ => false,
            };
            if may_probe && others.govern(circuit.generation) {
                return (Answer::ProbesBusy, changes);
            }
            let mut observed = self.observe(numbers, circuit, &totals, now);
            if !self.is_time_to_look(now) {
                observed.sums.hung = 0;
            }
            let (admission, more) = rules::admit(law, circuit, &observed, now);
            for change in more.iter() {
                changes.push(*change);
            }
            let look_at = end_of_bucket(numbers, now);
            self.look_at.store(look_at, Relaxed);
            (answer_of(circuit, admission), changes)
        })
    }

    /// An override whose time has passed at `now` ends.
    #[cfg(feature = "redis")]
    pub(crate) fn expire(&self, numbers: &Numbers, others: &impl Others, now: Tick) -> Changes {
        self.transact(numbers, |law, circuit| {
            let mut changes = Changes::default();
            expire(law, circuit, others, now, &mut changes);
            ((), changes)
        })
        .1
    }

    /// A call that was admitted with `seen` has ended at `now`; where there is a window,
    /// it is counted there.
    pub(crate) fn settle(
        &self,
        numbers: &Numbers,
        seen: Word,
        outcome: Outcome,
        totals: impl Totals,
        now: Tick,
    ) -> (Settled, Changes) {
        self.transact(numbers, |law, circuit| {
            let observed = self.observe(numbers, circuit, &totals, now);
            let (settled, changes) =
                rules::settle(law, circuit, seen.ticket(), outcome, &observed, now);
            // What says nothing has not been judged: the next outcome is.
            let votes = seen.ticket().place != Ticket::NO_VOTE && outcome.is_recorded();
            if settled == Settled::Counted && votes {
                let judge_at = judge_at(numbers, &observed.sums, now);
                self.judge_at.store(judge_at, Relaxed);
            }
            (settled, changes)
        })
    }

    /// Counts failures in a row in a closed circuit: one word and one loop. Answers
    /// nothing where the outcome opens the circuit, which is for the lock.
    pub(crate) fn count(&self, threshold: u32, seen: Word, outcome: Outcome) -> Option<Settled> {
        let mut current = self.load();
        loop {
            if current.generation() != seen.generation() {
                return Some(Settled::Late);
            }
            let next = match rules::count(threshold, current.count(), outcome.verdict) {
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

    /// Somebody wants something.
    pub(crate) fn command(&self, numbers: &Numbers, command: Command, now: Tick) -> Changes {
        self.transact(numbers, |law, circuit| {
            ((), rules::command(law, circuit, command, now))
        })
        .1
    }

    /// Other numbers are in force. State and counts stay: a new threshold is judged at the
    /// next outcome, a new cooldown at the next opening.
    pub(crate) fn renumber(&self, before: &Policy, numbers: &Numbers, now: Tick) -> Changes {
        if before.get_window() != numbers.policy.get_window() {
            let mut recent = sync::lock(&self.recent);
            let next = recent_of(&numbers.policy);
            #[cfg(feature = "redis")]
            let next = next.map(|next| Box::new(next.after(recent.as_deref())));
            *recent = next;
            drop(recent);
            // Buckets are others now.
            self.look_at.store(0, Relaxed);
        }
        let (_, changes) = self.transact(numbers, |law, circuit| {
            ((), rules::renumber(law, before, circuit, now))
        });
        self.judge_at.store(0, Relaxed);
        changes
    }

    /// The processes that share the circuit have decided. Tells `stands` which generation is by
    /// their ruling afterwards, unless it is by something that was seen here since `adopted`, when
    /// they had decided last. That is noted before anybody sees the circuit moved.
    #[cfg(feature = "redis")]
    pub(crate) fn adopt(
        &self,
        numbers: &Numbers,
        ruling: &Ruling,
        adopted: u64,
        stands: impl Fn(u64),
        totals: impl Totals,
        now: Tick,
    ) -> Changes {
        self.transact(numbers, |law, circuit| {
            let is_ours = circuit.generation != adopted;
            let observed = self.observe(numbers, circuit, &totals, now);
            let changes = rules::adopt(law, circuit, ruling, is_ours, &observed, now);
            // An opening of our own that they do not have stays ours, also where what was forced
            // over it has been lifted.
            if !is_ours || !ruling.is_plainly_closed() || circuit.beneath() == State::Closed {
                stands(circuit.generation);
            }
            ((), changes)
        })
        .1
    }

    /// The circuit as it is at `now`, and what its window holds. Changes nothing.
    pub(crate) fn peek(
        &self,
        numbers: &Numbers,
        totals: impl Totals,
        now: Tick,
    ) -> (Circuit, Sums) {
        let circuit = sync::lock(&self.circuit);
        let mut present = circuit.clone();
        Self::present(self.load(), &mut present);
        let mut changes = Changes::default();
        rules::expire(&law_of(numbers), &mut present, now, &mut changes);
        let sums = self.observe(numbers, &present, &totals, now).sums;
        (present, sums)
    }

    /// Moves the circuit by `step`, under the lock. It may run more than once,
    /// while others count in a closed circuit, and so must be pure but for hints.
    fn transact<T>(
        &self,
        numbers: &Numbers,
        step: impl Fn(&Law<'_>, &mut Circuit) -> (T, Changes),
    ) -> (T, Changes) {
        let mut circuit = sync::lock(&self.circuit);
        let law = law_of(numbers);
        loop {
            let seen = self.load();
            Self::present(seen, &mut circuit);
            // What admits all calls has no probes, ramp or overlay: this copies a few words.
            let before = seen.is_closed().then(|| circuit.clone());
            let generation = circuit.generation;
            let (answer, changes) = step(&law, &mut circuit);
            if circuit.generation != generation {
                // Whatever its window holds, the next outcome shows.
                self.judge_at.store(0, Relaxed);
            }
            let seen = self.publish(seen, &circuit);
            let next = word_of(&circuit);
            match (
                self.word.compare_exchange(seen.0, next.0, AcqRel, Acquire),
                before,
            ) {
                (Err(_), Some(before)) => *circuit = before,
                // Only the count of a closed circuit is ever changed without the lock.
                (Ok(_) | Err(_), _) => return (answer, changes),
            }
        }
    }

    /// Gives a circuit the count of the word, which is the right one while it is closed.
    fn present(seen: Word, circuit: &mut Circuit) {
        if seen.is_closed()
            && let Mode::Closed(closed) = &mut circuit.mode
        {
            closed.failures = seen.count();
        }
    }

    /// Writes what goes with a word, before it. Answers the word that stands meanwhile.
    fn publish(&self, seen: Word, circuit: &Circuit) -> Word {
        self.emptied.store(circuit.emptied, Release);
        let until = match (&circuit.overlay, &circuit.mode) {
            (Some(overlay), _) => Some(overlay.until().map_or(NEVER, |until| until.0)),
            (None, Mode::Open(opening)) => Some(opening.until.0),
            (None, Mode::Closed(_) | Mode::HalfOpen(_)) => None,
        };
        let reason = circuit.opened_by.map_or(Packed::NONE, Reason::pack);
        let written = View {
            word: seen,
            until: until.map_or_else(|| Tick(self.until.load(Relaxed)), Tick),
            reason,
        };
        if written == self.view() {
            return seen;
        }
        let mut stands = seen;
        if !seen.is_closed() {
            // Nobody shall read the new numbers beside the old word.
            stands = Word::new(seen.generation(), 0, Phase::Shadow);
            self.word.store(stands.0, Release);
        }
        self.until.store(written.until.0, Release);
        self.reason[0].store(reason.numbers, Release);
        self.reason[1].store(reason.limit, Release);
        stands
    }

    /// What the law may ask about the calls of a closed circuit.
    fn observe(
        &self,
        numbers: &Numbers,
        circuit: &Circuit,
        totals: &impl Totals,
        now: Tick,
    ) -> Observed {
        let duties = numbers.duties;
        let Mode::Closed(closed) = &circuit.mode else {
            return Observed::default();
        };
        let mut observed = Observed::default();
        if duties.by_time() || duties.starts() {
            let total = totals(Era {
                generation: circuit.generation,
                emptied: circuit.emptied,
            });
            if duties.by_time() {
                observed.sums = total.sums();
            }
            if !duties.hangs() {
                observed.sums.hung = 0;
            }
            observed.arrivals = total.arrivals(numbers.time.seconds(closed.began, now));
        }
        if duties.by_calls() {
            let recent = sync::lock(&self.recent);
            observed.sums = recent
                .as_ref()
                .map_or_else(Sums::default, |recent| recent.sums(circuit.emptied));
        }
        observed
    }
}

/// An override whose time has passed ends, and it is known whose say it is what comes then before
/// anybody sees it.
fn expire(
    law: &Law<'_>,
    circuit: &mut Circuit,
    others: &impl Others,
    now: Tick,
    changes: &mut Changes,
) {
    let before = circuit.generation;
    rules::expire(law, circuit, now, changes);
    if circuit.generation != before {
        others.follow(circuit.generation);
    }
}

const fn law_of(numbers: &Numbers) -> Law<'_> {
    Law {
        policy: &numbers.policy,
        seed: numbers.seed,
    }
}

fn recent_of(policy: &Policy) -> Option<Box<Recent>> {
    match policy.get_window() {
        Some(Window::Calls(calls)) => Some(Box::new(Recent::new(calls))),
        Some(Window::Time(_)) | None => None,
    }
}

/// When the next success has to be judged, after what the window holds now: one that makes
/// the calls enough, and the first one after calls have left the window or have come to
/// hang.
fn judge_at(numbers: &Numbers, sums: &Sums, now: Tick) -> u64 {
    let Numbers { policy, duties, .. } = numbers;
    if sums.awaits_calls(policy) {
        0
    } else if duties.hangs() || duties.by_time() && !sums.is_clean() {
        end_of_bucket(numbers, now)
    } else {
        NEVER
    }
}

/// The first instant of the next bucket, where time is counted.
fn end_of_bucket(numbers: &Numbers, now: Tick) -> u64 {
    let Numbers { time, duties, .. } = numbers;
    if duties.by_time() {
        time.begin(time.bucket(now) + 1).0
    } else {
        NEVER
    }
}

fn word_of(circuit: &Circuit) -> Word {
    let (count, phase) = match (circuit.state(), &circuit.mode) {
        (State::ForcedOpen, _) => (0, Phase::ForcedOpen),
        (State::ForcedClosed, _) => (0, Phase::ForcedClosed),
        (State::Shadow, _) => (0, Phase::Shadow),
        (_, Mode::Closed(Closed { ramp: Some(_), .. })) => (0, Phase::Watched),
        (_, Mode::Closed(closed)) => (closed.failures, Phase::Closed),
        (_, Mode::Open(_)) => (0, Phase::Open),
        (_, Mode::HalfOpen(_)) => (0, Phase::HalfOpen),
    };
    Word::new(circuit.generation, count, phase)
}

/// What a call is told, in words that its guard understands.
fn answer_of(circuit: &Circuit, admission: Admission) -> Answer {
    let word = |ticket: Ticket, phase| Word::new(ticket.generation, ticket.place, phase);
    match admission {
        Admission::Admitted(ticket) if ticket.place == Ticket::NO_VOTE => {
            Answer::Admitted(word(ticket, Phase::ForcedClosed))
        }
        Admission::Admitted(ticket) => Answer::Admitted(match (&circuit.mode, circuit.state()) {
            (Mode::HalfOpen(_), _) => word(ticket, Phase::HalfOpen),
            (_, State::Closed) => word_of(circuit),
            _ => word(ticket, Phase::Watched),
        }),
        Admission::Spared(ticket) => Answer::Spared(word(ticket, Phase::ForcedClosed)),
        Admission::Open(opening) => Answer::Open(opening.until),
        Admission::ForcedOpen => Answer::ForcedOpen,
        Admission::ProbesBusy => Answer::ProbesBusy,
        Admission::Ramp => Answer::Ramp,
    }
}

#[cfg(all(test, not(breakerbox_loom)))]
mod tests {
    use std::time::Duration;

    use crate::verdict::Verdict;

    use super::*;

    const POLICY: Policy = Policy::new().threshold(2).cooldown(Duration::from_secs(60));
    const END: Tick = Tick(60_000_000_000);

    fn numbers(policy: Policy) -> Numbers {
        Numbers::new(policy, 0)
    }

    fn gate(policy: &Policy) -> Gate {
        Gate::new(policy, Tick(0))
    }

    /// A call ends, as a breaker has it end.
    fn end(gate: &Gate, policy: Policy, seen: Word, verdict: Verdict, now: Tick) -> Changes {
        let threshold = policy.get_threshold().unwrap_or(u32::MAX);
        let outcome = Outcome {
            verdict,
            is_slow: false,
        };
        if seen.is_closed() && gate.count(threshold, seen, outcome).is_some() {
            return Changes::default();
        }
        let totals = |_| Total::default();
        gate.settle(&numbers(policy), seen, outcome, totals, now).1
    }

    #[test]
    fn a_success_with_nothing_to_reset_leaves_the_word_alone() {
        let gate = gate(&POLICY);
        let seen = gate.load();
        assert!(gate.is_calm_since(seen));
        end(&gate, POLICY, seen, Verdict::Failure, Tick(0));
        assert!(!gate.is_calm_since(seen));
        end(&gate, POLICY, seen, Verdict::Success, Tick(0));
        assert!(gate.is_calm_since(seen));
    }

    #[test]
    fn the_opening_can_be_read_without_the_lock() {
        let gate = gate(&POLICY);
        let seen = gate.load();
        end(&gate, POLICY, seen, Verdict::Failure, Tick(0));
        assert!(end(&gate, POLICY, seen, Verdict::Failure, Tick(0)).opened());
        let view = gate.view();
        assert_eq!(view.word.phase(), Phase::Open);
        assert_eq!(view.until, END);
        let rule = Reason::Threshold {
            failures: 2,
            threshold: 2,
        };
        assert_eq!(view.reason.unpack(), Some(rule));
    }

    #[test]
    fn a_threshold_of_one_opens_at_the_first_failure() {
        let policy = POLICY.threshold(1);
        let gate = gate(&policy);
        assert!(end(&gate, policy, gate.load(), Verdict::Failure, Tick(0)).opened());
        assert_eq!(gate.load().phase(), Phase::Open);
    }

    #[test]
    fn new_numbers_keep_the_state_and_the_count() {
        let gate = gate(&POLICY);
        let seen = gate.load();
        end(&gate, POLICY, seen, Verdict::Failure, Tick(0));
        let five = POLICY.threshold(5);
        gate.renumber(&POLICY, &numbers(five), Tick(0));
        assert!(!end(&gate, five, seen, Verdict::Failure, Tick(0)).opened());
        assert_eq!(gate.load().count(), 2);
    }

    #[test]
    fn a_window_of_another_length_begins_a_generation_and_starts_empty() {
        let gate = gate(&POLICY);
        let seen = gate.load();
        end(&gate, POLICY, seen, Verdict::Failure, Tick(0));
        let windowed = numbers(POLICY.window(Window::Calls(4)));
        gate.renumber(&POLICY, &windowed, Tick(0));
        assert_eq!(gate.load(), Word::new(1, 0, Phase::Closed));
        assert_eq!(gate.era(1).emptied, 1);
    }
}
