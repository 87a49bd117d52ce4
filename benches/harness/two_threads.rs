//! A round in which two threads hammer one breaker.

use std::fs;
use std::hint::spin_loop;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use super::measure::ROUND;
use super::measure::Round;
use super::measure::each;
use super::work::Work;

/// What one of the two threads did.
struct Half {
    nanos: f64,
    begin: Instant,
    /// How long it was ready to run and did not.
    waited: Duration,
}

/// Nanoseconds a call of one thread while another calls, too. Both look at the time after
/// each `chunk` of calls.
pub(crate) fn together(work: &dyn Work, chunk: u64) -> Round {
    let ready = AtomicUsize::new(0);
    let one = || {
        let mut half = None;
        allocation_counter::opt_out(|| half = Some(one_of_two(work, chunk, &ready)));
        half.expect("it ran")
    };
    let [one, other] = thread::scope(|scope| {
        let both = [scope.spawn(one), scope.spawn(one)];
        both.map(|thread| thread.join().expect("no call panics"))
    });
    let between = one.begin.max(other.begin) - one.begin.min(other.begin);
    Round {
        nanos: f64::midpoint(one.nanos, other.nanos),
        disturbed: between + one.waited + other.waited,
    }
}

fn one_of_two(work: &dyn Work, chunk: u64, ready: &AtomicUsize) -> Half {
    // What a thread has of its own is made by its first call.
    work.run(1);
    ready.fetch_add(1, SeqCst);
    while ready.load(SeqCst) < 2 {
        spin_loop();
    }
    let before = waited();
    let begin = Instant::now();
    let mut calls = 0;
    loop {
        work.run(chunk);
        calls += chunk;
        let elapsed = begin.elapsed();
        if elapsed >= ROUND {
            return Half {
                nanos: each(elapsed, calls),
                begin,
                waited: waited().saturating_sub(before),
            };
        }
    }
}

/// How long this thread has waited for a processor so far, as Linux tells it; zero elsewhere.
fn waited() -> Duration {
    let told = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = told.split(' ').nth(1).and_then(|nanos| nanos.parse().ok());
    Duration::from_nanos(nanos.unwrap_or_default())
}
