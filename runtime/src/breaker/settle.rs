//! The end of a call.

use crate::breaker::Breaker;
use crate::breaker::Ending;
use crate::breaker::Stamp;
use crate::cells::Mine;
use crate::cells::Tally;
use crate::clock::Tick;
use crate::hot::Duties;
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
    fn succeed(&self, seen: Word, stamp: Stamp, duties: Duties) -> bool {
        let now = if duties.is_timed() || duties.by_time() {
            self.now(duties)
        } else {
            Tick(0)
        };
        let is_slow = stamp
            .age(now)
            .is_some_and(|age| self.service.hot.is_slow(age));
        let mine = self.service.cells.mine();
        let outcome = Outcome {
            verdict: Verdict::Success,
            is_slow,
        };
        self.count(mine, seen, stamp, outcome, duties, now);
        mine.add(if is_slow {
            Tally::SlowSuccess
        } else {
            Tally::Success
        });
        duties.has_window()
            && (is_slow || self.gate.is_time_to_judge(now))
            && self.judge(seen, outcome).1
    }

    /// The end of a call in all other cases. Says whether it opened the circuit.
    #[cold]
    pub(super) fn settle(&self, seen: Word, stamp: Stamp, ending: Ending) -> bool {
        let service = self.service;
        let now = service.host.clock.now();
        let age = stamp.age(now);
        let outcome = Outcome {
            verdict: match ending {
                Ending::Recorded(verdict) => verdict,
                Ending::Panicked => Verdict::Failure,
                Ending::Cancelled => service.hot.cancelled(age.unwrap_or(0)),
            },
            is_slow: age.is_some_and(|age| service.hot.is_slow(age)),
        };
        let mine = service.cells.mine();
        let (settled, opened) = self.decide(mine, seen, stamp, outcome, now);
        mine.add(tally(settled, ending, outcome));
        if ending == Ending::Cancelled {
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
        let duties = self.service.hot.duties();
        if matches!(seen.phase(), Phase::Closed | Phase::Watched) {
            if self.gate.load().generation() == seen.generation() {
                self.count(mine, seen, stamp, outcome, duties, now);
            }
            if seen.is_closed() {
                let decided = if duties.has_window() {
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
        self.judge(seen, outcome)
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
    #[inline]
    fn count(
        &self,
        mine: Mine<'_>,
        seen: Word,
        stamp: Stamp,
        outcome: Outcome,
        duties: Duties,
        now: Tick,
    ) {
        let generation = seen.generation();
        if duties.by_time() || duties.starts() {
            let ended = Ended {
                is_recorded: duties.by_time() && outcome.is_recorded(),
                is_failure: outcome.is_failure(),
                is_slow: outcome.is_slow,
                began: stamp.counted(),
            };
            self.write_ring(mine, |ring| {
                ring.ended(generation, ended, now, || self.era(generation));
            });
        }
        if duties.by_calls() && outcome.is_recorded() {
            self.gate
                .record(generation, outcome.is_failure(), outcome.is_slow);
        }
    }

    /// Asks the law what an outcome means that has been counted.
    #[cold]
    fn judge(&self, seen: Word, outcome: Outcome) -> (Settled, bool) {
        let now = self.service.host.clock.now();
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
        (Settled::Counted, Ending::Cancelled) => return Tally::Cancelled,
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
