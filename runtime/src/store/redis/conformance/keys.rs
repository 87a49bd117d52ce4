//! What lies in a server of a circuit: every key has an end, numbers are whole to the last
//! digit, and whoever looks sees one moment.

use std::collections::HashMap;
use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use breakerbox_servers::Server;
use fastrand::Rng;

use crate::policy::Policy;
use crate::policy::Window;
use crate::rules::Outcome;
use crate::rules::fleet::Command;
use crate::rules::fleet::CoverKind;
use crate::rules::fleet::Delta;
use crate::rules::fleet::Flush;
use crate::rules::fleet::Force;
use crate::rules::fleet::Live;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Request;
use crate::rules::fleet::Status;
use crate::rules::fleet::View;
use crate::store::Note;
use crate::store::redis::conformance::place::CIRCUIT;
use crate::store::redis::conformance::place::by;
use crate::store::redis::conformance::place::view;
use crate::store::redis::twin::ORIGIN;
use crate::store::redis::twin::PREFIX;
use crate::store::redis::twin::Twin;
use crate::store::redis::twin::hash_key;
use crate::store::redis::twin::server;
use crate::store::redis::wire;
use crate::verdict::Verdict;

/// Each opening is over at once.
const BRIEF: Policy = Policy::new()
    .threshold(3)
    .cooldown(Duration::from_millis(1))
    .probes(2)
    .close_after(2);

fn failures(failures: u32) -> Command {
    Command::Flush(Flush {
        failures,
        ..Flush::default()
    })
}

fn ended(token: u64, verdict: Verdict) -> Command {
    Command::End {
        token: Some(token),
        outcome: Outcome {
            verdict,
            is_slow: false,
        },
    }
}

fn acquire(token: u64) -> Command {
    Command::Acquire { token, ttl: 30_000 }
}

/// Everything that can be asked of a circuit, in an order in which each changes something.
fn life() -> Vec<(Command, Policy)> {
    let window = Policy::new().window(Window::Time(Duration::from_secs(60)));
    let delta = Delta {
        age: 0,
        calls: 2,
        failures: 1,
        slow: 0,
    };
    let in_window = Command::Flush(Flush {
        deltas: vec![delta],
        ..Flush::default()
    });
    let success = Command::Flush(Flush {
        success: true,
        ..Flush::default()
    });
    let cover = Command::Force(Force::Cover {
        kind: CoverKind::ForcedOpen,
        ttl: 60_000,
        actor: "ann".to_owned(),
        why: "maintenance".to_owned(),
    });
    let renumber = Command::Force(Force::Renumber {
        text: "threshold=4".to_owned(),
        after: 0,
    });
    let all = [
        in_window.clone(),
        failures(1),
        success,
        failures(3),
        acquire(1),
        Command::Renew {
            token: 1,
            ttl: 30_000,
        },
        ended(1, Verdict::Ignore),
        acquire(2),
        ended(2, Verdict::Failure),
        acquire(3),
        acquire(4),
        ended(3, Verdict::Success),
        ended(4, Verdict::Success),
        cover.clone(),
        Command::Force(Force::Clear),
        cover,
        Command::Force(Force::Reset),
        renumber,
        // Whoever asks for what somebody has changed keeps it.
        Command::Sync,
    ];
    let policy = |command: &Command| match *command == in_window {
        true => window,
        false => BRIEF,
    };
    all.into_iter()
        .map(|command| (command.clone(), policy(&command)))
        .collect()
}

/// By somebody who knows all that is to be known.
fn ask(twin: &mut Twin, command: Command, policy: &Policy) -> Status {
    let known = twin.state(CIRCUIT).map(|it| it.snapshot());
    let request = Request {
        view: known.map(|it| view(&it)).unwrap_or_default(),
        ..by(command)
    };
    twin.run(CIRCUIT, &request, policy).status
}

fn keys(twin: &mut Twin) -> Vec<String> {
    let mut order = redis::cmd("KEYS");
    order.arg("*").query(&mut twin.connection).expect("keys")
}

#[track_caller]
fn each_has_an_end(twin: &mut Twin, after: &str) {
    for key in keys(twin) {
        let mut order = redis::cmd("PTTL");
        let left: i64 = order.arg(&key).query(&mut twin.connection).expect("a time");
        // One that has just ended is none.
        assert_ne!(left, -1, "{key} lasts for ever after {after}");
    }
}

fn compare(twin: &mut Twin) {
    let note = Note {
        former: Some("threshold=4".to_owned()),
        current: Some("threshold=5".to_owned()),
    };
    let mut order = redis::cmd("EVAL");
    let sent = wire::compare(PREFIX, CIRCUIT, &note);
    order.arg(wire::NUMBERS).arg(1).arg(sent.as_slice());
    order.exec(&mut twin.connection).expect("numbers");
}

/// B163
#[test]
fn whatever_is_written_has_an_end_also_where_that_was_lost() {
    let server = server();
    let mut twin = Twin::connect(&server.url());
    for (command, policy) in life() {
        let after = format!("{command:?}");
        for key in keys(&mut twin) {
            twin.exec(&["PERSIST", &key]);
        }
        let journal = wire::journal_key(PREFIX, CIRCUIT);
        let noted = Request::sync();
        let epoch = twin.run(CIRCUIT, &noted, &policy).snapshot.epoch;
        // The opening before is over.
        thread::sleep(Duration::from_millis(2));
        let status = ask(&mut twin, command, &policy);
        assert!(
            !matches!(status, Status::Stale | Status::Wait(_)),
            "{after}"
        );
        let moved = twin.run(CIRCUIT, &noted, &policy).snapshot.epoch != epoch;
        if !moved {
            // Only a move is noted in the journal.
            twin.exec(&["DEL", &journal]);
        }
        each_has_an_end(&mut twin, &after);
    }
    compare(&mut twin);
    for key in keys(&mut twin) {
        twin.exec(&["PERSIST", &key]);
    }
    compare(&mut twin);
    twin.exec(&[
        "DEL",
        &hash_key(CIRCUIT),
        &wire::journal_key(PREFIX, CIRCUIT),
    ]);
    assert_eq!(keys(&mut twin).len(), 1);
    each_has_an_end(&mut twin, "numbers");
}

/// B163: it was there a moment ago.
#[test]
fn a_key_that_has_just_expired_is_made_anew_with_an_end() {
    let server = server();
    let mut twin = Twin::connect(&server.url());
    let mut random = Rng::with_seed(163);
    let life = life();
    for _ in 0..1_000 {
        for key in keys(&mut twin) {
            if random.bool() {
                twin.exec(&["PEXPIRE", &key, if random.bool() { "1" } else { "0" }]);
            }
        }
        let (command, policy) = random.choice(&life).expect("some").clone();
        let after = format!("{command:?}");
        // Of what has gone it may say that it is over.
        ask(&mut twin, command, &policy);
        compare(&mut twin);
        each_has_an_end(&mut twin, &after);
    }
}

/// B158: whoever asks is gone in the middle, a thousand times.
#[test]
fn callers_that_are_gone_at_any_time_leave_no_key_without_an_end() {
    let server = server();
    let mut twin = Twin::connect(&server.url());
    // The script is known.
    ask(&mut twin, Command::Sync, &BRIEF);
    let mut random = Rng::with_seed(158);
    let life = life();
    for round in 0..1_000 {
        let (command, policy) = random.choice(&life).expect("some").clone();
        let request = by(command);
        let sent = wire::send(PREFIX, CIRCUIT, 7, ORIGIN, &request, &policy);
        let mut order = redis::cmd("EVALSHA");
        order
            .arg(wire::sha())
            .arg(2)
            .arg(&sent.keys)
            .arg(&sent.args);
        let bytes = order.get_packed_command();
        let end = match random.bool() {
            true => bytes.len(),
            false => random.usize(..bytes.len()),
        };
        let mut stream = TcpStream::connect(server.address()).expect("a connection");
        stream.write_all(&bytes[..end]).expect("it is taken");
        match round % 20 {
            // Those that are read by then have been done.
            10 => twin.exec(&["PING"]),
            19 => twin.exec(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]),
            _ => {}
        }
        drop(stream);
    }
    // What came before this has been read.
    let ran = || server.command_stats().get("evalsha").copied();
    let mut before = None;
    while ran() != before {
        before = ran();
        thread::sleep(Duration::from_millis(50));
    }
    assert!(before > Some(100), "{before:?} were done");
    let mut left = keys(&mut twin);
    left.sort();
    assert_eq!(
        left,
        [hash_key(CIRCUIT), wire::journal_key(PREFIX, CIRCUIT)]
    );
    each_has_an_end(&mut twin, "a thousand callers");
    assert!(twin.state(CIRCUIT).is_some(), "a whole state");
}

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
    let renew = |token| Command::Renew { token, ttl: 30_000 };
    assert_eq!(ask(&mut twin, renew(u64::MAX - 1), &BRIEF), Status::Stale);
    assert_eq!(ask(&mut twin, renew(u64::MAX), &BRIEF), Status::Done);
}

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

fn look(server: &Server) -> Vec<crate::rules::fleet::Snapshot> {
    let mut twin = Twin::connect(&server.url());
    let look = |_| twin.run(CIRCUIT, &Request::sync(), &Policy::new()).snapshot;
    (0..1_000).map(look).collect()
}
