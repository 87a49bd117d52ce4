//! The store forgets: circuits, or scripts. What was decided is put back by those who know it.

use std::time::Duration;

use breakerbox::Policy;
use breakerbox::State;
use breakerbox_servers::Server;

use super::calm::calmly_panicking;
use super::fleet::Backing;
use super::fleet::Process;
use super::fleet::both_become;
use super::fleet::on_each;
use super::traffic::Traffic;

const POLICY: Policy = Policy::new()
    .threshold(3)
    .cooldown(Duration::from_secs(600))
    .probe_wait(Duration::from_secs(10));
const SHORT: Policy = POLICY
    .threshold(1)
    .cooldown(Duration::from_millis(500))
    .max_cooldown(Duration::from_secs(600))
    .backoff(1_000.0);

/// The opening comes to its end for both, and a probe of one closes the circuit of both.
fn recover(prober: &Process, other: &Process) {
    prober.cools_down();
    other.cools_down();
    prober.enter().success();
    both_become(prober, other, State::Closed);
}

/// M20
#[test]
fn an_opening_that_was_forgotten_lasts_to_its_end_and_is_probed_once() {
    on_each(|backing| {
        let [a, b] = backing.processes(SHORT);
        let traffic = Traffic::beside(&a);
        a.fail();
        both_become(&a, &b, State::Open);
        backing.forgets();
        a.cools_down();
        b.cools_down();
        // It is the second opening, whoever knows of the first.
        b.enter().failure();
        b.eventually("it opens for longer", || b.breaker.snapshot().trips == 2);
        a.eventually("it opens for longer", || a.breaker.snapshot().trips == 2);
        traffic.went_well();
    });
}

/// M20: somebody who knows of nothing comes, and fails.
#[test]
fn an_opening_that_was_forgotten_is_not_ended_by_whoever_comes_new() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        a.fail_times(3);
        both_become(&a, &b, State::Open);
        backing.forgets();
        let new = backing.start(POLICY);
        new.fail();
        new.becomes(State::Open);
        assert_eq!(a.breaker.state(), State::Open);
        assert_eq!(b.breaker.state(), State::Open);
        assert_eq!(a.moves(State::Open, State::Closed), 0);
        assert_eq!(b.moves(State::Open, State::Closed), 0);
    });
}

/// M20
#[test]
fn failures_after_a_closed_circuit_was_forgotten_open_it() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        a.fail();
        backing.forgets();
        for _ in 0..3 {
            // That of the other may be told when all is forgotten, and counts then.
            if let Ok(permit) = b.breaker.try_acquire() {
                permit.failure();
            }
        }
        both_become(&a, &b, State::Open);
    });
}

/// M20, of an override.
#[test]
fn an_override_that_was_forgotten_is_put_back_by_those_who_know_of_it() {
    calmly_panicking(|| {
        let server = Server::start().expect("a server: run ./tests/run");
        let a = Process::start(POLICY, |it| it.redis(server.url()));
        let forced = a
            .breaker
            .force_open(Duration::from_secs(600), "ana", "a test");
        assert!(forced.expect("it has all it needs").is_shared());
        server.flushall();
        // Whoever connects anew says what it knows.
        server.clients_kill();
        a.finds_it(2);
        let b = Process::start(POLICY, |it| it.redis(server.url()));
        b.becomes(State::ForcedOpen);
        let by = b.breaker.snapshot().forced.expect("it is forced").by;
        assert_eq!((&*by.actor, &*by.reason), ("ana", "a test"));
    });
}

/// B166, B178: a key of ours is evicted.
#[test]
fn an_opening_whose_key_was_evicted_lasts_to_its_end() {
    calmly_panicking(|| {
        let backing = Backing::redis();
        let [a, b] = backing.processes(SHORT);
        let server = backing.server();
        a.fail();
        b.becomes(State::Open);
        let deleted = server.order(&["DEL", "breakerbox:{shared}"]);
        assert_eq!(deleted.integer(), Some(1));
        recover(&a, &b);
    });
}

/// B178: only a part of the key is gone.
#[test]
fn a_circuit_of_which_only_a_part_is_left_recovers() {
    calmly_panicking(|| {
        let backing = Backing::redis();
        let [a, b] = backing.processes(SHORT);
        let server = backing.server();
        let fields = server.order(&["HKEYS", "breakerbox:{shared}"]);
        assert!(fields.elements().is_empty(), "nothing has happened yet");
        a.fail();
        b.becomes(State::Open);
        let fields = server.order(&["HKEYS", "breakerbox:{shared}"]);
        for field in fields.elements().iter().map(|it| it.text().to_owned()) {
            // The version of it is what says that it is ours.
            if field != "v" {
                server.order(&["HDEL", "breakerbox:{shared}", &field]);
            }
        }
        recover(&a, &b);
    });
}

/// B146, L18
#[test]
fn scripts_that_were_forgotten_are_sent_again() {
    calmly_panicking(|| {
        let backing = Backing::redis();
        let [a, b] = backing.processes(POLICY.cooldown(Duration::from_millis(100)));
        let server = backing.server();
        let traffic = Traffic::beside(&a);
        a.fail();
        server.script_flush();
        a.fail();
        server.script_flush();
        a.fail();
        b.becomes(State::Open);
        server.script_flush();
        b.cools_down();
        let probe = b.enter();
        server.script_flush();
        probe.success();
        a.becomes(State::Closed);
        traffic.went_well();
        assert_eq!((a.losses(), b.losses()), (0, 0));
    });
}

/// B170
#[test]
fn a_process_that_starts_takes_an_opening_over() {
    on_each(|backing| {
        let a = backing.start(POLICY);
        a.fail_times(3);
        let b = backing.start(POLICY);
        b.becomes(State::Open);
        assert!(a.breaker.try_acquire().is_err());
        assert!(b.breaker.try_acquire().is_err());
    });
}

/// B070
#[test]
fn an_opening_outlives_the_process_that_made_it() {
    on_each(|backing| {
        let a = backing.start(SHORT);
        let b = backing.start(SHORT);
        a.fail();
        b.becomes(State::Open);
        a.registry.close();
        drop(a);
        b.cools_down();
        b.enter().success();
        b.becomes(State::Closed);
    });
}
