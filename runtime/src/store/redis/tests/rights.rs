//! The least rights of a user, as the guide writes them.

use breakerbox_servers::Cluster;
use breakerbox_servers::Server;

use super::connected;
use crate::store::Note;
use crate::store::Store;
use crate::store::redis::Redis;

const GUIDE: &str = include_str!("../../../sharing_circuits.md");

/// The words of the line of the guide that begins so.
fn line(begins: &str) -> Vec<&'static str> {
    let found = GUIDE.lines().find(|line| line.starts_with(begins));
    found.expect("a line of the guide").split(' ').collect()
}

/// What the server has refused since somebody looked last.
fn refused(server: &Server) -> Vec<String> {
    let log = server.order(&["ACL", "LOG"]);
    let objects = log.elements().iter().filter_map(|entry| {
        let fields = entry.elements();
        let at = fields.iter().position(|field| field.text() == "object")?;
        Some(fields[at + 1].text().to_owned())
    });
    let objects = objects.collect();
    server.order(&["ACL", "LOG", "RESET"]);
    objects
}

/// Does all that a process ever does, some of it in vain where a right is missing.
async fn use_all(server: &Server) {
    server.flushall();
    server.script_flush();
    let process = connected(&Redis::new(server.url_of("app", "secret"))).await;
    let _ = process.trip("stripe").await;
    let _ = process.store.journal("stripe", 10).await;
    let note = Note {
        former: Some("threshold=4".to_owned()),
        current: Some("threshold=5".to_owned()),
    };
    let _ = process.store.compare("stripe", &note).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rights_of_the_guide_are_enough_and_none_is_too_much() {
    let server = Server::start().expect("a server");
    let line = line("ACL SETUSER app");
    server.order(&line);
    use_all(&server).await;
    assert_eq!(refused(&server), [""; 0]);
    for right in line.iter().filter(|word| word.starts_with('+')) {
        let without: Vec<_> = line.iter().copied().filter(|it| it != right).collect();
        server.order(&["ACL", "DELUSER", "app"]);
        server.order(&without);
        use_all(&server).await;
        let refused = refused(&server);
        assert!(
            refused.contains(&right[1..].to_owned()),
            "{right}: {refused:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_a_cluster_the_two_more_of_the_guide_are_enough() {
    let cluster = Cluster::start().expect("a cluster");
    for node in cluster.nodes() {
        node.order(&line("ACL SETUSER app"));
        node.order(&line("ACL SETUSER app +cluster"));
    }
    let redis = Redis::cluster(cluster.urls()).login("app", "secret");
    let process = connected(&redis).await;
    let circuits = (0..20).map(|number| format!("circuit-{number}"));
    for circuit in circuits {
        process.trip(&circuit).await.expect("an answer");
        process
            .store
            .journal(&circuit, 10)
            .await
            .expect("a journal");
    }
    let key = "breakerbox:{circuit-0}";
    let to = (cluster.owner(key) + 1) % Cluster::MASTERS;
    let on_its_way = cluster.begin_slot_move(key, to);
    on_its_way.move_keys();
    assert!(process.is_open("circuit-0").await);
    on_its_way.finish();
    assert!(process.is_open("circuit-0").await);
    for node in cluster.nodes() {
        assert_eq!(refused(node), [""; 0]);
    }
}
