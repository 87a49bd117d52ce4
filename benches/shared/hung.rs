//! What a call takes while the server hangs, beside what it takes otherwise.

use std::thread;
use std::time::Duration;
use std::time::Instant;

use breakerbox::Breaker;
use breakerbox::Policy;
use serde_json::json;

use crate::effort::Effort;
use crate::fleet::Fleet;
use crate::fleet::server;
use crate::report::Report;
use crate::report::rounded;
use crate::samples::Samples;
use crate::samples::Sorted;
use crate::samples::micros;

const INSTANCES: usize = 16;
const THREADS: usize = 4;

/// Calls that a thread makes one after the other before it pauses.
const BURST: usize = 100;

const POLICY: Policy = Policy::new().threshold(10);

pub(crate) fn measure(effort: &Effort, report: &mut Report) {
    report.title("A call of a closed circuit while the server hangs (SIGSTOP); 1 % fail");
    let server = server();
    let fleet = Fleet::start(&server, INSTANCES, POLICY);
    let breakers = fleet.breakers();
    let mut healthy = Samples::default();
    let mut hung = Samples::default();
    // What makes the machine slower for a while does so to both.
    for stop in 1..=effort.stops {
        healthy.extend(calls(&breakers, effort.stop));
        server.stop();
        hung.extend(calls(&breakers, effort.stop));
        server.cont();
        fleet.all("it finds the store again", |it| it.times_found() > stop);
    }
    let (healthy, hung) = (healthy.sorted(), hung.sorted());
    let ratio = p999(&hung) / p999(&healthy);
    for (name, samples) in [("healthy", &healthy), ("hung", &hung)] {
        report.fact(&format!("{name}, p50"), micros(samples.median()), "us");
        report.fact(&format!("{name}, p99"), micros(samples.p99()), "us");
        report.fact(&format!("{name}, p99.9"), p999(samples), "us");
    }
    report.bound("p99.9 while it hangs over p99.9 otherwise", ratio, 1.5, "");
    let told = |samples: &Sorted| {
        json!({
            "p50": rounded(micros(samples.median())),
            "p99": rounded(micros(samples.p99())),
            "p999": rounded(p999(samples)),
        })
    };
    report.tell("hung_ratio", json!(rounded(ratio)));
    report.tell(
        "hung_us",
        json!({"healthy": told(&healthy), "hung": told(&hung)}),
    );
}

fn p999(samples: &Sorted) -> f64 {
    micros(samples.of_thousand(999))
}

fn calls(breakers: &[&'static Breaker], how_long: Duration) -> Samples {
    let until = Instant::now() + how_long;
    let mut samples = Samples::default();
    thread::scope(|scope| {
        let threads = (0..THREADS).map(|_| scope.spawn(|| calls_of_one(breakers, until)));
        // All of them begin before one is waited for.
        for thread in threads.collect::<Vec<_>>() {
            samples.extend(thread.join().expect("a thread that does not panic"));
        }
    });
    samples
}

fn calls_of_one(breakers: &[&Breaker], until: Instant) -> Samples {
    let mut samples = Samples::with_capacity(200_000);
    while Instant::now() < until {
        for _ in 0..BURST {
            let breaker = breakers[fastrand::usize(..breakers.len())];
            if fastrand::u32(..100) == 0 {
                breaker.try_acquire().expect("a closed circuit").failure();
                continue;
            }
            let begin = Instant::now();
            breaker.try_acquire().expect("a closed circuit").success();
            samples.push(begin.elapsed());
        }
        thread::sleep(Duration::from_millis(1));
    }
    samples
}
