//! What lies in a server of a circuit: every key has an end.

mod digits;
mod moment;

use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use fastrand::Rng;

use crate::policy::Policy;
use crate::policy::Window;
use crate::rules::fleet::Command;
use crate::rules::fleet::CoverKind;
use crate::rules::fleet::Delta;
use crate::rules::fleet::Flush;
use crate::rules::fleet::Force;
use crate::rules::fleet::Request;
use crate::rules::fleet::Status;
use crate::store::Note;
use crate::store::redis::conformance::commands::acquire;
use crate::store::redis::conformance::commands::end;
use crate::store::redis::conformance::commands::failures;
use crate::store::redis::conformance::commands::renew;
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
        renew(1),
        end(1, Verdict::Ignore),
        acquire(2),
        end(2, Verdict::Failure),
        acquire(3),
        acquire(4),
        end(3, Verdict::Success),
        end(4, Verdict::Success),
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
