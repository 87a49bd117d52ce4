//! Slots that move, and nodes that fail.

use breakerbox_servers::Cluster;
use breakerbox_servers::installed;
use breakerbox_servers::until;

use crate::client::Client;

#[test]
fn a_slot_moves_with_its_keys_and_both_nodes_say_where() {
    let Some(cluster) = installed(Cluster::start()) else {
        return;
    };
    let from = cluster.owner("{k}1");
    let to = (from + 1) % Cluster::MASTERS;
    let mut old = Client::of(cluster.nodes()[from].address());
    let mut new = Client::of(cluster.nodes()[to].address());
    let slot = cluster.slot("{k}1");
    let moved = |node: usize| format!("-MOVED {slot} {}", cluster.nodes()[node].address());
    assert_eq!(old.ask("SET {k}1 x"), "+OK");
    assert_eq!(new.ask("GET {k}1"), moved(from));

    let on_its_way = cluster.begin_slot_move("{k}1", to);
    assert_eq!(old.ask_for_text("GET {k}1"), "x");
    let ask = format!("-ASK {slot} {}", cluster.nodes()[to].address());
    assert_eq!(old.ask("SET {k}2 y"), ask);
    assert_eq!(new.ask("ASKING"), "+OK");
    assert_eq!(new.ask("SET {k}2 y"), "+OK");
    on_its_way.move_keys();
    assert_eq!(old.ask("GET {k}1"), ask);

    on_its_way.finish();
    assert_eq!(old.ask("GET {k}1"), moved(to));
    assert_eq!(new.ask_for_text("GET {k}1"), "x");
    assert_eq!(cluster.owner("{k}1"), to);
    assert!((0..Cluster::MASTERS).all(|node| cluster.is_well(node)));
    cluster.move_slot("{k}1", from);
    assert_eq!(old.ask_for_text("GET {k}1"), "x");
}

#[test]
fn a_cluster_without_one_of_its_masters_is_down_until_that_is_back() {
    let Some(cluster) = installed(Cluster::start()) else {
        return;
    };
    let dead = cluster.owner("a");
    let other = (dead + 1) % Cluster::MASTERS;
    cluster.kill_node(dead);
    until("the others notice", || {
        (!cluster.is_well(other)).then_some(())
    });
    let answer = Client::of(cluster.nodes()[other].address()).ask("GET a");
    assert!(answer.starts_with("-CLUSTERDOWN"), "{answer}");
    cluster.restart_node(dead);
    until("all is well", || {
        (0..3).all(|node| cluster.is_well(node)).then_some(())
    });
    assert_eq!(
        Client::of(cluster.nodes()[dead].address()).ask("SET a 1"),
        "+OK"
    );
}

#[test]
fn a_replica_takes_the_place_of_its_master() {
    let Some(cluster) = installed(Cluster::with_replicas()) else {
        return;
    };
    assert_eq!(cluster.urls().len(), 6);
    let master = cluster.owner("a");
    let replica = cluster.failover(master);
    until("the slots have gone with it", || {
        (cluster.owner("a") == replica).then_some(())
    });
    // Without an order, where the master is dead.
    let other = (master + 1) % Cluster::MASTERS;
    cluster.kill_node(other);
    let replica = cluster.failover(other);
    until("all is well without the dead", || {
        cluster.is_well(replica).then_some(())
    });
}
