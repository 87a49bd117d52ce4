//! What becomes of calls while the store is lost, as somebody has decided.

use std::time::Duration;

use breakerbox::Event;
use breakerbox::Policy;
use breakerbox::RegistryBuilder;
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

/// A server, and a network to it that can be cut.
struct Scene {
    server: Server,
    network: Proxy,
}

impl Scene {
    fn new() -> Self {
        let server = Server::start().expect("a server: run ./tests/run");
        let network = Proxy::start(server.address()).expect("a proxy");
        Self { server, network }
    }

    /// A process beyond that network, for which somebody has decided, and which has found its
    /// store.
    fn start(&self, when_lost: WhenStoreIsLost) -> Process {
        Process::start(POLICY, |it| self.beyond(it, when_lost))
    }

    /// The same, which may have no store to find.
    fn start_alone(&self, when_lost: WhenStoreIsLost) -> Process {
        Process::start_alone(POLICY, |it| self.beyond(it, when_lost))
    }

    fn beyond(&self, builder: RegistryBuilder, when_lost: WhenStoreIsLost) -> RegistryBuilder {
        let builder = builder.redis(self.network.url());
        builder.when_store_is_lost(when_lost)
    }

    /// A process that does not lose the store.
    fn start_other(&self) -> Process {
        Process::start(POLICY, |it| it.redis(self.server.url()))
    }

    fn lose_store(&self) {
        self.network.refuse();
        self.network.reset_connections();
    }
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
        let scene = Scene::new();
        let process = scene.start(WhenStoreIsLost::OpenFails);
        process.succeed();
        for times in 1..=2 {
            scene.lose_store();
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
            scene.network.heal();
            process.becomes(State::Closed);
            process.succeed();
            process.finds_it(times + 1);
        }
    });
}

#[test]
fn who_would_rather_reject_does_so_from_the_start() {
    calmly_panicking(|| {
        let scene = Scene::new();
        scene.network.refuse();
        let process = scene.start_alone(WhenStoreIsLost::OpenFails);
        rejects_all(&process);
        scene.network.heal();
        process.becomes(State::Closed);
        process.succeed();
    });
}

#[test]
fn what_was_open_before_is_open_when_the_store_is_back() {
    calmly_panicking(|| {
        let scene = Scene::new();
        let process = scene.start(WhenStoreIsLost::OpenFails);
        let other = scene.start_other();
        other.fail_times(3);
        process.becomes(State::Open);
        scene.lose_store();
        rejects_all(&process);
        scene.network.heal();
        process.becomes(State::Open);
        assert_eq!(process.moves(State::ForcedOpen, State::Closed), 0);
    });
}

/// What it knows of the others was no more told to the store, since the loss had moved it.
#[test]
fn what_was_open_before_is_open_when_the_store_is_back_with_nothing() {
    calmly_panicking(|| {
        let server = Server::start().expect("a server: run ./tests/run");
        let process = Process::start(POLICY, |it| {
            let builder = it.redis(server.url());
            builder.when_store_is_lost(WhenStoreIsLost::OpenFails)
        });
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
        let scene = Scene::new();
        let process = scene.start(WhenStoreIsLost::Admit(Duration::from_secs(1)));
        let other = scene.start_other();
        other.fail_times(3);
        process.becomes(State::Open);
        scene.lose_store();
        process.becomes(State::ForcedClosed);
        process.fail_times(9);
        process.becomes(State::Closed);
        process.fail_times(3);
        assert_eq!(process.breaker.state(), State::Open);
        assert_eq!(process.losses(), 1);
        scene.network.heal();
        process.finds_it(2);
        assert_eq!(process.breaker.state(), State::Open);
        assert_eq!(other.breaker.state(), State::Open);
    });
}

#[test]
fn who_admits_all_is_with_the_others_again_as_soon_as_the_store_is_back() {
    calmly_panicking(|| {
        let scene = Scene::new();
        let process = scene.start(WhenStoreIsLost::Admit(Duration::from_secs(600)));
        let other = scene.start_other();
        scene.lose_store();
        process.becomes(State::ForcedClosed);
        other.fail_times(3);
        scene.network.heal();
        process.becomes(State::Open);
    });
}

#[test]
fn who_goes_by_what_it_sees_is_not_moved_by_a_loss() {
    calmly_panicking(|| {
        let scene = Scene::new();
        let process = scene.start(WhenStoreIsLost::Local);
        process.fail();
        process.fail();
        scene.lose_store();
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
        let scene = Scene::new();
        let process = scene.start(WhenStoreIsLost::Local);
        scene.lose_store();
        process.loses(1);
        let forced = process
            .breaker
            .force_open(Duration::from_secs(600), "ana", "a test");
        assert!(!forced.expect("it has all it needs").is_shared());
        assert_eq!(process.breaker.state(), State::ForcedOpen);
        scene.network.heal();
        process.becomes(State::Closed);
        scene.lose_store();
        process.loses(2);
        assert_eq!(process.breaker.state(), State::Closed);
    });
}
