//! How soon all reject what one has seen fail.

use std::thread;
use std::time::Duration;
use std::time::Instant;

use breakerbox::Policy;
use breakerbox::State;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use crate::effort::Effort;
use crate::fleet::Fleet;
use crate::fleet::LONGEST;
use crate::fleet::server;
use crate::floor::Floor;
use crate::report::Report;
use crate::report::rounded;
use crate::samples::Samples;
use crate::samples::Sorted;
use crate::samples::millis;

const FAILURES: u32 = 5;

const POLICY: Policy = Policy::new()
    .threshold(FAILURES)
    .cooldown(Duration::from_secs(600));

/// How often all are looked at.
const GLANCE: Duration = Duration::from_micros(50);

/// Between two in haste: time enough to hear of the reset, and not for another flush.
const BREATH: Duration = Duration::from_millis(5);

/// Whoever has not heard of an opening by then, does not.
const LATEST: Duration = Duration::from_secs(5);

/// Between two openings, so that telling of one is not part of the other.
const PAUSE: Duration = Duration::from_millis(50);

/// How soon the others were open.
struct Took {
    /// After a pause.
    rested: Sorted,
    /// One opening after the other: the budget for flushes is spent, and only what hurries goes.
    in_haste: Sorted,
    /// How soon a message alone reaches as many.
    floor: Sorted,
}

pub(crate) fn measure(effort: &Effort, report: &mut Report) {
    report.title("From the first of 5 failures in one instance until another is open");
    let (mut rested, mut in_haste, mut floor) = (Map::new(), Map::new(), Map::new());
    for (instances, most) in [(16, 5.0), (64, 10.0)] {
        let took = of(instances, effort.trips);
        let p99 = millis(took.rested.p99());
        report.fact(
            &format!("{instances} instances, p50"),
            millis(took.rested.median()),
            "ms",
        );
        report.bound(&format!("{instances} instances, p99"), p99, most, "ms");
        let all = [
            (", max", took.rested.max()),
            (", one after the other, p50", took.in_haste.median()),
            (", one after the other, p99", took.in_haste.p99()),
            (", a message and nothing else, p50", took.floor.median()),
            (", a message and nothing else, p99", took.floor.p99()),
        ];
        for (what, took) in all {
            report.fact(&format!("{instances} instances{what}"), millis(took), "ms");
        }
        rested.insert(instances.to_string(), told(&took.rested));
        in_haste.insert(instances.to_string(), told(&took.in_haste));
        floor.insert(instances.to_string(), told(&took.floor));
    }
    report.tell("trip_ms", rested.into());
    report.tell("trip_in_haste_ms", in_haste.into());
    report.tell("message_ms", floor.into());
}

fn told(took: &Sorted) -> Value {
    json!({
        "p50": rounded(millis(took.median())),
        "p99": rounded(millis(took.p99())),
        "max": rounded(millis(took.max())),
    })
}

fn of(instances: usize, rounds: usize) -> Took {
    let server = server();
    let fleet = Fleet::start(&server, instances, POLICY);
    let mut message = Floor::start(&server, instances - 1);
    let (mut rested, mut floor) = (Samples::default(), Samples::default());
    for _ in 0..rounds {
        thread::sleep(PAUSE);
        open_and_reset(&fleet, &mut rested);
        thread::sleep(PAUSE);
        message.measure(&mut floor);
    }
    let mut in_haste = Samples::default();
    for _ in 0..rounds {
        thread::sleep(BREATH);
        open_and_reset(&fleet, &mut in_haste);
    }
    Took {
        rested: rested.sorted(),
        in_haste: in_haste.sorted(),
        floor: floor.sorted(),
    }
}

fn open_and_reset(fleet: &Fleet, samples: &mut Samples) {
    open(fleet, samples);
    // On a machine that is so busy that connections are lost, so may be what is told by hand.
    let begin = Instant::now();
    while !fleet.are(State::Closed) {
        assert!(begin.elapsed() < LONGEST, "it never came: all closed again");
        fleet.first().reset();
        let again = Instant::now() + Duration::from_secs(1);
        while !fleet.are(State::Closed) && Instant::now() < again {
            thread::sleep(GLANCE);
        }
    }
}

/// Opens the circuit in one instance, and notes when it is open in each other one.
fn open(fleet: &Fleet, samples: &mut Samples) {
    let first = fleet.first();
    let mut closed = fleet.breakers();
    closed.remove(0);
    let begin = Instant::now();
    for _ in 0..FAILURES {
        // What one sees alone opens its own circuit with the last of them, and not before.
        first.try_acquire().expect("a closed circuit").failure();
    }
    while !closed.is_empty() {
        // One that never hears of it took as long as anybody waits.
        let is_over = begin.elapsed() >= LATEST;
        closed.retain(|breaker| {
            let is_open = breaker.state() == State::Open || is_over;
            if is_open {
                samples.push(begin.elapsed());
            }
            !is_open
        });
        // On a busy machine whoever only yields has its turn much later than whoever slept.
        thread::sleep(GLANCE);
    }
}
