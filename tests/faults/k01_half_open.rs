//! Too many probes, or a round that never ends.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Duration;

use breakerbox::Policy;
use breakerbox::State;
use breakerbox::Verdict;
use breakerbox::circuit_breaker;
use breakerbox::with_registry;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::Dice;
use super::ONE;
use super::half_open;
use super::recovers;
use crate::scenarios::drivers;
use crate::scenarios::drivers::CallError;
use crate::scenarios::drivers::seconds;
use crate::scenarios::runner::scenarios;

scenarios! {
    /// B001
    while_one_probe_runs_all_others_are_rejected_at_once: ONE,
        "F +60s [p 50xXbusy ran:2 =half-open p]S =closed S";
    /// B003
    a_probe_that_succeeds_after_another_failed_changes_nothing: ONE.probes(2),
        "F +60s [a [b a]F =open +10s b]S =open left:50s late:1 +50s 2xS =closed";
    /// B005
    a_failed_probe_reopens_below_the_threshold: Policy::new(),
        "5xF +60s F =open X60s +60s S =closed";
    /// B006
    a_probe_that_ends_with_an_ignored_error_gives_its_place_back: ONE,
        "F +60s I =half-open S =closed";
    /// B006
    ignored_errors_alone_never_wedge_the_circuit: ONE, "F +60s 9x(I +600s) =half-open S =closed";
    /// B006: what `fails_on` denies is an answer of the service, and so a good probe.
    a_probe_that_ends_with_an_error_that_is_no_failure_closes: ONE, "F +60s N =closed S";
    /// B008
    probes_do_not_age_out_while_others_are_waited_for: ONE.cooldown(seconds(1)).close_after(5),
        "F +1s 4x(S +2h) =half-open S =closed";
    /// B010
    each_cycle_admits_one_probe_and_the_good_one_closes: ONE,
        "5x(F +60s [a Xbusy a]F X60s +60s [b Xbusy b]F X60s +60s [c Xbusy c]S =closed)";
    /// B011
    successes_of_an_earlier_round_do_not_count: ONE.close_after(3),
        "F +60s 2xS F =open +60s S =half-open S =half-open S =closed";
    /// B013: the first failure reopens, and the rest of the round is not run.
    the_first_failure_of_a_round_reopens: ONE.probes(3), "F +60s F =open X60s ran:2";
    /// B013: the same when they run at a time.
    a_failure_between_two_successes_reopens: ONE.probes(3),
        "F +60s [a [b [c a]S =half-open b]F =open c]S =open left:60s late:1";
    /// A failed round leaves nothing behind in the next one.
    places_of_a_failed_round_are_free_in_the_next: ONE.probes(3).probe_concurrency(2),
        "F 5x(+60s [a [b Xbusy a]F X60s b]D) +60s [c [d Xbusy c]S d]S S =closed";
    /// A round of which every probe hangs does not wedge the circuit.
    probes_that_never_end_are_replaced: ONE.probe_timeout(seconds(1)),
        "F +60s [a +1s [b +1s X60s +60s [c +1s [d +1s X60s +60s S =closed in-flight:4";
    /// Nor do ignored ones beside hanging ones.
    hanging_and_ignored_probes_together_do_not_wedge_it: ONE.probes(2).probe_timeout(seconds(1)),
        "F +60s [a I I +1s [b D I [c +1s X60s +60s 2xS =closed";
    /// Nobody comes for a long time.
    a_round_that_everybody_left_goes_on_where_it_was: ONE.probes(2),
        "F +60s S D +1000d =half-open S =closed";
}

#[circuit_breaker(service = "scenario")]
async fn counted(bodies: Arc<AtomicUsize>, gate: Arc<Semaphore>) -> Result<(), CallError> {
    bodies.fetch_add(1, SeqCst);
    let _passed = gate.acquire().await.expect("nobody closes it");
    Ok(())
}

/// B015
#[tokio::test(start_paused = true)]
async fn of_a_thousand_tasks_that_wait_for_the_circuit_only_the_probes_enter() {
    for probes in [1, 3, 7] {
        let (registry, breaker) = half_open(ONE.probes(probes)).await;
        let bodies = Arc::new(AtomicUsize::new(0));
        let gate = Arc::new(Semaphore::new(0));
        let mut tasks = JoinSet::new();
        for _ in 0..1_000 {
            let call = counted(Arc::clone(&bodies), Arc::clone(&gate));
            tasks.spawn(with_registry(registry.clone(), call));
        }
        while breaker.snapshot().calls.rejected < 1_000 - u64::from(probes) {
            tokio::task::yield_now().await;
        }
        assert_eq!(bodies.load(SeqCst), probes as usize);
        assert_eq!(breaker.state(), State::HalfOpen);
        gate.add_permits(1);
        let ended = tasks.join_all().await;
        assert_eq!(
            ended.iter().filter(|out| out.is_ok()).count(),
            probes as usize
        );
        assert_eq!(breaker.state(), State::Closed);
    }
}

/// B016, B050: whatever threads do to it, the circuit is whole at the end.
#[test]
fn a_stress_of_random_endings_leaves_the_circuit_recoverable() {
    const THREADS: u64 = 8;
    const CALLS: u64 = 20_000;
    for (seed, policy) in [
        (1, ONE.cooldown(Duration::from_micros(20))),
        (
            2,
            Policy::new()
                .threshold(3)
                .cooldown(Duration::from_micros(5))
                .probes(3),
        ),
        (
            3,
            Policy::new()
                .threshold(2)
                .cooldown(Duration::from_nanos(1))
                .close_after(2)
                .probe_timeout(Duration::from_micros(10))
                .on_cancel(breakerbox::OnCancel::Failure),
        ),
    ] {
        let registry = drivers::registry(policy);
        let breaker = drivers::breaker(&registry);
        thread::scope(|scope| {
            for thread in 0..THREADS {
                scope.spawn(move || {
                    let mut dice = Dice::new(seed * 100 + thread);
                    let mut held = Vec::new();
                    for _ in 0..CALLS {
                        match dice.throw(8) {
                            0 => held.extend(breaker.try_acquire()),
                            1 => drop(held.pop()),
                            2 => {
                                let panics = std::panic::catch_unwind(|| {
                                    breaker.call_blocking(|| -> Result<(), ()> {
                                        std::panic::resume_unwind(Box::new(()))
                                    })
                                });
                                // It panicked, or it was rejected.
                                assert!(!matches!(panics, Ok(Ok(()))));
                            }
                            ending => {
                                let call = held.pop().map_or_else(|| breaker.try_acquire(), Ok);
                                let Ok(permit) = call else {
                                    thread::yield_now();
                                    continue;
                                };
                                permit.record(match ending {
                                    3 => Verdict::Failure,
                                    4 => Verdict::Ignore,
                                    5 => Verdict::OpenFor(Duration::from_nanos(dice.throw(2_000))),
                                    _ => Verdict::Success,
                                });
                            }
                        }
                    }
                });
            }
        });
        let snapshot = breaker.snapshot();
        assert_eq!(snapshot.in_flight, 0, "seed {seed}: {snapshot:#?}");
        assert!(snapshot.generation > 100, "seed {seed}: it hardly moved");
        recovers(breaker);
    }
}
