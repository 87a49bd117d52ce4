//! Counts that are off by one, lost, or added up for ever.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::State;
use breakerbox::circuit_breaker;
use breakerbox::with_registry;

use super::Dice;
use super::recovers;
use crate::scenarios::drivers;
use crate::scenarios::drivers::CallError;
use crate::scenarios::drivers::seconds;
use crate::scenarios::notation::Ending;
use crate::scenarios::runner::scenarios;

scenarios! {
    /// B040
    two_failures_with_successes_between_them_are_not_in_a_row: Policy::new().threshold(2),
        "F 100xS F =closed count:1";
    /// B041
    failures_do_not_add_up_over_the_life_of_a_process: Policy::new(), "50x(F S) =closed count:0";
    /// B041
    four_of_five_in_a_row_over_and_over_do_not_open: Policy::new(), "20x(4xF S) =closed moves:0";
    /// B046
    a_threshold_of_one_rejects_the_next_call: Policy::new().threshold(1), "F X60s ran:1";
    /// B046
    a_threshold_of_five_rejects_the_sixth_call: Policy::new(), "5xF X60s ran:5";
    /// B051
    a_slow_outage_opens_all_the_same: Policy::new(), "4x(F +10m) =closed F =open";
    /// A closed circuit forgets what was counted before it opened.
    the_count_begins_at_nothing_after_closing: Policy::new().threshold(2),
        "3x(2xF +60s S F S) =closed count:0";
    /// Nor is a rejection a failure of the service.
    rejections_are_not_failures: Policy::new(), "5xF 100xX failure:5 rejected:100 moves:1";
}

/// B043: no hidden number of calls is needed first.
#[tokio::test(start_paused = true)]
async fn the_threshold_of_the_attribute_is_all_there_is() {
    #[circuit_breaker(service = "fault: nothing but a threshold", threshold = 5)]
    async fn down(count: &mut u32) -> Result<(), CallError> {
        *count += 1;
        Err(CallError::Ended(Ending::Failure))
    }
    let registry = Registry::builder().build().unwrap();
    let mut bodies = 0;
    with_registry(registry, async {
        for _ in 0..10 {
            let _ = down(&mut bodies).await;
        }
    })
    .await;
    assert_eq!(bodies, 5);
}

/// B053: a timeout inside the body is an error like any other.
#[tokio::test(start_paused = true)]
async fn timeouts_open_at_the_threshold_like_any_failure() {
    #[circuit_breaker(service = "scenario")]
    async fn slow() -> Result<(), CallError> {
        let answer = tokio::time::timeout(seconds(1), std::future::pending::<()>()).await;
        answer.map_err(|_| CallError::Ended(Ending::Failure))
    }
    let registry = drivers::registry(Policy::new());
    let breaker = drivers::breaker(&registry);
    with_registry(registry, async {
        for _ in 0..4 {
            slow().await.unwrap_err();
        }
        assert_eq!(breaker.state(), State::Closed);
        slow().await.unwrap_err();
        assert_eq!(breaker.state(), State::Open);
    })
    .await;
    assert_eq!(breaker.snapshot().calls.failure, 5);
}

/// B045, B048: the last failure opens, whichever thread brings it.
#[test]
fn threads_that_fail_at_the_same_time_open_the_circuit_in_every_round() {
    const THREADS: usize = 8;
    const ROUNDS: usize = 2_000;
    let registry = drivers::registry(
        Policy::new()
            .threshold(u32::try_from(THREADS).unwrap())
            .cooldown(Duration::from_nanos(1)),
    );
    let breaker = drivers::breaker(&registry);
    let barrier = Barrier::new(THREADS);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let barrier = &barrier;
            scope.spawn(move || {
                for round in 0..ROUNDS as u64 {
                    let permit = breaker.try_acquire().unwrap();
                    barrier.wait();
                    permit.failure();
                    barrier.wait();
                    if thread == 0 {
                        // One transition, of exactly as many failures as asked for.
                        assert_eq!(breaker.snapshot().generation, 3 * round + 1);
                        recovers(breaker);
                    }
                    barrier.wait();
                }
            });
        }
    });
    assert_eq!(breaker.snapshot().calls.failure, (THREADS * ROUNDS) as u64);
}

/// B045: a success that races with failures is not lost.
#[test]
fn a_success_beside_failures_always_resets_the_count() {
    const ROUNDS: u64 = 2_000;
    let registry = drivers::registry(Policy::new().threshold(Policy::MAX_THRESHOLD));
    let breaker = drivers::breaker(&registry);
    let barrier = Barrier::new(4);
    thread::scope(|scope| {
        for thread in 0..4 {
            let barrier = &barrier;
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    let permit = breaker.try_acquire().unwrap();
                    barrier.wait();
                    match thread {
                        0 => permit.success(),
                        _ => permit.failure(),
                    }
                    // At most the three of this round have come after the success.
                    barrier.wait();
                    assert!(breaker.snapshot().consecutive_failures <= 3);
                    barrier.wait();
                }
            });
        }
    });
    let calls = breaker.snapshot().calls;
    assert_eq!((calls.success, calls.failure), (ROUNDS, 3 * ROUNDS));
}

/// B050: a service that flips, and is then well again.
#[test]
fn after_a_storm_of_flips_the_circuit_closes_and_stays_closed() {
    use std::sync::atomic::AtomicBool;
    use std::sync::atomic::Ordering::SeqCst;

    let registry = drivers::registry(
        Policy::new()
            .threshold(3)
            .cooldown(Duration::from_micros(50))
            .close_after(2),
    );
    let breaker = drivers::breaker(&registry);
    let is_up = AtomicBool::new(true);
    thread::scope(|scope| {
        for thread in 0..8 {
            let is_up = &is_up;
            scope.spawn(move || {
                let mut dice = Dice::new(thread);
                for _ in 0..10_000 {
                    if dice.throw(500) == 0 {
                        is_up.fetch_xor(true, SeqCst);
                    }
                    let _ = breaker.call_blocking(|| match is_up.load(SeqCst) {
                        true => Ok(()),
                        false => Err(()),
                    });
                }
            });
        }
    });
    recovers(breaker);
    let generation = breaker.snapshot().generation;
    for _ in 0..100 {
        breaker.try_acquire().unwrap().success();
    }
    assert_eq!(breaker.snapshot().generation, generation);
}
