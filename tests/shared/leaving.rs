//! What a process has said stands, also when it ends at once.

use std::time::Duration;

use breakerbox::Policy;
use breakerbox::SharingState;
use breakerbox::State;
use breakerbox::WhenStoreIsLost;

use super::fleet::Backing;
use super::fleet::Process;
use super::fleet::both_become;

const POLICY: Policy = Policy::new()
    .threshold(1)
    .cooldown(Duration::from_secs(600));

/// Who works for the circuit hears of both at once, what somebody wants and that the process
/// ends, and saw to the one or the other first by chance.
#[test]
fn what_somebody_wants_of_all_is_told_before_the_process_ends() {
    let backing = Backing::memory();
    let witness = backing.start(Policy::new());
    for _ in 0..10 {
        let [one, other] = backing.processes(Policy::new());
        let hour = Duration::from_secs(3600);
        let forced = one.breaker.force_open(hour, "ana", "their migration");
        assert!(forced.expect("all is said").is_shared());
        one.registry.close();
        both_become(&witness, &other, State::ForcedOpen);
        other.breaker.clear_override();
        other.registry.close();
        witness.becomes(State::Closed);
    }
}

/// It was told of an end as of a loss, and its snapshot said so although all calls were let
/// through.
#[test]
fn a_registry_that_is_closed_guards_its_calls_by_itself() {
    let backing = Backing::memory();
    let closed = Process::start(POLICY, |it| {
        it.store(backing.store())
            .when_store_is_lost(WhenStoreIsLost::OpenFails)
    });
    let [one, other] = backing.processes(POLICY);
    closed.registry.close();
    closed.eventually("it has left", || {
        let sharing = closed.breaker.snapshot().sharing;
        matches!(
            sharing.expect("it was shared").state,
            SharingState::Closed { .. }
        )
    });
    // Neither what it had nor what it makes now is open, whatever the others have.
    one.fail();
    other.becomes(State::Open);
    assert_eq!(closed.breaker.state(), State::Closed);
    let made = closed.registry.breaker("other").expect("declared");
    assert_eq!(made.state(), State::Closed);
    closed.fail();
    assert_eq!(closed.breaker.state(), State::Open);
}

/// What is rejected since the store is lost is rejected after the end, too.
#[test]
fn a_registry_that_is_closed_while_the_store_is_lost_goes_on_as_it_did() {
    let lost = Process::start_alone(POLICY, |it| {
        it.redis("redis://127.0.0.1:1")
            .when_store_is_lost(WhenStoreIsLost::OpenFails)
    });
    lost.becomes(State::ForcedOpen);
    lost.registry.close();
    let made = lost.registry.breaker("other").expect("declared");
    for breaker in [lost.breaker, made] {
        let sharing = breaker.snapshot().sharing.expect("it was shared");
        assert!(matches!(sharing.state, SharingState::Lost { .. }));
        assert_eq!(breaker.state(), State::ForcedOpen);
    }
}
