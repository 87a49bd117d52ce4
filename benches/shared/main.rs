//! What it costs to share circuits through Redis and how soon all know, beside two designs that
//! ask Redis at each call.
//!
//! `cargo bench --bench shared` starts its own servers. Each instance is a private registry
//! with its own connection and thread; all of them, the servers and the calls are on this one
//! machine, so that latencies hold what they take from each other, and no network. With
//! `-- --json`, the last line says the same as JSON; with `--check`, a bound that is missed is
//! an error; `--quick` measures for a shorter time, and `--only trips` one part.

use std::env;
use std::process::ExitCode;

use crate::effort::Effort;
use crate::report::Report;

mod back;
mod commands;
mod effort;
mod fleet;
mod floor;
mod hung;
mod peers;
mod probes;
mod report;
mod samples;
mod traffic;
mod trips;

type Part = fn(&Effort, &mut Report);

const PARTS: [(&str, Part); 6] = [
    ("commands", commands::measure),
    ("trips", trips::measure),
    ("hung", hung::measure),
    ("back", back::measure),
    ("probes", probes::measure),
    ("designs", peers::measure),
];

fn main() -> ExitCode {
    // Cargo adds `--bench`, which says nothing here.
    let args: Vec<String> = env::args().skip(1).collect();
    let is_said = |what: &str| args.iter().any(|arg| arg == what);
    let only = args.iter().position(|arg| arg == "--only");
    let only = only.and_then(|at| args.get(at + 1));
    let effort = if is_said("--quick") {
        Effort::quick()
    } else {
        Effort::full()
    };

    let mut report = Report::default();
    for (name, measure) in PARTS {
        if only.is_none_or(|only| only == name) {
            measure(&effort, &mut report);
        }
    }
    report.conclude();
    if is_said("--json") {
        println!("{}", report.json());
    }
    if is_said("--check") && report.has_missed() {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
