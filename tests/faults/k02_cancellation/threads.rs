//! Threads and runtimes that end, or hand calls to each other.

use std::cell::RefCell;
use std::process::Command;
use std::thread;
use std::time::Duration;

use breakerbox::Permit;
use breakerbox::Policy;
use breakerbox::State;
use breakerbox::Verdict;
use breakerbox::with_registry;

use super::hang;
use crate::faults::ONE;
use crate::faults::recovers;
use crate::scenarios::drivers;
use crate::scenarios::drivers::poll_once;

/// J14, B070: a runtime is shut down while calls wait in it, and so are probes.
#[test]
fn a_runtime_that_is_shut_down_leaves_every_place_free() {
    let registry = drivers::registry(ONE.cooldown(Duration::from_nanos(1)).probes(3));
    let breaker = drivers::breaker(&registry);
    breaker.try_acquire().unwrap().failure();
    for round in 0..20 {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_time()
            .build()
            .unwrap();
        for _ in 0..3 {
            runtime.spawn(with_registry(registry.clone(), hang()));
        }
        while breaker.snapshot().in_flight < 3 {
            thread::yield_now();
        }
        match round % 2 {
            0 => drop(runtime),
            _ => runtime.shutdown_timeout(Duration::from_secs(20)),
        }
        assert_eq!(breaker.snapshot().in_flight, 0);
        assert_eq!(breaker.state(), State::HalfOpen);
    }
    recovers(breaker);
}

thread_local! {
    static KEPT: RefCell<Vec<Permit<'static>>> = const { RefCell::new(Vec::new()) };
}

/// J14: a thread takes permits to its grave. A panic among its last destructors would
/// end the process, so that this happens in one of its own.
#[test]
fn permits_that_end_with_their_thread_are_cancelled() {
    let (_, module) = module_path!().split_once("::").unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--ignored", "--nocapture"])
        .arg(format!(
            "{module}::a_thread_keeps_permits_until_its_last_destructors"
        ))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{}: {said}", child.status);
    assert!(String::from_utf8_lossy(&child.stdout).contains("1 passed"));
}

#[test]
#[ignore = "run by the test above in a process of its own"]
fn a_thread_keeps_permits_until_its_last_destructors() {
    // Only where a clock was ever paused does tokio look for the one of this thread.
    let _paused = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let registry = drivers::registry(ONE.cooldown(Duration::from_nanos(1)).probes(2));
    let breaker = drivers::breaker(&registry);
    for _ in 0..2 {
        thread::spawn(move || {
            KEPT.with_borrow_mut(|kept| {
                for _ in 0..2 {
                    kept.push(breaker.try_acquire().unwrap());
                }
            });
        })
        .join()
        .unwrap();
        assert_eq!(breaker.snapshot().in_flight, 0);
        if breaker.state() == State::Closed {
            breaker.try_acquire().unwrap().failure();
        }
    }
    assert_eq!(breaker.snapshot().calls.cancelled, 4);
    recovers(breaker);
}

/// A permit that is moved to another thread, as into `spawn_blocking`.
#[test]
fn a_permit_ends_on_whatever_thread_it_is() {
    let registry = drivers::registry(Policy::new());
    let breaker = drivers::breaker(&registry);
    for ending in 0..4 {
        let permit = breaker.try_acquire().unwrap();
        thread::spawn(move || match ending {
            0 => permit.success(),
            1 => permit.failure(),
            2 => permit.record(Verdict::Ignore),
            _ => drop(permit),
        })
        .join()
        .unwrap();
    }
    let snapshot = breaker.snapshot();
    let calls = snapshot.calls;
    assert_eq!(
        (calls.success, calls.failure, calls.ignored, calls.cancelled),
        (1, 1, 1, 1)
    );
    assert_eq!((snapshot.in_flight, snapshot.consecutive_failures), (0, 1));
}

/// A body that is polled by two threads in turn and dropped by a third.
#[test]
fn a_call_may_move_from_thread_to_thread() {
    let registry = drivers::registry(ONE);
    let breaker = drivers::breaker(&registry);
    let mut call = Box::pin(with_registry(registry, hang()));
    for _ in 0..3 {
        call = thread::spawn(move || {
            assert!(poll_once(call.as_mut()).is_pending());
            call
        })
        .join()
        .unwrap();
    }
    assert_eq!(breaker.snapshot().in_flight, 1);
    thread::spawn(move || drop(call)).join().unwrap();
    assert_eq!(breaker.snapshot().in_flight, 0);
    assert_eq!(breaker.snapshot().calls.cancelled, 1);
}
