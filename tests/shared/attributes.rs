//! Guarded functions whose circuit is shared.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use breakerbox::Policy;
use breakerbox::Rejected;
use breakerbox::RejectedKind;
use breakerbox::State;
use breakerbox::circuit_breaker;
use breakerbox::retry;
use breakerbox::with_registry;
use breakerbox_servers::Server;

use super::calm::calmly_panicking;
use super::fleet::Process;
use super::fleet::block_on;
use super::fleet::both_become;
use super::fleet::on_each;

const POLICY: Policy = Policy::new()
    .threshold(2)
    .cooldown(Duration::from_millis(200))
    .probe_wait(Duration::from_secs(10));

#[derive(Debug, PartialEq, thiserror::Error)]
enum CallError {
    #[error(transparent)]
    Rejected(#[from] Rejected),
    #[error("the service is down")]
    Down,
}

type Out = Result<(), CallError>;

fn answer(works: bool) -> Out {
    works.then_some(()).ok_or(CallError::Down)
}

#[circuit_breaker(service = "shared")]
async fn asynchronous(works: bool) -> Out {
    answer(works)
}

#[circuit_breaker(service = "shared")]
fn blocking(works: bool) -> Out {
    answer(works)
}

#[allow(clippy::manual_async_fn, reason = "it is about such functions")]
#[circuit_breaker(service = "shared")]
fn returned(works: bool) -> impl Future<Output = Out> + Send {
    async move { answer(works) }
}

/// Opens the circuit with calls of one process, and lets the other probe.
#[track_caller]
fn opens_and_recovers(a: &Process, b: &Process, call: impl Fn(&Process, bool) -> Out) {
    for _ in 0..2 {
        assert_eq!(call(a, false), Err(CallError::Down));
    }
    a.becomes(State::Open);
    a.cools_down();
    b.cools_down();
    // It waits for leave to probe, and is not rejected.
    assert_eq!(call(b, true), Ok(()));
    both_become(a, b, State::Closed);
    assert_eq!(call(a, true), Ok(()));
}

#[test]
fn an_async_function_probes_for_all() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        opens_and_recovers(&a, &b, |process, works| {
            block_on(with_registry(process.registry.clone(), asynchronous(works)))
        });
    });
}

#[test]
fn a_function_that_blocks_waits_for_leave_on_its_thread() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        opens_and_recovers(&a, &b, |process, works| {
            let _entered = process.registry.enter();
            blocking(works)
        });
    });
}

#[test]
fn a_function_that_returns_a_future_probes_for_all() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        opens_and_recovers(&a, &b, |process, works| {
            block_on(with_registry(process.registry.clone(), async {
                returned(works).await
            }))
        });
    });
}

static TRIED: AtomicU32 = AtomicU32::new(0);

#[retry(idempotent, attempts = 3, wait_for_circuit)]
#[circuit_breaker(service = "shared")]
async fn waiting_for_the_circuit() -> Out {
    TRIED.fetch_add(1, Relaxed);
    Ok(())
}

/// I4
#[test]
fn a_retry_that_waits_for_the_circuit_waits_for_what_another_process_has_opened() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY.cooldown(Duration::from_secs(1)));
        a.fail_times(2);
        b.becomes(State::Open);
        let before = TRIED.load(Relaxed);
        let out = block_on(with_registry(b.registry.clone(), waiting_for_the_circuit()));
        assert_eq!(out, Ok(()));
        assert_eq!(TRIED.load(Relaxed), before + 1);
        both_become(&a, &b, State::Closed);
    });
}

/// A call waits for leave no longer than it may.
#[test]
fn a_call_that_gets_no_answer_is_rejected_after_its_time() {
    calmly_panicking(|| {
        let server = Server::start().expect("a server: run ./tests/run");
        let policy = POLICY.probe_wait(Duration::from_millis(40));
        let process = Process::start(policy, |it| it.redis(server.url()));
        process.fail_times(2);
        process.is_as_all_have_decided();
        process.cools_down();
        server.stop();
        let out = block_on(with_registry(process.registry.clone(), asynchronous(true)));
        let _entered = process.registry.enter();
        let blocked = blocking(true);
        server.cont();
        for out in [out, blocked] {
            let Err(CallError::Rejected(rejected)) = out else {
                panic!("it was {out:?}");
            };
            assert_eq!(rejected.kind(), RejectedKind::ProbesBusy);
        }
    });
}

/// B180: the store goes in the middle of a call, whose error is its own.
#[test]
fn a_store_that_is_lost_during_a_call_leaves_its_error_alone() {
    #[circuit_breaker(service = "shared")]
    async fn loses(lose: impl FnOnce()) -> Out {
        lose();
        Err(CallError::Down)
    }
    for is_probe in [false, true] {
        for is_killed in [false, true] {
            calmly_panicking(|| {
                let server = Server::start().expect("a server: run ./tests/run");
                let process = Process::start(POLICY, |it| it.redis(server.url()));
                if is_probe {
                    process.fail();
                    process.fail();
                    process.cools_down();
                }
                let call = loses(|| {
                    match is_killed {
                        true => server.kill(),
                        false => server.stop(),
                    }
                    process.loses(1);
                });
                let out = block_on(with_registry(process.registry.clone(), call));
                assert_eq!(out, Err(CallError::Down));
                // And it counts here.
                let calls = process.breaker.snapshot().calls;
                let late = u64::from(is_probe);
                assert_eq!((calls.rejected, calls.late), (0, late));
                if !is_probe {
                    let out =
                        block_on(with_registry(process.registry.clone(), asynchronous(false)));
                    assert_eq!(out, Err(CallError::Down));
                    assert_eq!(process.breaker.state(), State::Open);
                }
            });
        }
    }
}
