//! Circuits that lie at several nodes.

use std::time::Duration;

use breakerbox_servers::Cluster;
use breakerbox_servers::Server;
use breakerbox_servers::until;

use super::Heard;
use super::Process;
use super::connected;
use crate::rules::fleet::Status;
use crate::store::Store;
use crate::store::redis::Redis;

/// A circuit whose slot this node has.
fn circuit_at(cluster: &Cluster, node: usize) -> String {
    let mut circuits = (0..).map(|number| format!("circuit-{number}"));
    let found = circuits.find(|circuit| cluster.owner(&key(circuit)) == node);
    found.expect("a circuit")
}

fn key(circuit: &str) -> String {
    format!("breakerbox:{{{circuit}}}")
}

/// The next message, past what may happen to the connection.
async fn told(process: &mut Process) -> String {
    loop {
        if let Heard::Told(circuit, _) = process.next().await {
            return circuit;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_circuit_lies_at_its_node_and_everybody_hears_of_all() {
    let cluster = Cluster::start().expect("a cluster");
    let redis = Redis::cluster(&cluster.urls()[..1]);
    let (one, mut other) = (connected(&redis).await, connected(&redis).await);
    assert_eq!(one.store.polls(), Some(Duration::from_secs(1)));
    for node in 0..Cluster::MASTERS {
        let circuit = circuit_at(&cluster, node);
        let reply = one.trip(&circuit).await.expect("an answer");
        assert_eq!(reply.status, Status::Opened);
        assert_eq!(told(&mut other).await, circuit);
        assert!(other.is_open(&circuit).await);
        let entries = other.store.journal(&circuit, 10).await.expect("a journal");
        assert_eq!(entries.len(), 1);
    }
    assert_eq!(one.counts.losses(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_is_dropped_leaves_every_node() {
    let cluster = Cluster::start().expect("a cluster");
    let process = connected(&Redis::cluster(&cluster.urls()[..1])).await;
    let clients = || {
        let nodes = cluster.nodes().iter();
        nodes.map(Server::client_count).collect::<Vec<_>>()
    };
    // One node brings the messages, too.
    assert_eq!(clients(), [2, 1, 1]);
    drop(process);
    until("nobody is connected", || {
        (clients() == [0, 0, 0]).then_some(())
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_circuit_is_followed_to_its_new_node() {
    let cluster = Cluster::start().expect("a cluster");
    let process = connected(&Redis::cluster(cluster.urls())).await;
    let circuit = circuit_at(&cluster, 0);
    process.trip(&circuit).await.expect("an answer");
    let on_its_way = cluster.begin_slot_move(&key(&circuit), 1);
    assert!(process.is_open(&circuit).await, "still at the old node");
    on_its_way.move_keys();
    assert!(
        process.is_open(&circuit).await,
        "at the new one, for who asks there"
    );
    on_its_way.finish();
    assert!(process.is_open(&circuit).await, "at the new one");
    assert_eq!(process.counts.losses(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_dies_is_replaced_by_its_replica() {
    let cluster = Cluster::with_replicas().expect("a cluster");
    let process = connected(&Redis::cluster(cluster.urls())).await;
    for node in 0..Cluster::MASTERS {
        process
            .trip(&circuit_at(&cluster, node))
            .await
            .expect("an answer");
    }
    let circuits: Vec<_> = (0..Cluster::MASTERS)
        .map(|node| circuit_at(&cluster, node))
        .collect();
    cluster.kill_node(1);
    let error = process
        .sync(&circuits[1])
        .await
        .expect_err("its node is dead");
    assert!(!error.is_about_one_circuit(), "{error}");
    super::eventually("all circuits answer", || async {
        let mut well = true;
        for circuit in &circuits {
            well &= process.sync(circuit).await.is_ok();
        }
        well
    })
    .await;
}

/// Only the node is named that dies, and it is the one that brought the messages.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_is_found_again_by_nodes_that_nobody_named() {
    let cluster = Cluster::with_replicas().expect("a cluster");
    let mut process = connected(&Redis::cluster(&cluster.urls()[..1])).await;
    let circuit = circuit_at(&cluster, 1);
    cluster.kill_node(0);
    process.down().await;
    process.up().await;
    process.trip(&circuit).await.expect("an answer");
    assert_eq!(told(&mut process).await, circuit);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_that_is_down_is_waited_for() {
    let cluster = Cluster::start().expect("a cluster");
    let mut process = connected(&Redis::cluster(&cluster.urls()[..1])).await;
    let circuits = [circuit_at(&cluster, 0), circuit_at(&cluster, 1)];
    cluster.kill_node(1);
    super::eventually("a living node says that the cluster is down", || async {
        let error = process.sync(&circuits[0]).await.err();
        error.is_some_and(|error| error.to_string().contains("CLUSTERDOWN"))
    })
    .await;
    let cause = process.down().await;
    assert!(cause.to_string().contains("CLUSTERDOWN"), "{cause}");
    cluster.restart_node(1);
    process.up().await;
    for circuit in &circuits {
        super::eventually("it answers", || async {
            process.trip(circuit).await.is_ok()
        })
        .await;
    }
    assert_eq!(process.counts.losses(), 1);
}

/// Every node is found over TLS, also the one that nobody named and that takes the place of
/// another.
#[cfg(feature = "redis-tls")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_over_tls_is_the_same() {
    let cluster = Cluster::with_tls().expect("a cluster");
    let redis = Redis::cluster(&cluster.urls()[1..2]);
    let redis = redis.ca_file(&cluster.certificates().authority);
    let (one, mut other) = (connected(&redis).await, connected(&redis).await);
    let circuits: Vec<_> = (0..Cluster::MASTERS)
        .map(|node| circuit_at(&cluster, node))
        .collect();
    for circuit in &circuits {
        one.trip(circuit).await.expect("an answer");
        assert_eq!(told(&mut other).await, *circuit);
        assert!(other.is_open(circuit).await);
    }
    cluster.kill_node(0);
    for process in [&one, &other] {
        super::eventually("the replica answers", || async {
            process.sync(&circuits[0]).await.is_ok()
        })
        .await;
    }
    let replica = &cluster.nodes()[Cluster::MASTERS];
    assert!(replica.client_count() >= 2, "both are connected to it");
}
