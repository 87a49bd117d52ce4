//! What only a server can lose, refuse, or do to two at once.

mod journal;
mod refusals;

use std::io::Write;
use std::net::TcpStream;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use breakerbox_servers::Clock;
use breakerbox_servers::Server;
use breakerbox_servers::installed;

use crate::policy::Policy;
use crate::policy::Window;
use crate::rules::fleet::Command;
use crate::rules::fleet::CoverKind;
use crate::rules::fleet::Force;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Request;
use crate::rules::fleet::Status;
use crate::store::redis::conformance::commands;
use crate::store::redis::conformance::place::CIRCUIT;
use crate::store::redis::conformance::place::by;
use crate::store::redis::conformance::place::view;
use crate::store::redis::twin::ORIGIN;
use crate::store::redis::twin::PREFIX;
use crate::store::redis::twin::Twin;
use crate::store::redis::twin::hash_key;
use crate::store::redis::twin::server;
use crate::store::redis::wire;

const HOUR: u64 = 3_600_000;

fn started() -> (Server, Twin) {
    let server = server();
    let twin = Twin::connect(&server.url());
    (server, twin)
}

fn failures(failures: u32) -> Request {
    by(commands::failures(failures))
}

fn open_for(millis: u64) -> Policy {
    Policy::new()
        .threshold(3)
        .cooldown(Duration::from_millis(millis))
        .max_cooldown(Duration::from_secs(86_400))
}

/// What is left of the time of a key.
fn left(twin: &mut Twin, key: &str) -> u64 {
    let mut order = redis::cmd("PTTL");
    let left: i64 = order.arg(key).query(&mut twin.connection).expect("a time");
    u64::try_from(left).expect("a key with an end")
}

/// L14
#[test]
fn of_processes_that_trip_at_once_one_does() {
    let (server, mut twin) = started();
    twin.run(
        CIRCUIT,
        &by(Command::Force(Force::Reset)),
        &open_for(60_000),
    );
    twin.hear(CIRCUIT);
    let known = twin.state(CIRCUIT).expect("a circuit").snapshot();
    let request = Request {
        view: view(&known),
        ..failures(3)
    };
    let statuses = at_once(&server, 8, |twin, _| {
        twin.run(CIRCUIT, &request, &open_for(60_000)).status
    });
    let opened = statuses.iter().filter(|it| **it == Status::Opened);
    assert_eq!(opened.count(), 1);
    assert_eq!(twin.hear(CIRCUIT).len(), 1);
    assert_eq!(twin.state(CIRCUIT).expect("a circuit").trips, 1);
}

/// L15
#[test]
fn of_fifty_connections_that_want_three_places_three_get_one() {
    let (server, mut twin) = started();
    let policy = open_for(1).probes(3);
    twin.run(CIRCUIT, &failures(3), &policy);
    thread::sleep(Duration::from_millis(2));
    let statuses = at_once(&server, 50, |twin, token| {
        let ttl = 30_000;
        let request = by(Command::Acquire { token, ttl });
        twin.run(CIRCUIT, &request, &policy).status
    });
    let granted = statuses.iter().filter(|it| **it == Status::Granted);
    assert_eq!(granted.count(), 3);
    let full = statuses.iter().filter(|it| **it == Status::Full);
    assert_eq!(full.count(), 47);
}

fn at_once<T: Send>(
    server: &Server,
    many: u64,
    act: impl Fn(&mut Twin, u64) -> T + Sync,
) -> Vec<T> {
    let ready = Barrier::new(usize::try_from(many).expect("a few"));
    thread::scope(|scope| {
        let threads: Vec<_> = (0..many)
            .map(|number| {
                let (ready, act) = (&ready, &act);
                scope.spawn(move || {
                    let mut twin = Twin::connect(&server.url());
                    ready.wait();
                    act(&mut twin, number)
                })
            })
            .collect();
        let ended = threads.into_iter().map(|it| it.join().expect("no panic"));
        ended.collect()
    })
}

/// L16
#[test]
fn every_write_keeps_the_hash_an_hour_longer_than_what_it_holds() {
    let (_server, mut twin) = started();
    let key = hash_key(CIRCUIT);
    let around = |expected: u64| expected - 10_000..=expected;
    twin.run(CIRCUIT, &failures(1), &open_for(3 * HOUR));
    assert!(around(HOUR).contains(&left(&mut twin, &key)));
    twin.exec(&["PERSIST", &key]);
    twin.run(CIRCUIT, &failures(1), &open_for(3 * HOUR));
    assert!(around(HOUR).contains(&left(&mut twin, &key)));
    twin.run(CIRCUIT, &failures(1), &open_for(3 * HOUR));
    assert!(around(4 * HOUR).contains(&left(&mut twin, &key)));
    // What is left beneath an override is left after it.
    let cover = Force::Cover {
        kind: CoverKind::ForcedOpen,
        ttl: 5 * HOUR,
        actor: "ann".to_owned(),
        why: String::new(),
    };
    twin.run(CIRCUIT, &by(Command::Force(cover)), &open_for(3 * HOUR));
    assert!(around(9 * HOUR).contains(&left(&mut twin, &key)));
}

/// L16. A window that looks back on a day is not forgotten after an hour.
#[test]
fn a_hash_outlives_the_window_that_it_holds() {
    let (_server, mut twin) = started();
    let day = Duration::from_millis(24 * HOUR);
    let policy = Policy::new().window(Window::Time(day));
    twin.run(CIRCUIT, &failures(1), &policy);
    assert!(left(&mut twin, &hash_key(CIRCUIT)) > 24 * HOUR);
}

/// L17
#[test]
fn fields_of_a_version_to_come_are_left_alone() {
    let (_server, mut twin) = started();
    let key = hash_key(CIRCUIT);
    twin.exec(&["HSET", &key, "mood", "good"]);
    for _ in 0..3 {
        twin.run(CIRCUIT, &failures(1), &open_for(60_000));
    }
    let hash = twin.hash(CIRCUIT);
    assert_eq!(hash.get("mood").map(String::as_str), Some("good"));
    assert_eq!(hash.get("phase").map(String::as_str), Some("open"));
}

/// L18
#[test]
fn a_script_that_the_server_has_forgotten_is_sent_again() {
    let (_server, mut twin) = started();
    for _ in 0..2 {
        twin.run(CIRCUIT, &failures(1), &open_for(60_000));
        twin.exec(&["SCRIPT", "FLUSH"]);
    }
    let reply = twin.run(CIRCUIT, &failures(1), &open_for(60_000));
    assert_eq!(reply.status, Status::Opened);
}

/// The rules are told what the script says, so only this tells whether that is right.
#[test]
fn the_time_that_the_script_reads_is_the_server_s_in_milliseconds() {
    let (_server, mut twin) = started();
    let time = |twin: &mut Twin| {
        let (seconds, micros): (u64, u64) = redis::cmd("TIME")
            .query(&mut twin.connection)
            .expect("the time");
        seconds * 1_000 + micros / 1_000
    };
    for _ in 0..20 {
        let before = time(&mut twin);
        let now = twin.run(CIRCUIT, &by(Command::Sync), &open_for(1)).now;
        let after = time(&mut twin);
        assert!((before..=after).contains(&now), "{before} {now} {after}");
        // Not always in one part of a second.
        thread::sleep(Duration::from_millis(17));
    }
}

/// L21. The clock of the server itself, as far as a process can have one of its own.
#[test]
fn on_a_server_whose_clock_jumps_by_an_hour_an_opening_ends() {
    let Some(server) = installed(Server::with_clock()) else {
        return;
    };
    let mut twin = Twin::connect(&server.url());
    let hour = Duration::from_millis(HOUR);
    let acquire = by(Command::Acquire {
        token: 1,
        ttl: 30_000,
    });
    let mut epoch = 0;
    // Back, it is as long again; ahead, it is over.
    for (clock, length) in [(Clock::Behind(hour), 150), (Clock::Right, 10_000)] {
        let policy = open_for(length);
        assert_eq!(
            twin.run(CIRCUIT, &failures(3), &policy).status,
            Status::Opened
        );
        server.set_clock(clock);
        let mut reply = twin.run(CIRCUIT, &acquire, &policy);
        if let Status::Wait(left) = reply.status {
            assert_eq!(clock, Clock::Behind(hour));
            assert!(left <= length, "{left}");
            thread::sleep(Duration::from_millis(left));
            reply = twin.run(CIRCUIT, &acquire, &policy);
        }
        assert_eq!(reply.status, Status::Granted, "{clock:?}");
        assert!(reply.snapshot.epoch > epoch, "{clock:?}");
        let reset = by(Command::Force(Force::Reset));
        epoch = twin.run(CIRCUIT, &reset, &policy).snapshot.epoch;
    }
}

/// L23. A step is one script: it is done or it is not, whatever becomes of who asked for it.
#[test]
fn a_caller_that_is_gone_in_the_middle_leaves_a_whole_state() {
    let (server, mut twin) = started();
    twin.run(CIRCUIT, &failures(1), &open_for(60_000));
    let before = twin.state(CIRCUIT);
    let sent = wire::send(PREFIX, CIRCUIT, 7, ORIGIN, &failures(2), &open_for(60_000));
    let mut order = redis::cmd("EVAL");
    order
        .arg(wire::SCRIPT)
        .arg(2)
        .arg(&sent.keys)
        .arg(&sent.args);
    let bytes = order.get_packed_command();
    for end in [1, bytes.len() / 2, bytes.len() - 1, bytes.len()] {
        let mut stream = TcpStream::connect(server.address()).expect("a connection");
        stream.write_all(&bytes[..end]).expect("it is taken");
        drop(stream);
        if end < bytes.len() {
            thread::sleep(Duration::from_millis(20));
            assert_eq!(twin.state(CIRCUIT), before, "{end}");
        }
    }
    let limit = Instant::now() + Duration::from_secs(10);
    while twin.state(CIRCUIT) == before && Instant::now() < limit {
        thread::sleep(Duration::from_millis(1));
    }
    let state = twin.state(CIRCUIT).expect("a circuit");
    assert_eq!((state.phase, state.trips), (Phase::Open, 1));
    assert_eq!(twin.hear(CIRCUIT).len(), 2);
}
