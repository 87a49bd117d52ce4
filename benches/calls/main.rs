//! What a guarded call costs beside the same call without a guard, and beside the same
//! call guarded by other crates.
//!
//! `cargo bench --bench calls` prints, for each row and contender, nanoseconds a call as
//! the minimum and the median of interleaved rounds, allocations a call, and instructions
//! a call where valgrind is installed. With `-- --json`, the last line says the same as
//! JSON. Compare figures of one run only.

use std::env;

use metrics_exporter_prometheus::PrometheusBuilder;

use crate::harness::report;
use crate::rows::RECORDER;
use crate::rows::ROWS;

mod contenders;
#[path = "../harness/mod.rs"]
mod harness;
mod rows;
mod work;

fn main() {
    let mut args = env::args().skip(1).peekable();
    let cases = contenders::cases();
    if let Some(task) = harness::task(&mut args) {
        if task.row == RECORDER {
            install_recorder();
        }
        return harness::count(&task, &cases);
    }
    // Cargo adds `--bench`, which says nothing here.
    let is_json = args.any(|arg| arg == "--json");

    let (recorded, plain): (Vec<_>, Vec<_>) =
        cases.iter().partition(|case| case.row.name == RECORDER);
    let mut timed = harness::timed(plain);
    install_recorder();
    timed.extend(harness::timed(recorded));

    let measured = harness::measured(&mut timed);
    report::table(ROWS, &measured);
    println!();
    println!("With two threads: a call of one of them. Read the median of locks there, since");
    println!("their minimum is a round in which one thread kept the lock.");
    if is_json {
        println!("{}", report::json(ROWS, &measured));
    }
}

fn install_recorder() {
    PrometheusBuilder::new()
        .install_recorder()
        .expect("no recorder was installed before");
}
