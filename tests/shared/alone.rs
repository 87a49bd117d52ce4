//! What holds of one process however it shares its circuits: in memory, through Redis, and
//! where Redis is lost.

use std::panic;
use std::thread;
use std::time::Duration;

use breakerbox::OnCancel;
use breakerbox::Policy;
use breakerbox::State;
use breakerbox::Verdict;
use breakerbox_servers::Proxy;
use breakerbox_servers::Server;
use tokio::runtime;

use super::calm::calmly_panicking;
use super::fleet::Process;
use super::fleet::block_on;
use super::fleet::both_become;
use super::fleet::on_each;

const POLICY: Policy = Policy::new()
    .threshold(1)
    .cooldown(Duration::from_millis(80))
    .probe_wait(Duration::from_secs(10));

/// With every store, and with one that is not there.
fn on_each_and_on_none(test: impl Fn(&dyn Fn(Policy) -> Process)) {
    on_each(|backing| test(&|policy| backing.start(policy)));
    let nobody = Proxy::start(([127, 0, 0, 1], 1).into()).expect("a proxy");
    nobody.refuse();
    calmly_panicking(|| {
        test(&|policy| {
            let process = Process::start_alone(policy, |it| it.redis(nobody.url()));
            process.loses(1);
            assert!(process.is_alone());
            process
        });
    });
}

/// B015: all of them have come before the first one is asked.
#[test]
fn of_a_hundred_callers_that_wait_for_the_circuit_only_the_probes_enter() {
    on_each_and_on_none(|start| {
        let process = start(POLICY.probes(3));
        process.fail();
        process.cools_down();
        let permits: Vec<_> = thread::scope(|scope| {
            let ask = || block_on(process.breaker.acquire());
            let asked: Vec<_> = (0..100).map(|_| scope.spawn(ask)).collect();
            let asked = asked.into_iter().map(|it| it.join().expect("no panic"));
            asked.flatten().collect()
        });
        // Who waits for leave is refused with the others, so that fewer may have come in.
        let more = 3_usize.checked_sub(permits.len()).expect("three at most");
        let rest: Vec<_> = (0..more).map(|_| process.enter()).collect();
        assert!(block_on(process.breaker.acquire()).is_err());
        for permit in permits.into_iter().chain(rest) {
            permit.success();
        }
        process.becomes(State::Closed);
    });
}

/// B016, B050: whatever threads do to it, the circuit is whole at the end.
#[test]
fn a_stress_of_random_endings_leaves_the_circuit_recoverable() {
    on_each_and_on_none(|start| {
        let policy = POLICY
            .cooldown(Duration::from_millis(1))
            .probes(2)
            .probe_timeout(Duration::from_millis(50))
            .on_cancel(OnCancel::After(Duration::from_micros(50)));
        let process = start(policy);
        thread::scope(|scope| {
            for thread in 0..4 {
                let process = &process;
                scope.spawn(move || storm(process, thread));
            }
        });
        process.eventually("it recovers", || {
            if let Ok(permit) = block_on(process.breaker.acquire()) {
                permit.success();
            }
            process.breaker.state() == State::Closed
        });
        let snapshot = process.breaker.snapshot();
        assert_eq!(snapshot.in_flight, 0, "{snapshot:?}");
        let before = [State::Closed, State::HalfOpen];
        let opened = before.map(|from| process.moves(from, State::Open));
        assert!(opened.iter().sum::<usize>() > 3, "{opened:?}");
    });
}

fn storm(process: &Process, thread: u64) {
    let breaker = process.breaker;
    let mut random = fastrand::Rng::with_seed(thread);
    let mut held = Vec::new();
    for _ in 0..1_000 {
        match random.u8(..8) {
            0 => held.extend(breaker.try_acquire()),
            1 => drop(held.pop()),
            2 => {
                let body = || -> Result<(), ()> { panic::resume_unwind(Box::new(())) };
                let out = panic::catch_unwind(|| breaker.call_blocking(body));
                // It panicked, or it was rejected.
                assert!(!matches!(out, Ok(Ok(()))));
            }
            ending => {
                let call = held.pop().map_or_else(|| breaker.try_acquire(), Ok);
                let Ok(permit) = call else {
                    thread::sleep(Duration::from_micros(500));
                    continue;
                };
                permit.record(match ending {
                    3 => Verdict::Failure,
                    4 => Verdict::Ignore,
                    5 => Verdict::OpenFor(Duration::from_millis(random.u64(..4))),
                    _ => Verdict::Success,
                });
            }
        }
    }
}

/// B045, B048: the last failure opens, whichever thread brings it.
#[test]
fn threads_that_fail_at_the_same_time_open_the_circuit() {
    on_each_and_on_none(|start| {
        for _ in 0..3 {
            let process = start(POLICY.threshold(400).cooldown(Duration::from_secs(600)));
            thread::scope(|scope| {
                for thread in 0..4 {
                    let process = &process;
                    let failures = 100 - usize::from(thread == 0);
                    scope.spawn(move || (0..failures).for_each(|_| process.fail()));
                }
            });
            assert_eq!(process.breaker.state(), State::Closed);
            process.fail();
            assert_eq!(process.breaker.state(), State::Open);
            // The next one begins anew, with nothing in the store.
            process.breaker.reset();
            process.eventually("it is reset", || {
                process.breaker.try_acquire().is_ok_and(|permit| {
                    permit.success();
                    true
                })
            });
            process.registry.close();
        }
    });
}

/// B071: no timer of a caller is needed to leave an opening.
#[test]
fn a_loop_that_never_yields_leaves_an_opening_all_the_same() {
    on_each_and_on_none(|start| {
        let process = start(POLICY);
        process.fail();
        block_on(async {
            // Nothing is awaited, so whatever this runtime should do is not done.
            process.eventually("a call is let in", || {
                let call = process.breaker.call_blocking(|| Ok::<_, ()>(()));
                call.is_ok()
            });
        });
        process.becomes(State::Closed);
    });
}

/// B068: a runtime whose clock is paused jumps to its next timer whenever it is idle, also
/// while a socket is waited for. Nothing here waits for a timer of such a runtime.
#[test]
fn a_runtime_whose_clock_is_paused_shares_like_any_other() {
    calmly_panicking(|| {
        let server = Server::start().expect("a server: run ./tests/run");
        let policy = POLICY.cooldown(Duration::from_millis(200));
        let [a, b] = std::array::from_fn(|_| Process::start(policy, |it| it.redis(server.url())));
        let mut runtime = runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().start_paused(true).build();
        runtime.expect("a runtime").block_on(async {
            a.fail();
            a.cools_down();
            b.cools_down();
            let probe = b.breaker.acquire().await.expect("leave to probe");
            probe.success();
            both_become(&a, &b, State::Closed);
        });
        assert_eq!((a.losses(), b.losses()), (0, 0));
    });
}
