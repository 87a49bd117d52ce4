//! Nanoseconds a call, in rounds that go round all contenders: a machine that becomes
//! slower for a while becomes so for all of them.

use std::time::Duration;
use std::time::Instant;

use crate::contenders::Case;
use crate::rows;
use crate::rows::Row;
use crate::two_threads;
use crate::work::Work;

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
    nanos: Vec<f64>,
}

impl Timed {
    pub(crate) fn new(case: &Case) -> Self {
        let mut work = (case.build)();
        let calls = calls_of_a_round(work.as_mut());
        Self {
            row: rows::named(case.row),
            who: case.who,
            work,
            calls,
            nanos: Vec::with_capacity(ROUNDS),
        }
    }

    /// The fastest round and the one in the middle.
    pub(crate) fn min_and_median(&self) -> (f64, f64) {
        let mut nanos = self.nanos.clone();
        nanos.sort_by(f64::total_cmp);
        (nanos[0], nanos[nanos.len() / 2])
    }

    fn round(&mut self) {
        self.work.prepare();
        let work = self.work.as_ref();
        self.nanos.push(match self.row.threads {
            1 => alone(work, self.calls),
            _ => two_threads::together(work, self.calls / 20 + 1),
        });
    }

    /// A circuit that opened by itself would be measured as something else.
    fn check(&self) {
        let is_ok = self.work.run(1);
        let (who, row) = (self.who, self.row.name);
        assert_eq!(is_ok, self.row.admits, "is {who} closed in {row}?");
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
