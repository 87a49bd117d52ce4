//! A store that is lost is told of once, and seen as long as it is.

use std::time::Duration;
use std::time::SystemTime;

use breakerbox::Event;
use breakerbox::SharingState;
use breakerbox::State;
use breakerbox::WhenStoreIsLost;

use super::Backing;
use super::POLICY;
use super::Process;
use super::store_of;

const WHEN: WhenStoreIsLost = WhenStoreIsLost::Admit(Duration::from_secs(60));

fn losses(process: &Process) -> usize {
    process.count(|event| matches!(event, Event::StoreLost { policy: WHEN, .. }))
}

fn state(process: &Process) -> SharingState {
    process.breaker.snapshot().sharing.expect("shared").state
}

/// M10
#[test]
fn a_loss_is_told_once_with_what_becomes_of_calls_however_many_services_there_are() {
    let backing = Backing::redis();
    let server = backing.server();
    let begun = SystemTime::now();
    let a = Process::start(POLICY, |builder| {
        let builder = builder.declare("another").declare("a third");
        builder
            .store(store_of(&backing, "worker-a"))
            .when_store_is_lost(WHEN)
    });
    assert_eq!(state(&a), SharingState::Shared);
    for loss in 1..=2 {
        server.kill();
        a.eventually("it is lost", || losses(&a) == loss);
        let SharingState::Lost { since, policy } = state(&a) else {
            panic!("{:?}", state(&a));
        };
        assert_eq!(policy, WHEN);
        assert!((begun..=SystemTime::now()).contains(&since));
        // Calls go on, and nobody hears of the loss by them.
        for _ in 0..10 {
            a.breaker.try_acquire().expect("let through").success();
        }
        server.restart();
        a.eventually("it is found again", || a.finds() == loss + 1);
        assert_eq!(losses(&a), loss);
        assert_eq!(state(&a), SharingState::Shared);
        a.eventually("it is as before", || a.breaker.state() == State::Closed);
    }
}

#[test]
fn a_store_that_was_never_there_is_lost() {
    let a = Process::start_alone(POLICY, |builder| {
        // Nobody listens at this port.
        builder.redis("redis://127.0.0.1:1")
    });
    a.eventually("it is lost", || {
        let policy = WhenStoreIsLost::Local;
        a.count(|event| matches!(event, Event::StoreLost { policy: it, .. } if *it == policy)) == 1
    });
    assert!(matches!(state(&a), SharingState::Lost { .. }));
    assert_eq!(a.finds(), 0);
}

/// Something else lies where the circuit should: it is not shared, and others are.
#[test]
fn a_circuit_that_the_store_does_not_take_is_apart_and_says_why() {
    let backing = Backing::redis();
    let server = backing.server();
    server.order(&["SET", "breakerbox:{shared}", "something else"]);
    let a = Process::start(POLICY, |builder| {
        builder
            .declare("another")
            .store(store_of(&backing, "worker-a"))
    });
    a.eventually("it is apart", || {
        matches!(state(&a), SharingState::Apart { .. })
    });
    let SharingState::Apart { cause } = state(&a) else {
        panic!("{:?}", state(&a));
    };
    assert!(cause.contains("something else lies there"), "{cause}");
    let another = a.registry.breaker("another").expect("declared");
    let sharing = another.snapshot().sharing.expect("shared");
    assert_eq!(sharing.state, SharingState::Shared);
    // It goes by what it sees itself, until that has gone.
    a.fail_times(3);
    assert_eq!(a.breaker.state(), State::Open);
    server.order(&["DEL", "breakerbox:{shared}"]);
    a.eventually("it is shared again", || state(&a) == SharingState::Shared);
}
