//! The journal that a server keeps of a circuit.

use crate::rules::fleet::Command;
use crate::rules::fleet::Force;
use crate::rules::fleet::Request;
use crate::rules::fleet::Status;
use crate::store::redis::conformance::place::CIRCUIT;
use crate::store::redis::conformance::place::by;
use crate::store::redis::conformance::server::HOUR;
use crate::store::redis::conformance::server::failures;
use crate::store::redis::conformance::server::left;
use crate::store::redis::conformance::server::open_for;
use crate::store::redis::conformance::server::started;
use crate::store::redis::twin::ORIGIN;
use crate::store::redis::twin::PREFIX;
use crate::store::redis::twin::Twin;
use crate::store::redis::wire;

pub(super) fn journal(twin: &mut Twin) -> Vec<String> {
    let mut order = redis::cmd("LRANGE");
    order.arg(wire::journal_key(PREFIX, CIRCUIT)).arg(0).arg(-1);
    order.query(&mut twin.connection).expect("a list")
}

#[test]
fn the_journal_holds_the_last_hundred_moves_newest_first_and_who_asked_for_them() {
    let (_server, mut twin) = started();
    for instance in 1..=120 {
        let request = Request {
            instance,
            ..by(Command::Force(Force::Reset))
        };
        twin.run(CIRCUIT, &request, &open_for(60_000));
    }
    // What moves nothing is not noted.
    twin.run(CIRCUIT, &failures(1), &open_for(60_000));
    let entries = journal(&mut twin);
    assert_eq!(entries.len(), 100);
    let read = entries.iter().map(|entry| wire::message(entry));
    let read: Option<Vec<_>> = read.collect();
    let instances: Vec<_> = read
        .expect("entries")
        .iter()
        .map(|(circuit, entry)| {
            assert_eq!((&**circuit, &*entry.origin), (CIRCUIT, ORIGIN));
            entry.told.instance
        })
        .collect();
    let expected: Vec<u64> = (21..=120).rev().collect();
    assert_eq!(instances, expected);
    let journal = wire::journal_key(PREFIX, CIRCUIT);
    assert!(left(&mut twin, &journal) > 24 * HOUR);
}

/// A list that somebody has put a text in place of loses its entries, and nothing else.
#[test]
fn a_journal_that_cannot_be_written_harms_nothing() {
    let (_server, mut twin) = started();
    let journal = wire::journal_key(PREFIX, CIRCUIT);
    twin.exec(&["SET", &journal, "something else"]);
    let reply = twin.run(CIRCUIT, &failures(3), &open_for(60_000));
    assert_eq!(reply.status, Status::Opened);
    assert_eq!(twin.hear(CIRCUIT).len(), 1);
}
