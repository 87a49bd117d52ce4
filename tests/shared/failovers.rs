//! The server is another one from now on, which knows less.

use std::thread;
use std::time::Duration;

use breakerbox::Policy;
use breakerbox::Redis;
use breakerbox::State;
use breakerbox_servers::Cluster;
use breakerbox_servers::Proxy;
use breakerbox_servers::Sentinels;
use breakerbox_servers::Server;

use super::calm::calmly_panicking;
use super::fleet::Process;
use super::fleet::both_become;
use super::traffic::Traffic;

const POLICY: Policy = Policy::new()
    .threshold(3)
    .cooldown(Duration::from_secs(600));

fn open(a: &Process, b: &Process) {
    a.fail_times(3);
    both_become(a, b, State::Open);
}

/// They share their circuits: one resets, and another hears of it.
fn is_well(a: &Process, b: &Process) {
    a.eventually("a reset is known", || {
        a.breaker.reset();
        // Also to the one who resets: nothing of it is on its way any more.
        thread::sleep(Duration::from_millis(500));
        a.breaker.state() == State::Closed && b.breaker.state() == State::Closed
    });
    open(b, a);
}

/// B145
#[test]
fn a_server_that_becomes_a_replica_is_left_for_one_that_has_lost_the_last_writes() {
    calmly_panicking(|| {
        let [first, second] =
            std::array::from_fn(|_| Server::start().expect("a server: run ./tests/run"));
        let proxy = Proxy::start(first.address()).expect("a proxy");
        let [a, b] = std::array::from_fn(|_| Process::start(POLICY, |it| it.redis(proxy.url())));
        let traffic = [Traffic::beside(&a), Traffic::beside(&b)];
        open(&a, &b);
        // The second knows nothing of all that.
        first.replica_of(&second);
        proxy.switch_to(second.address());
        proxy.drop_connections();
        a.finds_it(2);
        b.finds_it(2);
        // Whoever knows of the opening has put it back.
        let new = Process::start(POLICY, |it| it.redis(second.url()));
        new.becomes(State::Open);
        for process in [&a, &b] {
            assert_eq!(process.breaker.state(), State::Open);
            assert_eq!(process.moves(State::Open, State::Closed), 0);
        }
        traffic.into_iter().for_each(Traffic::went_well);
        is_well(&a, &b);
    });
}

/// B145
#[test]
fn a_server_that_takes_no_writes_any_more_is_not_talked_to() {
    calmly_panicking(|| {
        let [first, second] =
            std::array::from_fn(|_| Server::start().expect("a server: run ./tests/run"));
        let [a, b] = std::array::from_fn(|_| Process::start(POLICY, |it| it.redis(first.url())));
        let traffic = Traffic::beside(&a);
        first.replica_of(&second);
        a.fail();
        a.loses(1);
        // Whether that failure was counted nobody knows, so it is told no more.
        a.succeed();
        a.fail_times(3);
        assert_eq!(a.breaker.state(), State::Open);
        first.promote();
        a.finds_it(2);
        b.becomes(State::Open);
        traffic.went_well();
        assert_eq!(a.losses(), 1);
    });
}

#[test]
fn another_master_that_sentinels_have_chosen_is_found() {
    calmly_panicking(|| {
        let sentinels = Sentinels::start().expect("sentinels: run ./tests/run");
        let store = || Redis::sentinel(Sentinels::NAME, sentinels.urls());
        let [a, b] = std::array::from_fn(|_| Process::start(POLICY, |it| it.store(store())));
        let traffic = [Traffic::beside(&a), Traffic::beside(&b)];
        open(&a, &b);
        sentinels.kill_master();
        a.eventually("it finds the other", || a.finds() > 1);
        b.eventually("it finds the other", || b.finds() > 1);
        assert_eq!(a.breaker.state(), State::Open);
        assert_eq!(a.moves(State::Open, State::Closed), 0);
        traffic.into_iter().for_each(Traffic::went_well);
        is_well(&a, &b);
    });
}

/// B145, B161
#[test]
fn a_circuit_that_moves_to_another_node_of_a_cluster_is_found_there() {
    calmly_panicking(|| {
        let cluster = Cluster::start().expect("a cluster: run ./tests/run");
        let store = || Redis::cluster(cluster.urls());
        let [a, b] = std::array::from_fn(|_| Process::start(POLICY, |it| it.store(store())));
        let traffic = [Traffic::beside(&a), Traffic::beside(&b)];
        open(&a, &b);
        let key = "breakerbox:{shared}";
        let owner = cluster.owner(key);
        let moving = cluster.begin_slot_move(key, (owner + 1) % Cluster::MASTERS);
        is_well(&a, &b);
        moving.move_keys();
        is_well(&b, &a);
        moving.finish();
        is_well(&a, &b);
        traffic.into_iter().for_each(Traffic::went_well);
        assert_eq!((a.losses(), b.losses()), (0, 0));
    });
}

/// B145
#[test]
fn a_master_of_a_cluster_that_dies_is_replaced() {
    calmly_panicking(|| {
        let cluster = Cluster::with_replicas().expect("a cluster: run ./tests/run");
        let store = || Redis::cluster(cluster.urls());
        let [a, b] = std::array::from_fn(|_| Process::start(POLICY, |it| it.store(store())));
        let traffic = [Traffic::beside(&a), Traffic::beside(&b)];
        open(&a, &b);
        let owner = cluster.owner("breakerbox:{shared}");
        cluster.kill_node(owner);
        cluster.failover(owner);
        a.eventually("it reaches the new master", || {
            let ttl = Duration::from_millis(30);
            let forced = a.breaker.force_open(ttl, "ana", "a test");
            forced.expect("it has all it needs");
            thread::sleep(Duration::from_millis(50));
            // From whatever state: the replica may not have heard of the opening.
            let from = [State::Open, State::HalfOpen, State::Closed];
            from.iter()
                .any(|from| b.moves(*from, State::ForcedOpen) > 0)
        });
        is_well(&a, &b);
        traffic.into_iter().for_each(Traffic::went_well);
    });
}
