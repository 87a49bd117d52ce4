//! The law on circuits that are shared: the scenarios of groups A to J that are not about one
//! process alone, in a store in memory and in Redis, and while there is no store.
//!
//! Short times are real ones: an opening that is to be probed lasts 80 ms, and the next one
//! long enough to be seen.

mod alone;
mod by_hand;
mod counted;
mod faults;
mod openings;
mod probes;

use std::time::Duration;

use breakerbox::MemoryStore;
use breakerbox::Policy;
use breakerbox::Redis;
use breakerbox::Window;
use breakerbox_servers::Cluster;
use breakerbox_servers::Proxy;
use breakerbox_servers::Server;

use super::fleet::Process;
use super::play::Cast;
use super::play::Loss;
use super::play::Scenario;
use super::play::play_all;

use alone::ALONE;
use by_hand::BY_HAND;
use counted::COUNTED;
use faults::FAULTS;
use openings::OPENINGS;
use probes::PROBES;

const LONG: Policy = Policy::new()
    .cooldown(Duration::from_secs(600))
    .max_cooldown(Duration::from_secs(600))
    .probe_wait(Duration::from_secs(10));

/// Whose first opening is short, and whose second is not.
const SHORT: Policy = LONG.cooldown(Duration::from_millis(80)).backoff(1_000.0);
/// Whose openings are all short.
const BRIEF: Policy = SHORT.backoff(1.0);

const ONE: Policy = SHORT.threshold(1);
const THREE: Policy = LONG.threshold(3);

const fn last(calls: u32) -> Policy {
    LONG.window(Window::Calls(calls))
}

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

const MINUTE: Policy = LONG.window(Window::Time(seconds(60)));

/// What holds of processes together, and of one whose store is lost.
const SHARED: &[&[Scenario]] = &[COUNTED, OPENINGS, PROBES, BY_HAND, FAULTS];
/// What holds of one process, with a store and without.
const ALL: &[&[Scenario]] = &[COUNTED, OPENINGS, PROBES, BY_HAND, FAULTS, ALONE];

/// In a store that all scenarios have together, each under a prefix of its own.
fn redis(server: &Server, name: &str) -> Redis {
    Redis::new(server.url()).prefix(name)
}

#[test]
fn one_process_with_a_store_in_memory_keeps_the_law() {
    play_all(ALL, &|_, policy| {
        vec![Process::start(policy, |it| it.store(MemoryStore::new()))]
    });
}

#[test]
fn two_processes_with_a_store_in_memory_keep_the_law_together() {
    play_all(SHARED, &|_, policy| {
        let store = MemoryStore::new();
        let one = |_| Process::start(policy, |it| it.store(store.clone()));
        (0..2).map(one).collect::<Vec<_>>()
    });
}

#[test]
fn one_process_with_redis_keeps_the_law() {
    let server = Server::start().expect("a server: run ./tests/run");
    play_all(ALL, &|name, policy| {
        vec![Process::start(policy, |it| it.store(redis(&server, name)))]
    });
}

#[test]
fn two_processes_with_redis_keep_the_law_together() {
    let server = Server::start().expect("a server: run ./tests/run");
    play_all(SHARED, &|name, policy| {
        let one = |_| Process::start(policy, |it| it.store(redis(&server, name)));
        (0..2).map(one).collect::<Vec<_>>()
    });
}

#[test]
fn two_processes_with_a_cluster_keep_the_law_together() {
    let cluster = Cluster::start().expect("a cluster: run ./tests/run");
    play_all(SHARED, &|name, policy| {
        let store = || Redis::cluster(cluster.urls()).prefix(name);
        let one = |_| Process::start(policy, |it| it.store(store()));
        (0..2).map(one).collect::<Vec<_>>()
    });
}

/// B186
#[test]
fn a_process_that_never_finds_its_store_keeps_the_law() {
    let proxy = Proxy::start(([127, 0, 0, 1], 1).into()).expect("a proxy");
    proxy.refuse();
    play_all(ALL, &|_, policy| {
        let process = Process::start_alone(policy, |it| it.redis(proxy.url()));
        process.loses(1);
        vec![process]
    });
}

/// B186
#[test]
fn a_process_that_has_lost_its_store_keeps_the_law() {
    let server = Server::start().expect("a server: run ./tests/run");
    play_all(ALL, &|name, policy| {
        losing(&server, name, policy, Loss::Before)
    });
}

/// B186: what it knew from the others before is no hindrance.
#[test]
fn a_process_that_loses_its_store_in_the_middle_keeps_the_law() {
    let server = Server::start().expect("a server: run ./tests/run");
    play_all(ALL, &|name, policy| {
        losing(&server, name, policy, Loss::InTheMiddle)
    });
}

fn losing(server: &Server, name: &str, policy: Policy, loss: Loss) -> Cast {
    let way = Proxy::start(server.address()).expect("a proxy");
    let store = Redis::new(way.url()).prefix(name);
    let process = Process::start(policy, |it| it.store(store));
    Cast::losing(process, loss, way)
}
