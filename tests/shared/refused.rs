//! The server answers and does not do what it is asked for: it is full, or forbids it, or has
//! something else where the circuit should be.

use std::thread;
use std::time::Duration;

use breakerbox::Event;
use breakerbox::Policy;
use breakerbox::Redis;
use breakerbox::State;
use breakerbox::Warning;
use breakerbox_servers::Server;

use super::calm::calmly_panicking;
use super::fleet::Process;
use super::fleet::both_become;
use super::traffic::Traffic;

const POLICY: Policy = Policy::new()
    .threshold(3)
    .cooldown(Duration::from_secs(600));

const KEY: &str = "breakerbox:{shared}";

fn server() -> Server {
    let server = Server::options().user("app on >secret ~* &* +@all");
    server.start().expect("a server: run ./tests/run")
}

fn start(server: &Server) -> Process {
    Process::start(POLICY, |it| it.redis(server.url_of("app", "secret")))
}

/// The circuit is as each process sees it by itself, and the other service is not.
fn is_apart(a: &Process, b: &Process) {
    a.fail_times(3);
    assert_eq!(a.breaker.state(), State::Open);
    others_are_well(a, b);
    assert_eq!(b.breaker.state(), State::Closed);
    assert_eq!((a.losses(), b.losses()), (0, 0));
}

/// Opens the circuit of the other service for both, and closes it again.
fn others_are_well(a: &Process, b: &Process) {
    let other = |process: &Process| process.registry.breaker("other").expect("declared");
    let forced = other(a).force_open(Duration::from_secs(600), "ana", "a test");
    forced.expect("it has all it needs");
    b.eventually("it is forced, too", || {
        other(b).state() == State::ForcedOpen
    });
    other(b).clear_override();
    a.eventually("it is cleared", || other(a).state() == State::Closed);
}

/// They share the circuit again.
fn is_together(a: &Process, b: &Process) {
    a.breaker.reset();
    let ttl = Duration::from_secs(600);
    a.eventually("it shares it again", || {
        let forced = a.breaker.force_open(ttl, "ana", "a test");
        forced.expect("it has all it needs").is_shared()
    });
    b.becomes(State::ForcedOpen);
    b.eventually("it shares it again", || {
        let forced = b.breaker.force_closed(ttl, "bob", "a test");
        forced.expect("it has all it needs").is_shared()
    });
    a.becomes(State::ForcedClosed);
    a.breaker.clear_override();
    both_become(a, b, State::Closed);
}

#[test]
fn a_key_that_is_something_else_sets_one_circuit_apart_until_it_is_gone() {
    calmly_panicking(|| {
        let server = server();
        server.order(&["SET", KEY, "somebody's"]);
        let [a, b] = std::array::from_fn(|_| start(&server));
        is_apart(&a, &b);
        a.eventually("it is told, with what is wrong", || {
            a.count(|event| {
                matches!(event, Event::Warning(Warning::NotShared { service, cause })
                    if *service == "shared" && cause.contains("WRONGTYPE"))
            }) == 1
        });
        let key = server.order(&["GET", KEY]);
        assert_eq!(key.text(), "somebody's", "it is not ours to touch");
        server.order(&["DEL", KEY]);
        is_together(&a, &b);
    });
}

/// B166
#[test]
fn a_full_server_sets_circuits_apart_until_it_has_room() {
    calmly_panicking(|| {
        let server = server();
        let [a, b] = std::array::from_fn(|_| start(&server));
        let traffic = Traffic::beside(&a);
        server.config_set("maxmemory-policy", "noeviction");
        server.config_set("maxmemory", "1");
        a.fail_times(3);
        assert_eq!(a.breaker.state(), State::Open);
        traffic.went_well();
        assert_eq!((a.losses(), b.losses()), (0, 0));
        assert_eq!(server.order(&["EXISTS", KEY]).integer(), Some(0));
        server.config_set("maxmemory", "0");
        is_together(&a, &b);
    });
}

/// B155
#[test]
fn a_server_that_forbids_scripts_leaves_each_process_to_itself() {
    calmly_panicking(|| {
        let server = server();
        let [a, b] = std::array::from_fn(|_| start(&server));
        let traffic = Traffic::beside(&a);
        server.deny("app", "@scripting");
        a.fail_times(3);
        assert_eq!(a.breaker.state(), State::Open);
        traffic.went_well();
        assert_eq!(b.breaker.state(), State::Closed);
        server.allow("app", "@scripting");
        is_together(&a, &b);
    });
}

#[test]
fn a_server_that_forbids_messages_is_asked_again_and_again() {
    calmly_panicking(|| {
        let server = server();
        server.deny("app", "publish");
        let [a, b] = std::array::from_fn(|_| start(&server));
        a.fail_times(3);
        b.becomes(State::Open);
        a.breaker.reset();
        b.becomes(State::Closed);
    });
}

/// M19, B150
#[test]
fn messages_that_do_not_come_any_more_are_made_up_for() {
    calmly_panicking(|| {
        let server = server();
        let [a, b] = std::array::from_fn(|_| start(&server));
        server.acl("app", &["resetchannels"]);
        // Whoever listened is thrown out, and comes back to hear nothing.
        a.eventually("it is back", || a.finds() > 1);
        b.eventually("it is back", || b.finds() > 1);
        a.fail_times(3);
        b.becomes(State::Open);
    });
}

/// B143
#[test]
fn a_server_that_closes_idle_connections_finds_none() {
    calmly_panicking(|| {
        let server = Server::options().config("timeout 1").start();
        let server = server.expect("a server: run ./tests/run");
        let short = Duration::from_millis(600);
        let [a, b] = std::array::from_fn(|_| {
            Process::start(POLICY, |it| it.store(Redis::new(server.url()).lease(short)))
        });
        thread::sleep(Duration::from_secs(3));
        a.fail();
        a.fail();
        b.fail();
        both_become(&a, &b, State::Open);
        assert_eq!((a.losses(), b.losses()), (0, 0));
    });
}
