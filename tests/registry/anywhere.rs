//! Calls from places where there is no runtime, or no longer one.

use std::io;
use std::panic;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use breakerbox::Breaker;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::State;
use breakerbox::circuit_breaker;
use breakerbox::with_registry;
use tokio::runtime;
use tokio::runtime::Runtime;
use tokio::sync::Notify;

use super::is_rejection;
use super::now;
use crate::observers::eventually::eventually;

const SERVICE: &str = "registry: anywhere";

#[circuit_breaker(service = "registry: anywhere", threshold = 1, cooldown = "20ms")]
async fn call(fails: bool) -> io::Result<()> {
    super::body(fails)
}

#[circuit_breaker(service = "registry: anywhere", threshold = 1, cooldown = "20ms")]
fn call_blocking(fails: bool) -> io::Result<()> {
    super::body(fails)
}

fn private() -> (Registry, &'static Breaker) {
    let registry = Registry::builder().build().expect("nothing is wrong");
    let breaker = registry.breaker(SERVICE).expect("linked");
    (registry, breaker)
}

fn current_thread() -> Runtime {
    let built = runtime::Builder::new_current_thread().enable_all().build();
    built.expect("a runtime")
}

/// B130: the whole life, on a thread that never saw a runtime.
#[test]
fn calls_are_guarded_on_a_plain_thread() {
    let (registry, breaker) = private();
    let life = thread::spawn(move || {
        let _entered = registry.enter();
        assert!(call_blocking(false).is_ok());
        assert!(now(call(true)).is_err());
        assert!(is_rejection(&call_blocking(false)));
        eventually("the cooldown is over", || now(call(false)).ok());
    });
    life.join().unwrap();
    assert_eq!(breaker.state(), State::Closed);
    assert_eq!(breaker.snapshot().generation, 3);
}

/// B070
#[test]
fn a_circuit_that_opened_in_one_runtime_recovers_in_the_next() {
    let (registry, breaker) = private();
    let first = current_thread();
    let opened = first.block_on(with_registry(registry.clone(), call(true)));
    assert!(opened.is_err());
    drop(first);
    assert_eq!(breaker.state(), State::Open);

    let second = current_thread();
    eventually("the cooldown is over", || {
        second
            .block_on(with_registry(registry.clone(), call(false)))
            .ok()
    });
    assert_eq!(breaker.state(), State::Closed);
}

/// B071
#[test]
fn a_caller_that_never_yields_is_let_through_once_the_cooldown_is_over() {
    let (registry, breaker) = private();
    current_thread().block_on(with_registry(registry, async {
        assert!(call(true).await.is_err());
        let mut rejected = 0;
        while is_rejection(&call(false).await) {
            rejected += 1;
        }
        assert!(rejected > 0);
    }));
    assert_eq!(breaker.state(), State::Closed);
}

/// B130, J14
#[test]
fn a_runtime_that_goes_down_gives_back_what_its_tasks_held() {
    let policy = Policy::new().threshold(1);
    let registry = Registry::builder()
        .declare_with("going down", policy)
        .build();
    let registry = registry.unwrap();
    let breaker = registry.breaker("going down").unwrap();
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    let held = Arc::new(Notify::new());
    for _ in 0..10 {
        let never = Arc::clone(&held);
        runtime.spawn(breaker.call(async move {
            never.notified().await;
            Ok::<(), ()>(())
        }));
    }
    eventually("all calls are out", || {
        (breaker.snapshot().in_flight == 10).then_some(())
    });
    runtime.shutdown_timeout(Duration::from_secs(30));
    let after = breaker.snapshot();
    assert_eq!((after.in_flight, after.calls.cancelled), (0, 10));
    assert!(breaker.try_acquire().is_ok());
}

/// Calls when it is dropped.
struct Goodbye;

impl Drop for Goodbye {
    fn drop(&mut self) {
        let _ = call_blocking(true);
        let _ = now(call(false));
    }
}

/// B130
#[test]
fn calls_are_guarded_in_a_destructor_also_while_a_panic_passes() {
    let (registry, breaker) = private();
    let entered = registry.enter();
    drop(Goodbye);
    drop(entered);
    let seen = breaker.snapshot();
    assert_eq!((seen.calls.failure, seen.calls.rejected), (1, 1));

    let (registry, breaker) = private();
    let _entered = registry.enter();
    let panicked = panic::catch_unwind(AssertUnwindSafe(|| {
        let _goodbye = Goodbye;
        panic::resume_unwind(Box::new("its own"));
    }));
    assert!(panicked.is_err());
    let seen = breaker.snapshot();
    // Its call ended before the panic went on: a failure, and no panic of the call.
    assert_eq!((seen.calls.failure, seen.calls.panicked), (1, 0));
    assert_eq!(seen.calls.rejected, 1);
}

/// B130: a permit held by a thread that panics for another reason.
#[test]
fn a_permit_that_is_dropped_by_a_panic_beside_it_is_cancelled() {
    let registry = Registry::builder()
        .declare("beside a panic")
        .build()
        .unwrap();
    let breaker = registry.breaker("beside a panic").unwrap();
    let panicked = panic::catch_unwind(AssertUnwindSafe(|| {
        let _permit = breaker.try_acquire().unwrap();
        panic::resume_unwind(Box::new("its own"));
    }));
    assert!(panicked.is_err());
    let seen = breaker.snapshot();
    assert_eq!((seen.calls.cancelled, seen.in_flight), (1, 0));
}
