//! Calls of all instances at an even rate.

use std::thread;
use std::time::Duration;
use std::time::Instant;

use breakerbox::Breaker;

/// What became of the calls.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traffic {
    pub(crate) calls: u32,
    pub(crate) rejected: u32,
}

/// Calls a second, of all instances together.
pub(crate) const RATE: u32 = 10_000;

/// Makes so many calls a second for so long, as long as they are to `go_on`. Each is made by an
/// instance that is drawn, and fails in so many of a thousand cases.
pub(crate) fn drive(
    breakers: &[&Breaker],
    failures: u32,
    how_long: Duration,
    go_on: impl Fn() -> bool,
) -> Traffic {
    let begin = Instant::now();
    let mut traffic = Traffic::default();
    loop {
        let elapsed = begin.elapsed();
        let due = elapsed.min(how_long).as_secs_f64() * f64::from(RATE);
        while f64::from(traffic.calls) < due {
            let breaker = breakers[fastrand::usize(..breakers.len())];
            traffic.calls += 1;
            match breaker.try_acquire() {
                Ok(permit) if fastrand::u32(..1000) < failures => permit.failure(),
                Ok(permit) => permit.success(),
                Err(_) => traffic.rejected += 1,
            }
        }
        if elapsed >= how_long || !go_on() {
            return traffic;
        }
        thread::sleep(Duration::from_millis(1));
    }
}
