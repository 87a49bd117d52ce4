//! Tests of what takes real time, on a machine that may be busy.
//!
//! A store is not waited for longer than a quarter of a second, and what was told it and not
//! answered is told no more. So what a test finds shows nothing where the machine has let
//! threads wait for as long as that: it is tested again.

use std::panic;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;
use std::time::Instant;

/// So long a thread may wait for its turn.
const CALM: Duration = Duration::from_millis(60);

/// How often it is tried at most.
const TIMES: usize = 6;

/// Tries it until it goes well, or goes wrong on a machine that was calm all the time. It is
/// told which time it is.
pub(super) fn calmly<T, E>(mut test: impl FnMut(usize) -> Result<T, E>) -> Result<T, E> {
    for times in 1..TIMES {
        let (out, is_calm) = watched(|| test(times));
        if out.is_ok() || is_calm {
            return out;
        }
    }
    test(TIMES)
}

/// The same of a test that panics where it goes wrong.
pub(super) fn calmly_panicking(test: impl Fn()) {
    let caught = calmly(|_| panic::catch_unwind(AssertUnwindSafe(&test)));
    if let Err(payload) = caught {
        panic::resume_unwind(payload);
    }
}

/// Whether the machine was calm meanwhile.
fn watched<T>(does: impl FnOnce() -> T) -> (T, bool) {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut longest = Duration::ZERO;
            while !is_over.load(Relaxed) {
                let begin = Instant::now();
                thread::sleep(Duration::from_millis(2));
                longest = longest.max(begin.elapsed());
            }
            longest
        });
        let over = Over(&is_over);
        let out = does();
        drop(over);
        let longest = watch.join().expect("it only sleeps");
        (out, longest < CALM)
    })
}

/// Says that it is over, also where that was a panic.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}
