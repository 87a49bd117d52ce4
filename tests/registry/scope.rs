//! Which registry is in force.

use std::cell::RefCell;
use std::future;
use std::io;
use std::panic;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::pin::pin;
use std::ptr;
use std::task::Context;
use std::task::Waker;
use std::thread;

use breakerbox::Breaker;
use breakerbox::Registry;
use breakerbox::State;
use breakerbox::breaker;
use breakerbox::circuit_breaker;
use breakerbox::with_registry;
use tokio::task::yield_now;

use super::now;

const SERVICE: &str = "registry: scoped";

#[circuit_breaker(service = "registry: scoped", threshold = 2)]
async fn call(fails: bool) -> io::Result<()> {
    yield_now().await;
    super::body(fails)
}

#[circuit_breaker(service = "registry: scoped", threshold = 2)]
fn call_blocking(fails: bool) -> io::Result<()> {
    super::body(fails)
}

/// One that tells itself by a service which only it declares.
fn private(mark: &str) -> Registry {
    Registry::builder()
        .declare(mark)
        .build()
        .expect("a good name")
}

fn failures(registry: &Registry) -> u64 {
    registry
        .breaker(SERVICE)
        .expect("linked")
        .snapshot()
        .calls
        .failure
}

/// B131
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_in_parallel_do_not_see_each_other_across_awaits_and_threads() {
    let tasks: Vec<_> = (0..16)
        .map(|n| {
            let mark = format!("task {n}");
            let registry = private(&mark);
            let ours = registry.breaker(&mark).unwrap();
            let task = with_registry(registry.clone(), async move {
                for _ in 0..200 {
                    assert!(ptr::eq(breaker(&mark).unwrap(), ours));
                    yield_now().await;
                }
                for _ in 0..1 + n % 2 {
                    assert!(call(true).await.is_err());
                }
                call(false).await.is_ok()
            });
            (n, registry, tokio::spawn(task))
        })
        .collect();
    for (n, registry, task) in tasks {
        let opened = n % 2 == 1;
        assert_eq!(task.await.unwrap(), !opened);
        let state = registry.breaker(SERVICE).unwrap().state();
        assert_eq!(state == State::Open, opened);
        assert_eq!(failures(&registry), 1 + n % 2);
    }
    assert!(breaker("task 0").is_none());
}

#[tokio::test]
async fn registries_nest_and_the_outer_one_is_back_after_the_inner() {
    let (outer, inner) = (private("outer"), private("inner"));
    with_registry(outer.clone(), async {
        let _ = call(true).await;
        with_registry(inner.clone(), async {
            let _ = call(true).await;
            yield_now().await;
            assert!(breaker("outer").is_none() && breaker("inner").is_some());
        })
        .await;
        yield_now().await;
        assert!(breaker("outer").is_some() && breaker("inner").is_none());
        let entered = inner.enter();
        assert!(call_blocking(true).is_err());
        drop(entered);
        assert!(breaker("outer").is_some());
    })
    .await;
    assert_eq!((failures(&outer), failures(&inner)), (1, 2));
}

#[tokio::test]
async fn a_spawned_task_does_not_inherit_the_registry() {
    let registry = private("not inherited");
    let inherits = with_registry(registry, async {
        assert!(breaker("not inherited").is_some());
        let spawned = tokio::spawn(async { breaker("not inherited").is_some() });
        spawned.await.unwrap()
    });
    assert!(!inherits.await);
}

#[test]
fn another_thread_does_not_see_what_this_one_entered() {
    let registry = private("of this thread");
    let _entered = registry.enter();
    assert!(breaker("of this thread").is_some());
    let elsewhere = thread::spawn(|| breaker("of this thread").is_none());
    assert!(elsewhere.join().unwrap());
}

#[test]
fn a_guard_is_in_force_until_it_is_dropped_also_by_a_panic() {
    let registry = private("entered");
    let panicked = panic::catch_unwind(AssertUnwindSafe(|| {
        let _entered = registry.enter();
        assert!(breaker("entered").is_some());
        panic::resume_unwind(Box::new("its own"));
    }));
    assert!(panicked.is_err());
    assert!(breaker("entered").is_none());

    let panicked = panic::catch_unwind(AssertUnwindSafe(|| {
        now(with_registry(registry.clone(), async {
            assert!(breaker("entered").is_some());
            panic::resume_unwind(Box::new("its own"))
        }))
    }));
    assert!(panicked.is_err());
    assert!(breaker("entered").is_none());
}

#[circuit_breaker(service = "registry: cached", threshold = 2)]
fn cached(fails: bool) -> io::Result<()> {
    super::body(fails)
}

/// The call site remembers the breaker of the global registry, and of no other.
#[test]
fn a_call_site_is_not_stuck_with_the_registry_of_its_first_call() {
    let in_force = |registry: Option<&Registry>| -> &'static Breaker {
        let _entered = registry.map(Registry::enter);
        cached(true).unwrap_err();
        breaker("registry: cached").unwrap()
    };
    let (one, other) = (private("one"), private("other"));
    let breakers = [Some(&one), None, Some(&other), None].map(in_force);
    let failures = breakers.map(|breaker| breaker.snapshot().calls.failure);
    assert_eq!(failures, [1, 2, 1, 2]);
    assert!(ptr::eq(breakers[1], breakers[3]));
}

/// Calls when it is dropped, as a client does that hands its lease back.
struct Goodbye;

impl Drop for Goodbye {
    fn drop(&mut self) {
        let _ = call_blocking(true);
    }
}

#[tokio::test]
async fn what_a_future_drops_at_its_end_sees_its_registry() {
    let registry = private("dropped at the end");
    with_registry(registry.clone(), async {
        let _goodbye = Goodbye;
        yield_now().await;
    })
    .await;
    assert_eq!(failures(&registry), 1);
}

/// A test that ends early, by a timeout or `abort`, must not reach the breakers of others.
#[test]
fn what_a_future_drops_when_it_is_cancelled_sees_its_registry() {
    let registry = private("dropped midway");
    {
        let waits = with_registry(registry.clone(), async {
            let _goodbye = Goodbye;
            future::pending::<()>().await;
        });
        let mut waits = pin!(waits);
        let polled = waits.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending());
    }
    assert_eq!(failures(&registry), 1);
}

/// A future that its thread keeps to the end is dropped when nothing can be entered any
/// more.
#[test]
fn a_future_may_be_dropped_among_the_last_destructors_of_its_thread() {
    struct Kept(RefCell<Option<Pin<Box<dyn Future<Output = ()>>>>>);

    thread_local! {
        static KEPT: Kept = const { Kept(RefCell::new(None)) };
    }

    let ended = thread::spawn(|| {
        // Made first, so that it is dropped last.
        KEPT.with(|_| ());
        let registry = Registry::builder().build().unwrap();
        let mut future = Box::pin(with_registry(registry, future::pending()));
        let polled = future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending());
        KEPT.with(|kept| *kept.0.borrow_mut() = Some(future));
    });
    ended.join().unwrap();
}
