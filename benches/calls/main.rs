//! What a guarded call costs beside the same call without a guard, and beside the same
//! call guarded by other crates.
//!
//! `cargo bench --bench calls` prints, for each row and contender, nanoseconds a call as
//! the minimum and the median of interleaved rounds, allocations a call, and instructions
//! a call where valgrind is installed. With `-- --json`, the last line says the same as
//! JSON. Compare figures of one run only.

use std::env;

use metrics_exporter_prometheus::PrometheusBuilder;

use crate::contenders::Case;
use crate::instructions::Task;
use crate::measure::Timed;
use crate::report::Measured;
use crate::rows::RECORDER;

mod allocations;
mod contenders;
mod instructions;
mod measure;
mod report;
mod rows;
mod two_threads;
mod work;

fn main() {
    let mut args = env::args().skip(1).peekable();
    if args.next_if(|arg| arg == instructions::COUNTED).is_some() {
        return counted(args);
    }
    // Cargo adds `--bench`, which says nothing here.
    let is_json = args.any(|arg| arg == "--json");

    let cases = contenders::cases();
    let (recorded, plain): (Vec<_>, Vec<_>) = cases.iter().partition(|case| case.row == RECORDER);
    let mut timed = timed(&plain);
    install_recorder();
    timed.extend(self::timed(&recorded));

    let instructions = instructions::of(&timed);
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
    let measured: Vec<_> = measured.collect();
    report::table(&measured);
    if is_json {
        println!("{}", report::json(&measured));
    }
}

fn timed(cases: &[&Case]) -> Vec<Timed> {
    let mut timed: Vec<_> = cases.iter().map(|case| Timed::new(case)).collect();
    measure::rounds(&mut timed);
    timed
}

/// What a process under valgrind does: some calls of one contender.
fn counted(args: impl Iterator<Item = String>) {
    let Some(task) = Task::read(args) else {
        return eprintln!("{} row contender rounds calls", instructions::COUNTED);
    };
    if task.row == RECORDER {
        install_recorder();
    }
    let cases = contenders::cases();
    let is_meant = |case: &&Case| case.row == task.row && case.who == task.who;
    if let Some(case) = cases.iter().find(is_meant) {
        task.run((case.build)().as_mut());
    }
}

fn install_recorder() {
    PrometheusBuilder::new()
        .install_recorder()
        .expect("no recorder was installed before");
}
