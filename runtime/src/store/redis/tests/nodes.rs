//! Nodes of a cluster that are slow, that are gone, or that send one on.

use std::time::Duration;

use super::Process;
use super::connected;
use super::eventually;
use super::fake::Fake;
use super::fake::NEVER;
use crate::store::Store;
use crate::store::StoreError;
use crate::store::redis::Redis;
use crate::store::redis::slots;
use crate::store::redis::wire;

const LAST: u16 = 16_383;

/// A process that is told of this node alone, once it is connected.
async fn in_cluster_of(seed: &Fake) -> Process {
    connected(&Redis::cluster([seed.url()])).await
}

fn slot(circuit: &str) -> u16 {
    slots::slot(&wire::journal_key("breakerbox", circuit))
}

/// Over TLS, and from far away, that takes longer than any command.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_takes_its_time_to_let_one_in_is_connected_to_all_the_same() {
    let [seed, node] = Fake::start_all().await;
    seed.knows(&[(0, LAST, &node)]);
    node.takes("HELLO", Duration::from_millis(400));
    let process = in_cluster_of(&seed).await;
    eventually("its circuits answer", || async {
        process.sync("stripe").await.is_ok()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_lets_nobody_in_holds_up_no_other() {
    let [seed, dead, node] = Fake::start_all().await;
    let (at_dead, at_node) = ("stripe", "paypal");
    let first = slot(at_dead);
    assert_ne!(first, slot(at_node));
    seed.knows(&[(0, LAST, &node), (first, first, &dead)]);
    dead.takes("HELLO", NEVER);
    // Nor is it connected to the other one yet.
    node.says("HELLO", "-LOADING it loads\r\n");
    let process = in_cluster_of(&seed).await;
    process.sync(at_node).await.expect_err("it loads");
    node.says_what_it_should("HELLO");
    // Whoever asks for it first waits for the one, and meanwhile the other answers.
    eventually("the others do not wait for it", || async {
        tokio::select! {
            biased;
            _ = process.sync(at_dead) => false,
            answer = process.sync(at_node) => answer.is_ok(),
        }
    })
    .await;
}

/// A cluster may go on without the slots of a node that is gone, if it is told so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn circuits_of_a_dead_node_hurt_those_of_no_other() {
    let [seed, node, dead] = Fake::start_all().await;
    dead.takes("HELLO", NEVER);
    let here = slot("stripe");
    seed.knows(&[(0, LAST, &dead), (here, here, &node)]);
    seed.says("EVALSHA", &dead.redirection("MOVED"));
    let process = in_cluster_of(&seed).await;
    process.sync("stripe").await.expect("an answer");
    process.sync("paypal").await.expect_err("its node is dead");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_is_down_when_the_node_says_so_that_brings_the_messages() {
    let [seed, node] = Fake::start_all().await;
    let (at_seed, at_node) = ("stripe", "paypal");
    let here = slot(at_seed);
    seed.knows(&[(0, LAST, &node), (here, here, &seed)]);
    let mut process = in_cluster_of(&seed).await;
    let down = "-CLUSTERDOWN The cluster is down\r\n";
    node.says("EVALSHA", down);
    let error = process.sync(at_node).await.expect_err("it says no");
    assert!(error.to_string().contains("CLUSTERDOWN"), "{error}");
    process.sync(at_seed).await.expect("an answer");
    assert_eq!(process.counts.losses(), 0);
    seed.says("EVALSHA", down);
    process.sync(at_node).await.expect_err("both say no");
    let cause = process.down().await;
    assert!(cause.to_string().contains("CLUSTERDOWN"), "{cause}");
}

/// Who has not heard that a slot has moved may be sent to a node from which it is just moving
/// on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_circuit_is_followed_as_often_as_nodes_send_one_on() {
    let [seed, node, next, last] = Fake::start_all().await;
    seed.knows(&[(0, LAST, &node)]);
    let process = in_cluster_of(&seed).await;
    for command in ["EVALSHA", "LRANGE"] {
        node.says(command, &next.redirection("MOVED"));
        next.says(command, &last.redirection("ASK"));
    }
    process.sync("stripe").await.expect("an answer");
    let entries = process.store.journal("paypal", 10).await;
    assert_eq!(entries.expect("a journal").len(), 0);
    assert_eq!(last.came("ASKING"), 2);
    last.says("EVALSHA", "-OOM command not allowed\r\n");
    let error = process.sync("stripe").await.expect_err("it has no room");
    assert!(matches!(error, StoreError::Full(_)), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_send_one_from_each_to_the_other_are_not_followed_for_ever() {
    let [seed, node, other] = Fake::start_all().await;
    seed.knows(&[(0, LAST, &node)]);
    let process = in_cluster_of(&seed).await;
    node.says("EVALSHA", &other.redirection("MOVED"));
    other.says("EVALSHA", &node.redirection("MOVED"));
    let error = process.sync("stripe").await.expect_err("nobody has it");
    assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
    assert!(node.came("EVALSHA") + other.came("EVALSHA") <= 5);
}

/// It was taken out of the cluster, and answers as well as before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_has_left_the_cluster_is_left() {
    let [seed, node] = Fake::start_all().await;
    for fake in [&seed, &node] {
        fake.knows(&[(0, LAST, &node)]);
    }
    let redis = Redis::cluster([seed.url()]);
    let mut process = connected(&redis).await;
    seed.knows(&[]);
    // Somebody notices that something has changed.
    node.says("EVALSHA", &node.redirection("MOVED"));
    process
        .sync("stripe")
        .await
        .expect_err("it is moved to nobody");
    node.says_what_it_should("EVALSHA");
    process.down().await;
    process.up().await;
    process.sync("stripe").await.expect("an answer");
    assert_eq!(process.counts.losses(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_changed_is_asked_for_until_it_is_known() {
    let [seed, node, other] = Fake::start_all().await;
    seed.knows(&[(0, LAST, &node)]);
    let process = in_cluster_of(&seed).await;
    assert_eq!(seed.came("CLUSTER"), 1);
    // Longer than any answer is waited for.
    seed.takes("CLUSTER", Duration::from_millis(260));
    node.says("EVALSHA", &other.redirection("MOVED"));
    process.sync("stripe").await.expect("an answer");
    eventually("it is asked for, in vain", || async {
        seed.came("CLUSTER") == 2
    })
    .await;
    seed.takes("CLUSTER", Duration::ZERO);
    eventually("it is asked for once more", || async {
        seed.came("CLUSTER") == 3
    })
    .await;
    assert_eq!(process.counts.losses(), 0);
}

/// The heartbeat would find out after twenty seconds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_in_vain_makes_it_look_for_the_node_that_has_its_circuit_now() {
    let [seed, dead, next] = Fake::start_all().await;
    seed.knows(&[(0, LAST, &dead)]);
    let redis = Redis::cluster([seed.url()]).lease(Duration::from_secs(60));
    let process = connected(&redis).await;
    process.sync("stripe").await.expect("an answer");
    dead.says("EVALSHA", "-LOADING it has lost everything\r\n");
    process.sync("stripe").await.expect_err("it says no");
    eventually("it looks at once, and too early", || async {
        seed.came("CLUSTER") == 2
    })
    .await;
    seed.knows(&[(0, LAST, &next)]);
    eventually("the next one answers", || async {
        process.sync("stripe").await.is_ok()
    })
    .await;
    assert_eq!(process.beats(), 0, "nothing but commands has told it");
}
