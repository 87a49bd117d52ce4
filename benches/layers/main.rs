//! What each policy costs alone, and what a stack of them costs, beside the same layers
//! of `tower` and `tower-resilience`.
//!
//! `cargo bench --bench layers` prints, for each row and contender, nanoseconds a call as
//! the minimum and the median of interleaved rounds, allocations a call, and instructions
//! a call where valgrind is installed. With `-- --json`, the last line says the same as
//! JSON. Compare figures of one run only.

use std::env;

use tokio::runtime;

use crate::harness::report;
use crate::rows::ROWS;

mod body;
mod contenders;
#[path = "../harness/mod.rs"]
mod harness;
mod numbers;
mod rows;

fn main() {
    // Timers belong to a runtime. The calls are polled in place within one, so that its
    // scheduler is in nobody's figures.
    let runtime = runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("a runtime without threads or files can be built");
    let _entered = runtime.enter();

    let mut args = env::args().skip(1).peekable();
    let cases = contenders::cases();
    if let Some(task) = harness::task(&mut args) {
        return harness::count(&task, &cases);
    }
    // Cargo adds `--bench`, which says nothing here.
    let is_json = args.any(|arg| arg == "--json");

    let measured = harness::measured(&mut harness::timed(&cases));
    report::table(ROWS, &measured);
    println!();
    println!("`tower` takes tower's own layers, and those of tower-resilience where it has");
    println!("none; `tower-resilience` takes its own alone, where that is another thing.");
    if is_json {
        println!("{}", report::json(ROWS, &measured));
    }
}
