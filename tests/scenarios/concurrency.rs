//! J: calls that overlap, that end late, that are cancelled.

use std::panic;
use std::sync::Arc;
use std::sync::Barrier;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Duration;

use breakerbox::OnCancel;
use breakerbox::Policy;
use breakerbox::State;
use breakerbox::Verdict;
use breakerbox::circuit_breaker;
use breakerbox::with_registry;
use tokio::sync::Notify;

use super::drivers::CallError;
use super::drivers::breaker;
use super::drivers::registry;
use super::drivers::seconds;
use super::runner::scenarios;

const ONE: Policy = Policy::new().threshold(1);

scenarios! {
    j1_a_failure_from_before_the_trip_does_not_prolong_it: ONE,
        "[a [b a]F +10s b]F =open left:50s moves:1 late:1 failure:1";
    j1_a_ban_from_before_the_trip_does_not_prolong_it: ONE, "[a [b a]F +10s b]O500s left:50s moves:1";
    j2_successes_from_before_the_trip_do_not_vote: ONE.probes(2),
        "[a [b F +60s [c =half-open a]S b]S =half-open late:2 c]S =half-open S =closed";
    j9_a_panic_is_a_failure_and_goes_on: ONE, "P =open panicked:1 failure:0 in-flight:0";
    j10_a_dropped_call_records_nothing: ONE,
        "[a in-flight:1 a]D =closed count:0 in-flight:0 cancelled:1 success:0 failure:0";
    j11_after_a_dropped_probe_the_next_call_is_one: ONE, "F +60s [a Xbusy a]D =half-open S =closed";
    j12_a_dropped_probe_that_counts_reopens: ONE.on_cancel(OnCancel::Failure),
        "F +60s D =open X60s why:probe_failed cancelled:1";
    j12_a_probe_dropped_beyond_its_limit_reopens: ONE.on_cancel(OnCancel::After(seconds(2))),
        "F +60s [a +2s a]D =half-open [b +2s +1ns b]D =open";
    j_a_call_of_an_earlier_closed_period_is_late: Policy::new().threshold(2),
        "[a 2xF +60s S =closed a]F =closed count:0 late:1";
    j_a_late_success_does_not_reset_the_count: Policy::new().threshold(2),
        "[a 2xF +60s S F a]S count:1 F =open";
    j_a_late_panic_is_counted_as_late: ONE, "[a F a]P =open late:1 panicked:0";
    j_a_late_drop_is_counted_as_late: ONE.on_cancel(OnCancel::Failure), "[a F a]D late:1 cancelled:0";
}

/// J6
#[test]
fn j6_the_counts_of_ten_threads_are_exact() {
    let registry = registry(Policy::new());
    let breaker = breaker(&registry);
    thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| {
                for n in 0..10_000 {
                    let permit = breaker.try_acquire().unwrap();
                    match n % 2 {
                        0 => permit.success(),
                        _ => permit.record(Verdict::Ignore),
                    }
                }
            });
        }
    });
    let snapshot = breaker.snapshot();
    let ended: u64 = snapshot.calls.by_label().map(|(_, n)| n).sum();
    assert_eq!(ended, 100_000);
    assert_eq!(snapshot.calls.success, 50_000);
    assert_eq!(snapshot.calls.ignored, 50_000);
    assert_eq!(snapshot.in_flight, 0);
}

/// J7
#[test]
fn j7_a_hundred_threads_that_race_for_three_probes_get_three() {
    const THREADS: usize = 100;
    let registry = registry(ONE.cooldown(Duration::from_nanos(1)).probes(3));
    let breaker = breaker(&registry);
    breaker.try_acquire().unwrap().failure();
    let bodies = AtomicUsize::new(0);
    let barrier = Barrier::new(THREADS);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                barrier.wait();
                let permit = breaker.try_acquire();
                if permit.is_ok() {
                    bodies.fetch_add(1, SeqCst);
                }
                // Nobody ends before all have come.
                barrier.wait();
                drop(permit);
            });
        }
    });
    assert_eq!(bodies.into_inner(), 3);
    assert_eq!(breaker.state(), State::HalfOpen);
    assert_eq!(breaker.snapshot().in_flight, 0);
}

#[circuit_breaker(service = "scenario")]
async fn wait_for(gate: Arc<Notify>) -> Result<(), CallError> {
    gate.notified().await;
    Ok(())
}

#[circuit_breaker(service = "scenario")]
async fn hang() -> Result<(), CallError> {
    std::future::pending().await
}

#[circuit_breaker(service = "scenario")]
async fn answer() -> Result<(), CallError> {
    Ok(())
}

/// J13
#[tokio::test(start_paused = true)]
async fn j13_a_timeout_outside_the_guard_drops_the_call() {
    let registry = registry(ONE);
    let breaker = breaker(&registry);
    with_registry(registry, async {
        let late = tokio::time::timeout(seconds(3), hang()).await;
        assert!(late.is_err());
        assert_eq!(breaker.snapshot().calls.cancelled, 1);
        assert_eq!(breaker.state(), State::Closed);

        breaker.try_acquire().unwrap().failure();
        tokio::time::advance(seconds(60)).await;
        let late = tokio::time::timeout(seconds(3), hang()).await;
        assert!(late.is_err());
        assert_eq!(breaker.state(), State::HalfOpen);
        answer().await.unwrap();
        assert_eq!(breaker.state(), State::Closed);
    })
    .await;
}

/// J14
#[test]
fn j14_a_runtime_that_shuts_down_gives_every_place_back() {
    let registry = registry(ONE.cooldown(Duration::from_nanos(1)).probes(2));
    let breaker = breaker(&registry);
    for _ in 0..2 {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_time()
            .build()
            .unwrap();
        let calls: Vec<_> = (0..2)
            .map(|_| runtime.spawn(with_registry(registry.clone(), hang())))
            .collect();
        while breaker.snapshot().in_flight < 2 {
            thread::yield_now();
        }
        drop(runtime);
        drop(calls);
        assert_eq!(breaker.snapshot().in_flight, 0);
        // The second time the calls are probes.
        if breaker.state() == State::Closed {
            breaker.try_acquire().unwrap().failure();
        }
    }
    assert_eq!(breaker.snapshot().calls.cancelled, 4);
    assert_eq!(breaker.state(), State::HalfOpen);
    for probe in [(); 2].map(|()| breaker.try_acquire().unwrap()) {
        probe.success();
    }
    assert_eq!(breaker.state(), State::Closed);
}

/// J14: dropped where no runtime is any more.
#[test]
fn j14_a_guarded_future_may_outlive_its_runtime() {
    let registry = registry(ONE);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let breaker = breaker(&registry);
    let mut call = Box::pin(with_registry(registry, hang()));
    runtime.block_on(async {
        tokio::time::advance(seconds(5)).await;
        assert!(super::drivers::poll_once(call.as_mut()).is_pending());
    });
    drop(runtime);
    drop(call);
    assert_eq!(breaker.snapshot().calls.cancelled, 1);
    assert_eq!(breaker.snapshot().in_flight, 0);
}

/// J16
#[tokio::test(start_paused = true)]
async fn j16_a_slow_body_holds_nobody_else_up() {
    let registry = registry(Policy::new());
    let gate = Arc::new(Notify::new());
    let slow = tokio::spawn(with_registry(registry.clone(), wait_for(Arc::clone(&gate))));
    tokio::task::yield_now().await;
    assert_eq!(breaker(&registry).snapshot().in_flight, 1);
    with_registry(registry.clone(), async {
        for _ in 0..100 {
            answer().await.unwrap();
        }
    })
    .await;
    assert!(!slow.is_finished());
    assert_eq!(breaker(&registry).snapshot().calls.success, 100);
    gate.notify_one();
    slow.await.unwrap().unwrap();
}

/// J9
#[tokio::test]
async fn j9_the_caller_catches_the_panic_with_its_own_payload() {
    #[circuit_breaker(service = "scenario")]
    async fn panics() -> Result<(), CallError> {
        panic::resume_unwind(Box::new(42_u64))
    }
    let registry = registry(ONE);
    let error = tokio::spawn(with_registry(registry.clone(), panics())).await;
    let payload = error.unwrap_err().into_panic();
    assert_eq!(payload.downcast_ref(), Some(&42_u64));
    assert_eq!(breaker(&registry).snapshot().calls.panicked, 1);
    assert_eq!(breaker(&registry).state(), State::Open);
}
