//! What is asked of a breaker. Each question gets a fresh one.

use std::fmt;
use std::thread;
use std::time::Duration;

use crate::body::End;
use crate::call;
use crate::call::Breaker;
use crate::call::InFlight;

/// How long a circuit stays open here.
pub(crate) const COOLDOWN: Duration = Duration::from_millis(60);

/// A circuit that is not back after so many cooldowns never will be.
const COOLDOWNS: u32 = 20;

/// Calls made at once when a circuit is half-open.
const CROWD: usize = 50;

/// Calls made to see whether a circuit admits any.
const FRESH: usize = 10;

/// The most failures that any breaker may need to open.
const FAILURES: usize = 20_000;

/// An answer, and whether it is a correct one.
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) is_right: bool,
}

impl Answer {
    fn new(is_right: bool, text: impl fmt::Display) -> Self {
        let text = text.to_string();
        Self { text, is_right }
    }

    fn of(count: usize, all: usize, right: usize) -> Self {
        Self::new(count == right, format_args!("{count} of {all}"))
    }
}

/// All probes that are admitted are dropped in flight.
pub(crate) fn dropped_probes(breaker: &Breaker) -> Answer {
    half_open(breaker);
    drop(call::start(breaker, CROWD));
    recovery(breaker)
}

/// All probes that are admitted panic.
pub(crate) fn panicked_probes(breaker: &Breaker) -> Answer {
    half_open(breaker);
    for probe in call::start(breaker, CROWD) {
        probe.end(End::Panic);
    }
    recovery(breaker)
}

/// One probe is asked for, and a crowd comes.
pub(crate) fn probes_at_once(breaker: &Breaker) -> Answer {
    half_open(breaker);
    let admitted = call::start(breaker, CROWD).len();
    Answer::of(admitted, CROWD, 1)
}

/// While a probe is in flight, a call from before the circuit opened succeeds: that says
/// nothing about the service as it is now.
pub(crate) fn admitted_after_an_old_success(breaker: &Breaker) -> Answer {
    let (old, _probe) = old_call_and_probe(breaker);
    old.end(End::Success);
    Answer::of(call::start(breaker, FRESH).len(), FRESH, 0)
}

/// While a probe is in flight, a call from before the circuit opened fails. Then the probe
/// succeeds, and it alone knows about now.
pub(crate) fn admitted_after_an_old_failure(breaker: &Breaker) -> Answer {
    let (old, probe) = old_call_and_probe(breaker);
    old.end(End::Failure);
    probe.end(End::Success);
    Answer::of(call::start(breaker, FRESH).len(), FRESH, FRESH)
}

/// It opens when half of 100 calls failed. Before, 10,000 calls succeeded, of which a window
/// of the last 100 knows no more.
pub(crate) fn failures_to_open_by_rate(breaker: &Breaker) -> Answer {
    for _ in 0..10_000 {
        call::call(breaker, End::Success);
    }
    let failures = fail_until_open(breaker);
    Answer::new((50..=51).contains(&failures), failures)
}

fn recovery(breaker: &Breaker) -> Answer {
    for cooldowns in 1..=COOLDOWNS {
        sleep_over_a_cooldown();
        if InFlight::start(breaker).is_some() {
            let s = if cooldowns == 1 { "" } else { "s" };
            return Answer::new(true, format_args!("probes after {cooldowns} cooldown{s}"));
        }
    }
    Answer::new(false, "rejects for ever")
}

/// Two calls in flight: one from before the circuit opened, and a probe.
fn old_call_and_probe(breaker: &Breaker) -> (InFlight, InFlight) {
    let old = InFlight::start(breaker).expect("a new circuit is closed");
    half_open(breaker);
    let probe = InFlight::start(breaker).expect("a probe after the cooldown");
    (old, probe)
}

/// Opens the circuit and waits until the next call is a probe.
fn half_open(breaker: &Breaker) {
    fail_until_open(breaker);
    sleep_over_a_cooldown();
}

/// How many failures were admitted before the first rejection.
fn fail_until_open(breaker: &Breaker) -> usize {
    let mut failures = 0;
    while failures < FAILURES && call::call(breaker, End::Failure) {
        failures += 1;
    }
    failures
}

fn sleep_over_a_cooldown() {
    thread::sleep(COOLDOWN + Duration::from_millis(15));
}
