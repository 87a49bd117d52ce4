//! What a server refuses, and what somebody else has put there.

use crate::rules::fleet::Command;
use crate::rules::fleet::Force;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Status;
use crate::store::redis::conformance::place::CIRCUIT;
use crate::store::redis::conformance::place::by;
use crate::store::redis::conformance::server::failures;
use crate::store::redis::conformance::server::journal::journal;
use crate::store::redis::conformance::server::open_for;
use crate::store::redis::conformance::server::started;
use crate::store::redis::twin::Twin;
use crate::store::redis::twin::hash_key;
use crate::store::redis::wire;

#[test]
fn a_hash_of_another_version_is_neither_read_nor_written() {
    let (_server, mut twin) = started();
    let key = hash_key(CIRCUIT);
    twin.exec(&["HSET", &key, "v", "2", "epoch", "seven"]);
    let before = twin.hash(CIRCUIT);
    for request in [
        failures(3),
        by(Command::Sync),
        by(Command::Force(Force::Reset)),
    ] {
        let refused = twin.try_run(CIRCUIT, &request, &open_for(1));
        let text = refused.expect_err("it is not ours").to_string();
        assert!(text.contains("BREAKERBOX"), "{text}");
        assert!(text.contains("SCHEMA"), "{text}");
    }
    assert_eq!(twin.hash(CIRCUIT), before);
    assert_eq!(twin.hear(CIRCUIT), []);
}

#[test]
fn what_is_no_hash_is_left_alone() {
    let (_server, mut twin) = started();
    let key = hash_key(CIRCUIT);
    twin.exec(&["SET", &key, "something else"]);
    let refused = twin.try_run(CIRCUIT, &failures(3), &open_for(1));
    let text = refused.expect_err("it is not ours").to_string();
    assert!(
        text.contains("WRONGTYPE") || text.contains("wrong kind"),
        "{text}"
    );
    assert_eq!(twin.hear(CIRCUIT), []);
}

#[test]
fn without_room_nothing_is_written_and_nothing_is_told() {
    let (_server, mut twin) = started();
    twin.run(CIRCUIT, &failures(2), &open_for(60_000));
    twin.hear(CIRCUIT);
    let before = twin.hash(CIRCUIT);
    let noted = journal(&mut twin);
    twin.exec(&["CONFIG", "SET", "maxmemory", "1"]);
    let refused = twin.try_run(CIRCUIT, &failures(1), &open_for(60_000));
    let text = refused.expect_err("no room").to_string();
    assert!(text.contains("OOM") || text.contains("maxmemory"), "{text}");
    // What writes nothing is answered still.
    assert_eq!(
        twin.run(CIRCUIT, &by(Command::Sync), &open_for(1)).status,
        Status::Done
    );
    assert_eq!(twin.hash(CIRCUIT), before);
    assert_eq!(journal(&mut twin), noted);
    twin.exec(&["CONFIG", "SET", "maxmemory", "0"]);
    assert_eq!(twin.hear(CIRCUIT), []);
    let reply = twin.run(CIRCUIT, &failures(1), &open_for(60_000));
    assert_eq!(reply.status, Status::Opened);
}

#[test]
fn whoever_may_not_write_changes_nothing_and_tells_nothing() {
    let (server, mut twin) = started();
    twin.exec(&[
        "ACL", "SETUSER", "reader", "on", "nopass", "~*", "&*", "+@all", "-hset",
    ]);
    let mut reader = Twin::connect(&server.url());
    reader.exec(&["AUTH", "reader", "any"]);
    let refused = reader.try_run(CIRCUIT, &failures(3), &open_for(60_000));
    let text = refused.expect_err("it may not").to_string();
    // Redis 7.0 has no code for it inside of a script.
    let is_denied = text.contains("can't run this command") || text.contains("NOPERM");
    assert!(is_denied, "{text}");
    assert_eq!(twin.state(CIRCUIT), None);
    assert_eq!(journal(&mut twin), Vec::<String>::new());
    assert_eq!(twin.hear(CIRCUIT), []);
}

#[test]
fn whoever_may_not_publish_moves_the_circuit_and_hears_that_nobody_else_did() {
    let (server, mut twin) = started();
    twin.exec(&[
        "ACL", "SETUSER", "mute", "on", "nopass", "~*", "+@all", "-publish",
    ]);
    let mut mute = Twin::connect(&server.url());
    mute.exec(&["AUTH", "mute", "any"]);
    let text = mute.try_run(CIRCUIT, &failures(3), &open_for(60_000));
    let text = text.expect("it is done all the same");
    assert!(wire::is_unpublished(&text), "{text}");
    let reply = wire::reply(&text).expect("a reply");
    assert_eq!(reply.status, Status::Opened);
    assert_eq!(twin.state(CIRCUIT).expect("a circuit").phase, Phase::Open);
    assert_eq!(journal(&mut twin).len(), 1);
    assert_eq!(twin.hear(CIRCUIT), []);
}
