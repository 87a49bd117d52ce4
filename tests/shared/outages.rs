//! The store is gone for a while: killed, stopped, or behind a network that is cut or slow.
//! No call notices, each process protects itself meanwhile, and all of it is over by itself.

use std::thread;
use std::time::Duration;
use std::time::Instant;

use breakerbox::Policy;
use breakerbox::Redis;
use breakerbox::State;
use breakerbox_servers::Direction;
use breakerbox_servers::Proxy;
use breakerbox_servers::Server;

use super::calm::calmly_panicking;
use super::fleet::Process;
use super::fleet::both_become;
use super::traffic::Traffic;

const POLICY: Policy = Policy::new()
    .threshold(3)
    .cooldown(Duration::from_secs(600));

/// Two processes, the first of them with a network of its own between it and the server.
struct Scene {
    server: Server,
    proxy: Proxy,
    a: Process,
    b: Process,
}

impl Scene {
    fn new() -> Self {
        let server = Server::start().expect("a server: run ./tests/run");
        let proxy = Proxy::start(server.address()).expect("a proxy");
        let a = Process::start(POLICY, |it| it.redis(proxy.url()));
        let b = Process::start(POLICY, |it| it.redis(server.url()));
        Self {
            server,
            proxy,
            a,
            b,
        }
    }

    /// Everything works again: what one sees opens the circuit of the other.
    fn is_well(&self) {
        self.a.fail_times(3);
        both_become(&self.a, &self.b, State::Open);
    }
}

/// The process protects itself, at once and by its own numbers.
fn protects_itself(process: &Process) {
    for _ in 0..3 {
        assert_eq!(process.breaker.state(), State::Closed);
        process.fail();
    }
    assert_eq!(process.breaker.state(), State::Open);
    assert!(process.breaker.try_acquire().is_err());
}

/// M10, M12, B173
#[test]
fn a_server_that_is_killed_and_comes_back_empty_harms_no_call() {
    calmly_panicking(|| {
        let scene = Scene::new();
        let traffic = [Traffic::beside(&scene.a), Traffic::beside(&scene.b)];
        scene.server.kill();
        scene.a.loses(1);
        scene.b.loses(1);
        protects_itself(&scene.a);
        assert_eq!(scene.b.breaker.state(), State::Closed);
        scene.server.restart();
        scene.a.finds_it(2);
        scene.b.finds_it(2);
        // What it has seen itself is not forgotten, and the others hear of it.
        assert_eq!(scene.a.breaker.state(), State::Open);
        scene.b.becomes(State::Open);
        traffic.into_iter().for_each(Traffic::went_well);
        assert_eq!((scene.a.losses(), scene.a.finds()), (1, 2));
        assert_eq!((scene.b.losses(), scene.b.finds()), (1, 2));
    });
}

/// B156
#[test]
fn a_server_that_is_killed_again_and_again_harms_no_call() {
    calmly_panicking(|| {
        let scene = Scene::new();
        let traffic = [Traffic::beside(&scene.a), Traffic::beside(&scene.b)];
        for times in 1..=5 {
            scene.server.kill();
            scene.a.loses(times);
            scene.b.loses(times);
            scene.server.restart();
            scene.a.finds_it(times + 1);
            scene.b.finds_it(times + 1);
        }
        scene.is_well();
        traffic.into_iter().for_each(Traffic::went_well);
    });
}

/// M11, B140
#[test]
fn a_server_that_hangs_harms_no_call() {
    calmly_panicking(|| {
        let scene = Scene::new();
        let traffic = [Traffic::beside(&scene.a), Traffic::beside(&scene.b)];
        scene.server.stop();
        // Before anybody has noticed.
        scene.a.fail();
        scene.a.succeed();
        scene.a.loses(1);
        scene.b.loses(1);
        protects_itself(&scene.b);
        scene.server.cont();
        scene.a.finds_it(2);
        scene.b.finds_it(2);
        scene.a.becomes(State::Open);
        traffic.into_iter().for_each(Traffic::went_well);
        assert_eq!((scene.a.losses(), scene.b.losses()), (1, 1));
    });
}

/// B185
#[test]
fn a_network_that_swallows_everything_harms_no_call() {
    calmly_panicking(|| {
        let scene = Scene::new();
        let traffic = Traffic::beside(&scene.a);
        scene.proxy.black_hole();
        scene.a.loses(1);
        protects_itself(&scene.a);
        assert_eq!(scene.b.losses(), 0);
        scene.proxy.heal();
        scene.a.finds_it(2);
        scene.b.becomes(State::Open);
        traffic.went_well();
        assert_eq!((scene.a.losses(), scene.a.finds()), (1, 2));
    });
}

#[test]
fn a_network_that_is_slow_is_only_slow() {
    calmly_panicking(|| {
        let scene = Scene::new();
        let traffic = Traffic::beside(&scene.a);
        for direction in [Direction::Up, Direction::Down] {
            scene.proxy.delay(direction, Duration::from_millis(30));
            scene.proxy.jitter(direction, Duration::from_millis(20));
        }
        scene.b.fail();
        scene.a.fail();
        scene.a.fail();
        both_become(&scene.a, &scene.b, State::Open);
        traffic.went_well();
        assert_eq!((scene.a.losses(), scene.b.losses()), (0, 0));
    });
}

#[test]
fn a_network_that_is_slower_than_anybody_waits_is_lost() {
    calmly_panicking(|| {
        let scene = Scene::new();
        let traffic = Traffic::beside(&scene.a);
        scene.proxy.delay(Direction::Down, Duration::from_secs(3));
        scene.a.loses(1);
        protects_itself(&scene.a);
        scene.proxy.heal();
        scene.a.finds_it(2);
        scene.b.becomes(State::Open);
        traffic.went_well();
        assert_eq!(scene.a.losses(), 1);
    });
}

#[test]
fn connections_that_are_cut_in_the_middle_of_something_are_made_anew() {
    calmly_panicking(|| {
        let scene = Scene::new();
        let traffic = [Traffic::beside(&scene.a), Traffic::beside(&scene.b)];
        for (times, bytes) in (1..).zip([1, 7, 40]) {
            scene.proxy.cut_after(Direction::Down, bytes);
            scene.a.loses(times);
            scene.a.finds_it(times + 1);
        }
        scene.server.clients_kill();
        scene.a.loses(4);
        scene.b.loses(1);
        scene.a.finds_it(5);
        scene.b.finds_it(2);
        scene.is_well();
        traffic.into_iter().for_each(Traffic::went_well);
    });
}

#[test]
fn an_opening_lasts_to_its_end_while_the_store_is_lost_and_after_it_was_lost() {
    calmly_panicking(|| {
        const BRIEF: Policy = POLICY.cooldown(Duration::from_secs(3));
        let server = Server::start().expect("a server: run ./tests/run");
        let [a, b] = std::array::from_fn(|_| Process::start(BRIEF, |it| it.redis(server.url())));
        let begin = Instant::now();
        a.fail_times(3);
        b.becomes(State::Open);
        server.kill();
        b.loses(1);
        assert_eq!(b.breaker.state(), State::Open);
        server.restart();
        b.finds_it(2);
        b.cools_down();
        assert!(begin.elapsed() >= Duration::from_secs(3));
        // Whoever comes first probes for both.
        b.enter().success();
        both_become(&a, &b, State::Closed);
    });
}

/// M12: what was decided meanwhile stands.
#[test]
fn what_the_others_have_decided_meanwhile_is_taken_over() {
    calmly_panicking(|| {
        let scene = Scene::new();
        scene.proxy.black_hole();
        scene.a.loses(1);
        scene.b.fail_times(3);
        scene.b.becomes(State::Open);
        assert_eq!(scene.a.breaker.state(), State::Closed);
        scene.proxy.heal();
        scene.a.becomes(State::Open);

        scene.proxy.black_hole();
        scene.a.loses(2);
        scene.b.breaker.reset();
        scene.b.becomes(State::Closed);
        assert_eq!(scene.a.breaker.state(), State::Open);
        scene.proxy.heal();
        scene.a.becomes(State::Closed);
    });
}

/// B181, of failures: what is over is told to nobody.
#[test]
fn an_outage_of_the_service_that_is_over_opens_nothing_when_the_store_is_back() {
    calmly_panicking(|| {
        const BRIEF: Policy = POLICY.cooldown(Duration::from_millis(50));
        let server = Server::start().expect("a server: run ./tests/run");
        let [a, b] = std::array::from_fn(|_| Process::start(BRIEF, |it| it.redis(server.url())));
        server.kill();
        a.loses(1);
        b.loses(1);
        a.fail_times(3);
        assert_eq!(a.breaker.state(), State::Open);
        a.enter().success();
        for _ in 0..9 {
            a.succeed();
        }
        server.restart();
        a.finds_it(2);
        b.finds_it(2);
        thread::sleep(Duration::from_millis(500));
        assert_eq!(a.moves(State::Closed, State::Open), 1);
        assert_eq!(b.moves(State::Closed, State::Open), 0);
    });
}

/// K01 in degraded mode, and B171: nothing of a probe is left behind by a loss.
#[test]
fn a_probe_that_the_store_was_lost_under_leaves_nothing_behind() {
    calmly_panicking(|| {
        const PROBED: Policy = POLICY
            .threshold(1)
            .cooldown(Duration::from_secs(1))
            .probe_wait(Duration::from_secs(10));
        let server = Server::start().expect("a server: run ./tests/run");
        let proxy = Proxy::start(server.address()).expect("a proxy");
        let a = Process::start(PROBED, |it| it.redis(proxy.url()));
        a.fail();
        a.is_as_all_have_decided();
        a.cools_down();
        let probe = a.enter();
        proxy.black_hole();
        a.loses(1);
        // By itself it probes anew, one at a time.
        let local = a.enter();
        assert!(a.breaker.try_acquire().is_err());
        probe.success();
        local.success();
        assert_eq!(a.breaker.state(), State::Closed);
        proxy.heal();
        a.finds_it(2);
        a.eventually("both agree that it is closed", || {
            a.breaker.state() == State::Closed && a.breaker.try_acquire().is_ok()
        });
    });
}

/// B141, B188, B155: from the start there is nobody who would answer.
#[test]
fn a_process_that_finds_no_store_begins_all_the_same() {
    calmly_panicking(|| {
        let hole = Server::start().expect("a server: run ./tests/run");
        let hole_behind = Proxy::start(hole.address()).expect("a proxy");
        hole_behind.black_hole();
        let locked = Server::options().password("secret").start();
        let locked = locked.expect("a server: run ./tests/run");
        let wrong = format!("redis://:wrong@{}", locked.address());
        let nobody = format!("redis://{}", locked.address());
        let urls = [
            hole_behind.url(),
            "redis://no-such-host.invalid".to_owned(),
            "redis://127.0.0.1:1".to_owned(),
            wrong,
            nobody,
        ];
        let started = urls.map(|url| {
            let process = Process::start_alone(POLICY, |it| it.redis(url.clone()));
            let traffic = Traffic::beside(&process);
            (url, process, traffic)
        });
        for (_, process, _) in &started {
            process.loses(1);
            protects_itself(process);
        }
        // They try again and again, and say so once.
        thread::sleep(Duration::from_millis(700));
        for (url, process, traffic) in started {
            traffic.went_well();
            assert_eq!((process.losses(), process.finds()), (1, 0), "{url}");
        }
    });
}

/// B155
#[test]
fn who_may_come_in_after_all_is_let_in() {
    calmly_panicking(|| {
        let server = Server::options().user("app off >secret ~* &* +@all");
        let server = server.start().expect("a server: run ./tests/run");
        let url = server.url_of("app", "secret");
        let process = Process::start_alone(POLICY, |it| it.store(Redis::new(url)));
        process.loses(1);
        server.acl("app", &["on"]);
        process.finds_it(1);
    });
}
