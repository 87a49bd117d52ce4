//! What the benchmarks share: a loop around a call, rounds that go round all contenders,
//! allocations, instructions where valgrind is installed, and the report.
//!
//! Each benchmark compiles it as a module of its own, so that everything may be inlined
//! into the loop that is measured.

use std::iter::Peekable;

use self::instructions::Task;
use self::measure::Timed;
use self::report::Measured;
use self::work::Work;

mod allocations;
mod instructions;
mod measure;
pub(crate) mod report;
mod two_threads;
pub(crate) mod work;

/// One row: by how many threads at once the calls are made, and whether they are let through.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) threads: usize,
    pub(crate) admits: bool,
}

/// One contender in one row. It is built only when it is measured, so that a process that
/// counts the instructions of one runs no other.
pub(crate) struct Case {
    pub(crate) row: &'static Row,
    pub(crate) who: &'static str,
    pub(crate) build: Build,
}

/// Makes what is measured.
pub(crate) type Build = fn() -> Box<dyn Work>;

/// The name of our own column; in the row `bare` it is the call without a guard.
pub(crate) const OURS: &str = "breakerbox";

/// A row of calls that one thread makes and that are let through.
pub(crate) const fn row(name: &'static str) -> Row {
    Row {
        name,
        threads: 1,
        admits: true,
    }
}

/// Each contender in each of its rows, in the order given.
pub(crate) fn cases(
    rows: &'static [Row],
    contenders: &[(&'static str, &[(&str, Build)])],
) -> Vec<Case> {
    let of_all = contenders.iter().flat_map(|&(who, cases)| {
        let case = move |&(row, build)| Case {
            row: named(rows, row),
            who,
            build,
        };
        cases.iter().map(case)
    });
    of_all.collect()
}

fn named(rows: &'static [Row], name: &str) -> &'static Row {
    let row = rows.iter().find(|row| row.name == name);
    row.expect("every case is in a row")
}

/// What this process, started under valgrind by itself, has to do; nothing for any other.
pub(crate) fn task(args: &mut Peekable<impl Iterator<Item = String>>) -> Option<Task> {
    args.next_if(|arg| arg == instructions::COUNTED)?;
    let task = Task::read(args);
    Some(task.expect("row, contender, rounds and calls"))
}

/// Makes the calls of the one contender that is counted.
pub(crate) fn count(task: &Task, cases: &[Case]) {
    let is_meant = |case: &&Case| case.row.name == task.row && case.who == task.who;
    let case = cases.iter().find(is_meant).expect("it was timed before");
    task.run((case.build)().as_mut());
}

/// Measures the time of all of them, round by round.
pub(crate) fn timed<'a>(cases: impl IntoIterator<Item = &'a Case>) -> Vec<Timed> {
    let mut timed: Vec<_> = cases.into_iter().map(Timed::new).collect();
    measure::rounds(&mut timed);
    timed
}

/// Adds to the times what else is known of each.
pub(crate) fn measured(timed: &mut [Timed]) -> Vec<Measured> {
    let instructions = instructions::of(timed);
    let with_instructions = timed.iter_mut().zip(instructions);
    let measured = with_instructions.map(|(timed, instructions)| {
        let (min, median) = timed.min_and_median();
        Measured {
            row: timed.row.name,
            who: timed.who,
            min,
            median,
            allocations: allocations::of(timed.work.as_mut()),
            instructions,
        }
    });
    measured.collect()
}
