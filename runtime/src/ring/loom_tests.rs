//! A ring that is read while its thread turns it.

use std::time::Duration;

use loom::sync::Arc;
use loom::thread;

use crate::policy::Policy;
use crate::policy::Window;

use super::*;

const ERA: Era = Era {
    generation: 0,
    emptied: 0,
};

const FAILED: Ended = Ended {
    is_recorded: true,
    is_failure: true,
    is_slow: false,
    began: None,
};

/// Buckets of ten nanoseconds.
fn time() -> Time {
    Time::of(&Policy::new().window(Window::Time(Duration::from_nanos(100))))
}

fn fail(ring: &Ring, now: u64) {
    ring.ended(0, FAILED, Tick(now), || (ERA, time()));
}

fn read(ring: &Ring, now: u64) -> Total {
    let mut total = Total::default();
    ring.add_to(&mut total, ERA, time(), Tick(now));
    total
}

/// The bucket of long ago is written anew for now: a reader of now sees the new call or
/// none, and never the two of before.
#[test]
fn loom_what_has_left_the_window_is_never_taken_for_what_is_in_it() {
    loom::model(|| {
        let ring = Arc::new(Ring::new());
        fail(&ring, 0);
        fail(&ring, 0);
        let writer = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || fail(&ring, 120))
        };
        let seen = read(&ring, 120);
        assert!(seen.failures <= 1, "{seen:?}");
        assert!(seen.failures <= seen.calls, "{seen:?}");
        writer.join().unwrap();
        assert_eq!(read(&ring, 120).failures, 1);
    });
}

#[test]
fn loom_nobody_sees_more_failures_than_calls() {
    loom::model(|| {
        let ring = Arc::new(Ring::new());
        fail(&ring, 0);
        let writer = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || {
                fail(&ring, 5);
                fail(&ring, 5);
            })
        };
        let seen = read(&ring, 5);
        assert!(seen.failures <= seen.calls, "{seen:?}");
        writer.join().unwrap();
        assert_eq!(read(&ring, 5).calls, 3);
    });
}
