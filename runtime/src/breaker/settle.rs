//! The end of a call.

use crate::breaker::Breaker;
use crate::breaker::Ending;
use crate::breaker::Stamp;
use crate::cells::Mine;
use crate::cells::Tally;
use crate::clock::Tick;
use crate::hot::Duties;
use crate::policy::Key;
use crate::ring::Ended;
use crate::rules::Outcome;
use crate::rules::Settled;
use crate::verdict::Verdict;
use crate::word::Phase;
use crate::word::Word;

impl Breaker {
    /// Whether a call ends as most do: all that is left to do is to count it.
    #[inline]
    pub(super) fn is_usual(&self, seen: Word, verdict: Verdict) -> bool {
        matches!(verdict, Verdict::Success)
            && self.gate.is_calm_since(seen)
            && self.service.hot.duties().are_none()
    }

    /// Any other end of a call. Says whether it opened the circuit.
    #[inline(never)]
    pub(super) fn record_rest(&self, seen: Word, stamp: Stamp, verdict: Verdict) -> bool {
        if matches!(verdict, Verdict::Success) && self.gate.is_calm_since(seen) {
            self.succeed(seen, stamp, self.service.hot.duties())
        } else {
            self.settle(seen, stamp, Ending::Recorded(verdict))
        }
    }

    /// A success in a circuit that has not moved since: nothing changes in the word, but it
    /// is counted. Says whether it opened the circuit, which a success can do.
    #[inline(always)]
    fn succeed(&self, seen: Word, stamp: Stamp, duties: Duties) -> bool {
        if duties.is_timed() || duties.by_time() {
            return self.succeed_in_time(seen, stamp, duties);
        }
        // What is left is a count window.
        self.gate.record(seen.generation(), false, false);
        self.service.cells.add(Tally::Success);
        self.gate.is_time_to_judge(Tick(0)) && self.judge_success(seen, false)
    }

    #[inline(always)]
    fn succeed_in_time(&self, seen: Word, stamp: Stamp, duties: Duties) -> bool {
        let now = self.now(duties);
        let is_apart = match stamp.age(now) {
            Some(age) => self.service.hot.is_apart(age),
            None => false,
        };
        if is_apart {
            return self.succeed_apart(seen, stamp, now);
        }
        let mine = self.service.cells.mine();
        if duties.by_time() || duties.starts() {
            let ended = Ended {
                is_recorded: duties.by_time(),
                is_failure: false,
                is_slow: false,
                began: stamp.counted(),
            };
            self.count_end(mine, seen, ended, now);
        }
        mine.add(Tally::Success);
        if duties.by_calls() {
            self.gate.record(seen.generation(), false, false);
        }
        duties.has_window() && self.gate.is_time_to_judge(now) && self.judge_success(seen, false)
    }

    /// The same where it was slow, or where it is measured how long it took: one question for
    /// both, so that nobody else pays for the second.
    #[cold]
    #[inline(never)]
    fn succeed_apart(&self, seen: Word, stamp: Stamp, now: Tick) -> bool {
        let age = stamp.age(now);
        let is_slow = age.is_some_and(|age| self.service.hot.is_slow(age));
        let tally = if is_slow {
            Tally::SlowSuccess
        } else {
            Tally::Success
        };
        let mine = self.service.cells.mine();
        let outcome = Outcome {
            verdict: Verdict::Success,
            is_slow,
        };
        self.count(mine, seen, stamp, outcome, now);
        self.add(mine, tally, age);
        if is_slow {
            self.share(seen, outcome, Settled::Counted);
        }
        self.service.hot.duties().has_window()
            && (is_slow || self.gate.is_time_to_judge(now))
            && self.judge_success(seen, is_slow)
    }

    /// Counts how a call ended, and how long it took where that is measured.
    fn add(&self, mine: Mine<'_>, tally: Tally, age: Option<u64>) {
        mine.add(tally);
        #[cfg(feature = "metrics")]
        if let Some(age) = age
            && self.service.hot.duties().is_measured()
        {
            mine.took(tally, age);
        }
        #[cfg(not(feature = "metrics"))]
        let _ = age;
    }

    #[cold]
    #[inline(never)]
    fn judge_success(&self, seen: Word, is_slow: bool) -> bool {
        let outcome = Outcome {
            verdict: Verdict::Success,
            is_slow,
        };
        self.judge(seen, outcome, self.service.host.clock.now()).1
    }

    /// The end of a call in all other cases. Says whether it opened the circuit.
    #[cold]
    pub(super) fn settle(&self, seen: Word, stamp: Stamp, ending: Ending) -> bool {
        let service = self.service;
        let now = service.host.clock.now();
        // Both ends of an age are read from one clock: a cheap one may be behind.
        let age = stamp.age(match seen.phase() {
            Phase::HalfOpen | Phase::Leased => now,
            _ => self.now(service.hot.duties()),
        });
        let outcome = Outcome {
            verdict: match ending {
                Ending::Recorded(verdict) => verdict,
                Ending::Panicked => Verdict::Failure,
                // The attribute's own timeout has passed, unless somebody wants it otherwise.
                Ending::Struck if !service.numbers().policy.writes(Key::OnCancel) => {
                    Verdict::Failure
                }
                Ending::Struck | Ending::Cancelled => service.hot.cancelled(age.unwrap_or(0)),
            },
            is_slow: age.is_some_and(|age| service.hot.is_slow(age)),
        };
        let mine = service.cells.mine();
        let (settled, opened) = self.decide(mine, seen, stamp, outcome, now);
        self.share(seen, outcome, settled);
        self.add(mine, tally(settled, ending, outcome), age);
        // What counts as a failure hides nothing.
        if matches!(ending, Ending::Cancelled | Ending::Struck) && !outcome.is_failure() {
            service.cancelled();
        }
        opened
    }

    fn decide(
        &self,
        mine: Mine<'_>,
        seen: Word,
        stamp: Stamp,
        outcome: Outcome,
        now: Tick,
    ) -> (Settled, bool) {
        if seen.phase() == Phase::Leased {
            return (self.end_leased(seen, outcome), false);
        }
        if matches!(seen.phase(), Phase::Closed | Phase::Watched) {
            if self.gate.load().generation() == seen.generation() {
                self.count(mine, seen, stamp, outcome, now);
            }
            if seen.is_closed() {
                let decided = if self.service.hot.duties().has_window() {
                    self.says_nothing(seen, outcome)
                } else {
                    let threshold = self.service.hot.threshold();
                    self.gate.count(threshold, seen, outcome)
                };
                if let Some(settled) = decided {
                    return (settled, false);
                }
            }
        }
        self.judge(seen, outcome, now)
    }

    /// What becomes of an outcome that nobody has to judge.
    fn says_nothing(&self, seen: Word, outcome: Outcome) -> Option<Settled> {
        if self.gate.load().generation() != seen.generation() {
            Some(Settled::Late)
        } else if outcome.is_recorded() {
            None
        } else {
            Some(Settled::Counted)
        }
    }

    /// Counts an outcome of a closed circuit by its time, or among the last so many.
    #[cold]
    #[inline(never)]
    fn count(&self, mine: Mine<'_>, seen: Word, stamp: Stamp, outcome: Outcome, now: Tick) {
        let duties = self.service.hot.duties();
        if duties.by_time() || duties.starts() {
            let ended = Ended {
                is_recorded: duties.by_time() && outcome.is_recorded(),
                is_failure: outcome.is_failure(),
                is_slow: outcome.is_slow,
                began: stamp.counted(),
            };
            self.count_end(mine, seen, ended, now);
        }
        if duties.by_calls() && outcome.is_recorded() {
            let generation = seen.generation();
            self.gate
                .record(generation, outcome.is_failure(), outcome.is_slow);
        }
    }

    /// Asks the law what an outcome means that has been counted.
    #[cold]
    fn judge(&self, seen: Word, outcome: Outcome, now: Tick) -> (Settled, bool) {
        let numbers = self.service.numbers();
        let totals = |era| self.total(&numbers, era, now);
        let (settled, changes) = self.gate.settle(&numbers, seen, outcome, totals, now);
        drop(numbers);
        (settled, self.tell(&changes))
    }
}

/// One outcome a call.
const fn tally(settled: Settled, ending: Ending, outcome: Outcome) -> Tally {
    let verdict = match (settled, ending) {
        (Settled::Late, _) => return Tally::Late,
        (Settled::Counted, Ending::Panicked) => return Tally::Panicked,
        (Settled::Counted, Ending::Cancelled | Ending::Struck) => return Tally::Cancelled,
        (Settled::Counted, Ending::Recorded(verdict)) => verdict,
    };
    match (verdict, outcome.is_slow) {
        (Verdict::Ignore, _) => Tally::Ignored,
        (Verdict::Success, false) => Tally::Success,
        (Verdict::Success, true) => Tally::SlowSuccess,
        (Verdict::Failure | Verdict::RetryAfter(_) | Verdict::OpenFor(_), false) => Tally::Failure,
        (Verdict::Failure | Verdict::RetryAfter(_) | Verdict::OpenFor(_), true) => {
            Tally::SlowFailure
        }
    }
}
