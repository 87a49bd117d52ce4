//! What becomes of calls while the store is lost, as somebody has decided.

use std::time::Duration;

use breakerbox::Event;
use breakerbox::Policy;
use breakerbox::RejectedKind;
use breakerbox::State;
use breakerbox::WhenStoreIsLost;
use breakerbox_servers::Proxy;
use breakerbox_servers::Server;

use super::calm::calmly_panicking;
use super::fleet::Process;

const POLICY: Policy = Policy::new()
    .threshold(3)
    .cooldown(Duration::from_secs(600));

fn start(proxy: &Proxy, when_lost: WhenStoreIsLost) -> Process {
    Process::start_alone(POLICY, |it| {
        it.redis(proxy.url()).when_store_is_lost(when_lost)
    })
}

fn scene() -> (Server, Proxy) {
    let server = Server::start().expect("a server: run ./tests/run");
    let proxy = Proxy::start(server.address()).expect("a proxy");
    (server, proxy)
}

fn lose(proxy: &Proxy) {
    proxy.refuse();
    proxy.reset_connections();
}

fn rejects_all(process: &Process) {
    process.becomes(State::ForcedOpen);
    let rejected = process.breaker.try_acquire().expect_err("nobody gets in");
    assert_eq!(rejected.kind(), RejectedKind::ForcedOpen);
    assert_eq!(rejected.retry_after(), None);
    let forced = process.breaker.snapshot().forced.expect("it is forced");
    assert_eq!(&*forced.by.reason, "the store is lost");
}

#[test]
fn who_would_rather_reject_does_until_the_store_is_back() {
    calmly_panicking(|| {
        let (_server, proxy) = scene();
        let process = start(&proxy, WhenStoreIsLost::OpenFails);
        process.finds_it(1);
        process.succeed();
        for times in 1..=2 {
            lose(&proxy);
            rejects_all(&process);
            process.loses(times);
            process.eventually("it is told", || {
                process.moves(State::Closed, State::ForcedOpen) == times
            });
            let says_how_long = |event: &Event| {
                matches!(event, Event::Transition(it)
                    if it.to == State::ForcedOpen && it.open_for.is_some())
            };
            assert_eq!(process.count(says_how_long), 0, "nobody knows");
            proxy.heal();
            process.becomes(State::Closed);
            process.succeed();
            process.finds_it(times + 1);
        }
    });
}

#[test]
fn who_would_rather_reject_does_so_from_the_start() {
    calmly_panicking(|| {
        let (_server, proxy) = scene();
        proxy.refuse();
        let process = start(&proxy, WhenStoreIsLost::OpenFails);
        rejects_all(&process);
        proxy.heal();
        process.becomes(State::Closed);
        process.succeed();
    });
}

#[test]
fn what_was_open_before_is_open_when_the_store_is_back() {
    calmly_panicking(|| {
        let (server, proxy) = scene();
        let process = start(&proxy, WhenStoreIsLost::OpenFails);
        let other = Process::start(POLICY, |it| it.redis(server.url()));
        process.finds_it(1);
        other.fail_times(3);
        process.becomes(State::Open);
        lose(&proxy);
        rejects_all(&process);
        proxy.heal();
        process.becomes(State::Open);
        assert_eq!(process.moves(State::ForcedOpen, State::Closed), 0);
    });
}

/// What it knows of the others was no more told to the store, since the loss had moved it.
#[test]
fn what_was_open_before_is_open_when_the_store_is_back_with_nothing() {
    calmly_panicking(|| {
        let server = Server::start().expect("a server: run ./tests/run");
        let lost = WhenStoreIsLost::OpenFails;
        let process =
            Process::start_alone(POLICY, |it| it.redis(server.url()).when_store_is_lost(lost));
        process.finds_it(1);
        process.fail_times(3);
        process.is_as_all_have_decided();
        server.kill();
        rejects_all(&process);
        server.restart();
        process.becomes(State::Open);
        let other = Process::start(POLICY, |it| it.redis(server.url()));
        other.becomes(State::Open);
    });
}

#[test]
fn who_admits_all_for_a_while_goes_by_what_it_sees_afterwards() {
    calmly_panicking(|| {
        let (server, proxy) = scene();
        let process = start(&proxy, WhenStoreIsLost::Admit(Duration::from_secs(1)));
        let other = Process::start(POLICY, |it| it.redis(server.url()));
        process.finds_it(1);
        other.fail_times(3);
        process.becomes(State::Open);
        lose(&proxy);
        process.becomes(State::ForcedClosed);
        process.fail_times(9);
        process.becomes(State::Closed);
        process.fail_times(3);
        assert_eq!(process.breaker.state(), State::Open);
        assert_eq!(process.losses(), 1);
        proxy.heal();
        process.finds_it(2);
        assert_eq!(process.breaker.state(), State::Open);
        assert_eq!(other.breaker.state(), State::Open);
    });
}

#[test]
fn who_admits_all_is_with_the_others_again_as_soon_as_the_store_is_back() {
    calmly_panicking(|| {
        let (server, proxy) = scene();
        let process = start(&proxy, WhenStoreIsLost::Admit(Duration::from_secs(600)));
        let other = Process::start(POLICY, |it| it.redis(server.url()));
        process.finds_it(1);
        lose(&proxy);
        process.becomes(State::ForcedClosed);
        other.fail_times(3);
        proxy.heal();
        process.becomes(State::Open);
    });
}

#[test]
fn who_goes_by_what_it_sees_is_not_moved_by_a_loss() {
    calmly_panicking(|| {
        let (_server, proxy) = scene();
        let process = start(&proxy, WhenStoreIsLost::Local);
        process.finds_it(1);
        process.fail();
        process.fail();
        lose(&proxy);
        process.loses(1);
        assert_eq!(process.breaker.snapshot().consecutive_failures, 2);
        process.fail();
        assert_eq!(process.breaker.state(), State::Open);
    });
}

/// B181
#[test]
fn an_override_that_nobody_could_be_told_of_ends_when_the_store_is_back() {
    calmly_panicking(|| {
        let (_server, proxy) = scene();
        let process = start(&proxy, WhenStoreIsLost::Local);
        process.finds_it(1);
        lose(&proxy);
        process.loses(1);
        let forced = process
            .breaker
            .force_open(Duration::from_secs(600), "ana", "a test");
        assert!(!forced.expect("it has all it needs").is_shared());
        assert_eq!(process.breaker.state(), State::ForcedOpen);
        proxy.heal();
        process.becomes(State::Closed);
        lose(&proxy);
        process.loses(2);
        assert_eq!(process.breaker.state(), State::Closed);
    });
}
