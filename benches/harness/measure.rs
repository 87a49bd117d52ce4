//! Nanoseconds a call, in rounds that go round all contenders: a machine that becomes
//! slower for a while becomes so for all of them.

use std::time::Duration;
use std::time::Instant;

use super::Case;
use super::Row;
use super::two_threads;
use super::work::Work;

const ROUNDS: usize = 200;

/// About how long a round of one contender is. Short rounds are seldom interrupted.
pub(crate) const ROUND: Duration = Duration::from_millis(1);

/// One contender as it is measured.
pub(crate) struct Timed {
    pub(crate) row: &'static Row,
    pub(crate) who: &'static str,
    pub(crate) work: Box<dyn Work>,
    /// How many calls a round is.
    calls: u64,
    rounds: Vec<Round>,
}

/// One round of one contender.
#[derive(Clone, Copy)]
pub(crate) struct Round {
    /// A call.
    pub(crate) nanos: f64,
    /// How long not all threads of the round ran. On a busy machine one of two runs while
    /// the other waits, which would flatter every lock.
    pub(crate) disturbed: Duration,
}

impl Timed {
    pub(crate) fn new(case: &Case) -> Self {
        let mut work = (case.build)();
        let calls = calls_of_a_round(work.as_mut());
        let timed = Self {
            row: case.row,
            who: case.who,
            work,
            calls,
            rounds: Vec::with_capacity(ROUNDS),
        };
        timed.check();
        timed
    }

    /// The fastest round and the one in the middle, of those that nothing disturbed.
    pub(crate) fn min_and_median(&self) -> (f64, f64) {
        let mut rounds = self.rounds.clone();
        rounds.sort_by_key(|round| round.disturbed);
        let undisturbed = rounds.partition_point(|round| round.disturbed < ROUND / 20);
        rounds.truncate(undisturbed.max(5));
        rounds.sort_by(|one, other| one.nanos.total_cmp(&other.nanos));
        (rounds[0].nanos, rounds[rounds.len() / 2].nanos)
    }

    fn round(&mut self) {
        self.work.prepare();
        let work = self.work.as_ref();
        self.rounds.push(match self.row.threads {
            1 => Round {
                nanos: alone(work, self.calls),
                disturbed: Duration::ZERO,
            },
            _ => two_threads::together(work, self.calls / 20 + 1),
        });
    }

    /// Asked before the first round and after the last: something that answers wrongly, or
    /// a circuit that opened by itself, would be measured as something else.
    fn check(&self) {
        let is_ok = self.work.run(1);
        let (who, row) = (self.who, self.row.name);
        assert_eq!(
            is_ok, self.row.admits,
            "does {who} answer as it should in {row}?"
        );
    }
}

/// Measures all of them, round by round.
pub(crate) fn rounds(contenders: &mut [Timed]) {
    for _ in 0..ROUNDS {
        for contender in &mut *contenders {
            contender.round();
        }
    }
    for contender in contenders {
        contender.check();
    }
}

fn calls_of_a_round(work: &mut dyn Work) -> u64 {
    let mut calls = 64;
    while calls < work.most() {
        work.prepare();
        if alone(work, calls) * as_f64(calls.into()) >= as_f64(ROUND.as_nanos()) {
            return calls;
        }
        calls *= 2;
    }
    work.most()
}

fn alone(work: &dyn Work, calls: u64) -> f64 {
    let mut elapsed = Duration::ZERO;
    allocation_counter::opt_out(|| {
        let begin = Instant::now();
        work.run(calls);
        elapsed = begin.elapsed();
    });
    each(elapsed, calls)
}

/// Nanoseconds a call.
pub(crate) fn each(elapsed: Duration, calls: u64) -> f64 {
    as_f64(elapsed.as_nanos()) / as_f64(calls.into())
}

#[allow(clippy::cast_precision_loss)]
fn as_f64(number: u128) -> f64 {
    number as f64
}
