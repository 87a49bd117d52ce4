//! recloser: a ring of the last calls.

use std::time::Duration;

use recloser::AsyncRecloser;
use recloser::Recloser;

use crate::harness::Build;
use crate::harness::work::Work;
use crate::harness::work::now;
use crate::work::fails;
use crate::work::polled;
use crate::work::succeeds;

pub(super) const CASES: &[(&str, Build)] = &[
    ("closed_count_window", ring),
    ("rejected", rejected),
    // Its window counts calls; it has none of time.
    ("two_threads_window", ring),
];

fn of_last(calls: usize) -> AsyncRecloser {
    let breaker = Recloser::custom()
        .closed_len(calls)
        .error_rate(0.5)
        .open_wait(Duration::from_secs(3600));
    breaker.build().into()
}

fn ring() -> Box<dyn Work> {
    let breaker = of_last(100);
    polled(move |x| breaker.call(succeeds(x)))
}

fn rejected() -> Box<dyn Work> {
    let breaker = of_last(1);
    // The first fills the ring, the second is judged.
    for x in 0..2 {
        now(breaker.call(fails(x))).expect_err("it fails");
    }
    polled(move |x| breaker.call(succeeds(x)))
}
