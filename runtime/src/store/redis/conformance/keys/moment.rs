//! Whoever looks sees one moment.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use breakerbox_servers::Server;

use crate::policy::Policy;
use crate::rules::fleet::Command;
use crate::rules::fleet::Force;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Request;
use crate::rules::fleet::Snapshot;
use crate::store::redis::conformance::commands::failures;
use crate::store::redis::conformance::place::CIRCUIT;
use crate::store::redis::conformance::place::by;
use crate::store::redis::twin::Twin;
use crate::store::redis::twin::server;

/// B183: what a command goes by and what it answers is read in one piece.
#[test]
fn whoever_asks_while_others_move_it_sees_one_moment() {
    let server = server();
    let moves = AtomicBool::new(true);
    let seen = thread::scope(|scope| {
        scope.spawn(|| keep_moving(&server, &moves));
        let looks = |_| scope.spawn(|| look(&server));
        let looking: Vec<_> = (0..2).map(looks).collect();
        let seen = looking.into_iter().map(|it| it.join().expect("no panic"));
        let seen: Vec<_> = seen.collect();
        moves.store(false, Relaxed);
        seen
    });
    let mut by_epoch = HashMap::new();
    for snapshot in seen.into_iter().flatten() {
        let is_open = snapshot.phase == Phase::Open;
        assert_eq!(is_open, snapshot.until > 0, "{snapshot:?}");
        assert_eq!(is_open, snapshot.length > 0, "{snapshot:?}");
        let other = by_epoch
            .entry(snapshot.epoch)
            .or_insert_with(|| snapshot.clone());
        assert_eq!(*other, snapshot);
    }
    assert!(by_epoch.len() > 20, "it moved {} times", by_epoch.len());
    let stats = server.command_stats();
    // Each has looked once, and nothing is read beside that.
    assert_eq!(stats["hmget"], stats["evalsha"]);
    for other in ["hget", "get", "exists"] {
        assert_eq!(stats.get(other), None, "{other}");
    }
}

fn keep_moving(server: &Server, moves: &AtomicBool) {
    let policy = Policy::new().threshold(3);
    let mut twin = Twin::connect(&server.url());
    while moves.load(Relaxed) {
        twin.run(CIRCUIT, &by(failures(3)), &policy);
        twin.run(CIRCUIT, &by(Command::Force(Force::Reset)), &policy);
    }
}

fn look(server: &Server) -> Vec<Snapshot> {
    let mut twin = Twin::connect(&server.url());
    let look = |_| twin.run(CIRCUIT, &Request::sync(), &Policy::new()).snapshot;
    (0..1_000).map(look).collect()
}
