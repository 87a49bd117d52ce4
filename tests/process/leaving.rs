//! Calls of a thread that is ending, in the destructors of its thread-local values, and
//! calls of a process that is ending.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use breakerbox::Breaker;
use breakerbox::Verdict;
use breakerbox::circuit_breaker;
use tokio::runtime;

use crate::alone::alone;
use crate::eventually::eventually;

const SERVICE: &str = "process: leaving";

#[circuit_breaker(service = "process: leaving", threshold = 1)]
fn call(fails: bool) -> io::Result<()> {
    if fails {
        return Err(io::Error::other("no"));
    }
    Ok(())
}

/// Calls when its thread ends.
struct Lease {
    fails: bool,
    called: Arc<AtomicUsize>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        let _ = call(self.fails);
        self.called.fetch_add(1, Relaxed);
    }
}

thread_local! {
    static LEASE: RefCell<Option<Lease>> = const { RefCell::new(None) };
}

fn breaker() -> &'static Breaker {
    breakerbox::breaker(SERVICE).expect("linked")
}

/// Lets a thread end with a lease that it took before or after its other calls, which
/// decides whether the lease outlives what the breaker keeps for the thread.
fn ends(fails: bool, before: impl FnOnce() + Send, after: impl FnOnce() + Send) {
    let called = Arc::new(AtomicUsize::new(0));
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            before();
            let called = Arc::clone(&called);
            LEASE.set(Some(Lease { fails, called }));
            after();
        });
        thread.join().expect("the thread ends well");
    });
    // The destructors run before the thread is joined.
    assert_eq!(called.load(Relaxed), 1);
}

/// B130
#[test]
fn a_success_is_counted_whenever_the_destructor_runs() {
    alone(|| {
        let calls = || drop(call(false));
        ends(false, || {}, || {});
        ends(false, calls, || {});
        ends(false, || {}, calls);
        let seen = breaker().snapshot();
        assert_eq!((seen.calls.success, seen.in_flight), (5, 0));
    });
}

/// B130: a failure and a rejection read the clock.
#[test]
fn a_failure_opens_the_circuit_whenever_the_destructor_runs() {
    let opened_by = |before: fn(), after: fn()| {
        ends(true, before, after);
        let seen = breaker().snapshot();
        assert_eq!((seen.calls.failure, seen.in_flight), (1, 0));
        assert!(call(false).is_err());
    };
    alone(|| opened_by(|| drop(call(false)), || {}));
}

/// B130
#[test]
fn a_failure_opens_the_circuit_after_the_threads_other_values_are_gone() {
    alone(|| {
        ends(true, || {}, || drop(call(false)));
        let seen = breaker().snapshot();
        assert_eq!((seen.calls.failure, seen.in_flight), (1, 0));
    });
}

/// B130
#[test]
fn a_rejection_is_given_after_the_threads_other_values_are_gone() {
    alone(|| {
        let ban = Verdict::OpenFor(Duration::from_secs(60));
        breaker().try_acquire().unwrap().record(ban);
        // Its own rejections, so that the clock was read on the thread.
        ends(false, || {}, || drop(call(false)));
        assert_eq!(breaker().snapshot().calls.rejected, 2);
    });
}

/// B130: once a test has paused the clock, reading it asks the runtime of the thread.
#[test]
fn a_call_of_an_ending_thread_is_guarded_in_a_process_whose_tests_pause_the_clock() {
    alone(|| {
        let paused = runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build();
        paused.unwrap().block_on(async {});
        // On the thread, so that the runtime's own values are gone when it calls again.
        ends(true, || {}, || drop(runtime::Handle::try_current()));
        let seen = breaker().snapshot();
        assert_eq!((seen.calls.failure, seen.in_flight), (1, 0));
    });
}

/// B130: the registry of the thread is gone with its other values.
#[test]
fn a_call_in_a_destructor_of_a_thread_that_entered_a_registry_is_guarded() {
    alone(|| {
        let registry = breakerbox::Registry::builder().build().unwrap();
        let entered = registry.enter();
        ends(false, || {}, || drop(registry.enter()));
        ends(false, || drop(registry.enter()), || {});
        drop(entered);
        assert_eq!(breaker().snapshot().calls.success, 2);
    });
}

/// B130
#[test]
fn a_process_may_end_in_the_middle_of_calls() {
    alone(|| {
        let running = Arc::new(AtomicUsize::new(0));
        for n in 0..4 {
            let running = Arc::clone(&running);
            thread::spawn(move || {
                loop {
                    let _ = call(n == 0);
                    running.fetch_add(1, Relaxed);
                }
            });
        }
        eventually("they call", || {
            (running.load(Relaxed) > 1_000).then_some(())
        });
    });
}
