//! What becomes of a circuit when its probes are dropped, panic, come in a crowd or meet
//! the outcome of an older call: ours beside those of other crates.
//!
//! `cargo bench --bench correctness` prints a Markdown table. It waits for real cooldowns,
//! of 60 ms, and takes some seconds.

use std::panic;

use crate::breakers::ALL;
use crate::breakers::Contender;
use crate::report::Line;

mod body;
mod breakers;
mod call;
mod questions;
mod report;

fn main() {
    // Bodies panic on purpose.
    panic::set_hook(Box::new(|_| {}));
    let lines: Vec<_> = ALL.iter().map(asked).collect();
    let _ = panic::take_hook();
    report::print(&lines);
}

fn asked(contender: &Contender) -> Line {
    let breaker = contender.breaker;
    let by_rate = contender.by_rate;
    Line {
        who: contender.name,
        answers: [
            Some(questions::dropped_probes(&breaker())),
            Some(questions::panicked_probes(&breaker())),
            Some(questions::probes_at_once(&breaker())),
            Some(questions::admitted_after_an_old_success(&breaker())),
            Some(questions::admitted_after_an_old_failure(&breaker())),
            by_rate.map(|by_rate| questions::failures_to_open_by_rate(&by_rate())),
        ],
    }
}
