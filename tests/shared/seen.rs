//! What is seen of circuits that processes share.

mod journal;
mod losses;
mod numbers;

use std::pin::pin;
use std::sync::Arc;
use std::task::Context;
use std::task::Poll;
use std::task::Wake;
use std::task::Waker;
use std::thread;
use std::thread::Thread;
use std::time::Duration;

use breakerbox::Event;
use breakerbox::Policy;
use breakerbox::Redis;
use breakerbox::Registry;
use breakerbox::SharedStore;
use breakerbox::SharingState;
use breakerbox::State;
use breakerbox::Transition;

use super::fleet::Backing;
use super::fleet::Process;
use super::fleet::on_each;

const POLICY: Policy = Policy::new()
    .threshold(3)
    .cooldown(Duration::from_secs(600));

/// The store, for a process of this name.
fn store_of(backing: &Backing, name: &str) -> SharedStore {
    match backing {
        Backing::Memory(store) => store.clone().instance(name).into(),
        Backing::Redis(server) => Redis::new(server.url()).instance(name).into(),
    }
}

fn start(backing: &Backing, name: &str, policy: Policy) -> Process {
    Process::start(policy, |builder| builder.store(store_of(backing, name)))
}

/// Waits until each hears of what the other does.
fn meet(a: &Process, b: &Process) {
    a.breaker.reset();
    for process in [a, b] {
        process.eventually("it has heard of the reset", || {
            let sharing = process.breaker.snapshot().sharing;
            sharing.expect("shared").epoch > 0
        });
    }
}

/// Trips the circuit of both by what the first has seen. Where the connection was lost on the
/// way, what may have been told is not told again, and it has to be seen once more.
#[track_caller]
fn trip_both(a: &Process, b: &Process) {
    b.eventually("open", || {
        if let Ok(permit) = a.breaker.try_acquire() {
            permit.failure();
        }
        b.breaker.state() == State::Open
    });
}

fn has_heard(process: &Process, is_meant: impl Fn(&Transition) -> bool) -> bool {
    process.count(|event| matches!(event, Event::Transition(it) if is_meant(it))) > 0
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for it without any runtime.
fn wait<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(out) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return out;
        }
        thread::park();
    }
}

/// M1
#[test]
fn an_event_says_which_other_process_has_moved_the_circuit() {
    on_each(|backing| {
        let a = start(backing, "worker-a", POLICY);
        let b = start(backing, "worker-b", POLICY);
        meet(&a, &b);
        trip_both(&a, &b);
        b.eventually("it is told by whom", || {
            has_heard(&b, |it| {
                it.to == State::Open && it.origin.as_deref() == Some("worker-a")
            })
        });
        a.eventually("it has opened here", || {
            has_heard(&a, |it| it.to == State::Open)
        });
        assert!(!has_heard(&a, |it| it.origin.is_some()));
    });
}

#[test]
fn without_a_name_a_process_is_called_by_its_host_and_number() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        meet(&a, &b);
        trip_both(&a, &b);
        let number = format!(":{}", std::process::id());
        b.eventually("it is told by whom", || {
            has_heard(&b, |it| {
                it.origin.as_deref().is_some_and(|by| by.ends_with(&number))
            })
        });
    });
}

#[test]
fn a_snapshot_says_that_the_circuit_is_shared_and_in_which_epoch() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        let sharing = |process: &Process| process.breaker.snapshot().sharing.expect("shared");
        assert_eq!(sharing(&a).state, SharingState::Shared);
        assert_eq!(sharing(&a).epoch, 0);
        meet(&a, &b);
        trip_both(&a, &b);
        a.eventually("both are in one epoch", || {
            sharing(&a).epoch == sharing(&b).epoch && sharing(&a).epoch > 0
        });
        let before = sharing(&b).epoch;
        b.breaker.reset();
        b.eventually("another epoch", || sharing(&b).epoch > before);
    });
}

#[test]
fn a_circuit_that_is_shared_with_nobody_says_so() {
    let registry = Registry::builder().declare("alone").build();
    let breaker = registry.expect("a right set-up").breaker("alone");
    assert_eq!(breaker.expect("declared").snapshot().sharing, None);
}
