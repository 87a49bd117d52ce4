//! Instructions a call, as valgrind counts them.
//!
//! The benchmark starts itself under valgrind, once for each contender. Only what the
//! calling thread does within one function is counted: neither the preparation nor the
//! threads of the background.

use std::env;
use std::process::Command;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::thread;

use super::measure::Timed;
use super::work::Work;

/// The first argument of a process that is counted.
pub(super) const COUNTED: &str = "--counted";

/// How many calls are counted, or a few less.
const CALLS: u64 = 2_000;

/// What one process has to do, as its arguments say it.
pub(crate) struct Task {
    pub(crate) row: String,
    pub(crate) who: String,
    rounds: u64,
    calls: u64,
}

impl Task {
    /// Reads the arguments after the first.
    pub(super) fn read(args: &mut impl Iterator<Item = String>) -> Option<Self> {
        Some(Self {
            row: args.next()?,
            who: args.next()?,
            rounds: args.next()?.parse().ok()?,
            calls: args.next()?.parse().ok()?,
        })
    }

    pub(crate) fn run(&self, work: &mut dyn Work) {
        allocation_counter::opt_out(|| {
            // What is made by the first calls is not part of the others.
            work.run(self.calls.min(10));
            for _ in 0..self.rounds {
                work.prepare();
                counted_calls(work, self.calls);
            }
        });
    }

    fn of(timed: &Timed) -> Self {
        let calls = timed.work.most().min(CALLS);
        Self {
            row: timed.row.name.to_owned(),
            who: timed.who.to_owned(),
            // Where few calls can be made at a time, they are made more often.
            rounds: (CALLS / 4 / calls).max(1),
            calls,
        }
    }

    /// Instructions a call, or nothing where valgrind fails.
    fn count(&self) -> Option<f64> {
        let mut valgrind = valgrind();
        valgrind
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg("--toggle-collect=*counted_calls*")
            .arg(env::current_exe().ok()?)
            .args([COUNTED, &self.row, &self.who])
            .args([self.rounds, self.calls].map(|number| number.to_string()));
        let output = valgrind.output().ok()?;
        let said = String::from_utf8_lossy(&output.stderr);
        let collected = said.lines().find_map(|line| line.split_once("Collected :"));
        let collected: u32 = collected?.1.trim().parse().ok()?;
        let calls = u32::try_from(self.rounds * self.calls).ok()?;
        Some(f64::from(collected) / f64::from(calls))
    }
}

/// Counts for each of them, in two processes at a time. Those of the rows of two threads
/// are not counted: they are the calls of the same contender alone.
pub(crate) fn of(timed: &[Timed]) -> Vec<Option<f64>> {
    let mut counts = vec![None; timed.len()];
    let version = valgrind().arg("--version").stdout(Stdio::null()).status();
    if !version.is_ok_and(|status| status.success()) {
        println!("Instructions are not counted, because valgrind is not installed.");
        return counts;
    }
    let alone = timed.iter().zip(&mut counts);
    let alone = alone.filter(|(timed, _)| timed.row.threads == 1);
    let tasks = alone.map(|(timed, count)| (Task::of(timed), count));
    let tasks = Mutex::new(tasks.collect::<Vec<_>>());
    let work = || {
        while let Some((task, count)) = taken(&tasks) {
            *count = task.count();
        }
    };
    thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    counts
}

fn taken<T>(tasks: &Mutex<Vec<T>>) -> Option<T> {
    tasks.lock().unwrap_or_else(PoisonError::into_inner).pop()
}

/// The function that valgrind knows by its name.
#[inline(never)]
fn counted_calls(work: &dyn Work, calls: u64) {
    work.run(calls);
}

fn valgrind() -> Command {
    Command::new("valgrind")
}
