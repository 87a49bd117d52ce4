//! Numbers are whole to the last digit.

use std::thread;
use std::time::Duration;

use crate::policy::Policy;
use crate::rules::fleet::Command;
use crate::rules::fleet::Force;
use crate::rules::fleet::Live;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Request;
use crate::rules::fleet::Status;
use crate::rules::fleet::View;
use crate::store::redis::conformance::commands::acquire;
use crate::store::redis::conformance::commands::failures;
use crate::store::redis::conformance::commands::renew;
use crate::store::redis::conformance::keys::BRIEF;
use crate::store::redis::conformance::keys::ask;
use crate::store::redis::conformance::place::CIRCUIT;
use crate::store::redis::conformance::place::by;
use crate::store::redis::twin::ORIGIN;
use crate::store::redis::twin::PREFIX;
use crate::store::redis::twin::Twin;
use crate::store::redis::twin::server;
use crate::store::redis::wire;

/// B160: `tostring` would leave fourteen digits of them.
#[test]
fn numbers_of_fifteen_digits_and_more_come_back_as_they_went() {
    // Near the greatest that is believed.
    const EPOCH: u64 = 253_402_300_799_111;
    let server = server();
    let mut twin = Twin::connect(&server.url());
    let policy = Policy::new();
    let request = Request {
        view: View {
            epoch: EPOCH,
            phase: Phase::Open,
            remaining: 60_000,
            length: 60_000,
            trips: u32::MAX,
            live: Live {
                id: EPOCH + 2,
                text: "threshold=4".to_owned(),
            },
            ..View::default()
        },
        instance: u64::MAX - 1,
        ..by(acquire(u64::MAX))
    };
    let nonce = u64::MAX - 2;
    let sent = wire::send(PREFIX, CIRCUIT, nonce, ORIGIN, &request, &policy);
    let mut order = redis::cmd("EVAL");
    order
        .arg(wire::SCRIPT)
        .arg(2)
        .arg(&sent.keys)
        .arg(&sent.args);
    let text: String = order.query(&mut twin.connection).expect("a reply");
    assert_eq!(wire::nonce(&text), Some(nonce));
    let reply = wire::reply(&text).expect("a reply");
    let snapshot = reply.snapshot;
    let id = EPOCH + 2;
    assert_eq!(
        (snapshot.epoch, snapshot.live, snapshot.trips),
        (EPOCH, id, u32::MAX)
    );
    // To the millisecond, of which there are thirteen digits.
    assert_eq!(snapshot.until, reply.now + 60_000);
    let hash = twin.hash(CIRCUIT);
    assert_eq!(hash["epoch"], EPOCH.to_string());
    assert_eq!(hash["live"], format!("{id}:threshold=4"));
    assert_eq!(hash["until"], snapshot.until.to_string());
    let told = twin.hear(CIRCUIT);
    assert!(
        told.iter().all(|it| it.instance == u64::MAX - 1),
        "{told:?}"
    );
    assert_eq!(told.last().expect("it was put back").snapshot.epoch, EPOCH);
    // One that differs in its last digit is another one.
    let half_open = ask(&mut twin, Command::Force(Force::Reset), &BRIEF);
    assert_eq!(half_open, Status::Done);
    ask(&mut twin, failures(3), &BRIEF);
    thread::sleep(Duration::from_millis(2));
    assert_eq!(ask(&mut twin, acquire(u64::MAX), &BRIEF), Status::Granted);
    assert_eq!(ask(&mut twin, renew(u64::MAX - 1), &BRIEF), Status::Stale);
    assert_eq!(ask(&mut twin, renew(u64::MAX), &BRIEF), Status::Done);
}
