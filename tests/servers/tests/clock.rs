//! A server whose clock is wrong.

use std::time::Duration;
use std::time::SystemTime;
use std::time::UNIX_EPOCH;

use breakerbox_servers::Clock;
use breakerbox_servers::Server;
use breakerbox_servers::Value;
use breakerbox_servers::installed;

const HOUR: Duration = Duration::from_secs(3600);

/// More than a test takes, and much less than an hour.
const ROUGHLY: i64 = 600;

#[test]
fn the_clock_jumps_by_an_hour_while_the_server_runs() {
    let Some(server) = installed(Server::with_clock()) else {
        return;
    };
    let process = server.process_id();
    assert!(ahead(&server).abs() < ROUGHLY);
    server.set_clock(Clock::Ahead(HOUR));
    assert!((ahead(&server) - 3600).abs() < ROUGHLY);
    server.set_clock(Clock::Behind(HOUR));
    assert!((ahead(&server) + 3600).abs() < ROUGHLY);
    server.set_clock(Clock::Right);
    assert!(ahead(&server).abs() < ROUGHLY);
    assert_eq!(server.process_id(), process);
}

#[test]
fn a_key_that_lives_for_a_minute_is_gone_after_a_jump() {
    let Some(server) = installed(Server::with_clock()) else {
        return;
    };
    server.order(&["SET", "a", "1", "EX", "60"]);
    server.set_clock(Clock::Ahead(HOUR));
    assert_eq!(server.command(&["GET", "a"]), Value::Nil);
}

#[test]
fn a_script_sees_the_same_clock_and_a_restart_keeps_it() {
    let Some(server) = installed(Server::with_clock()) else {
        return;
    };
    server.set_clock(Clock::Ahead(HOUR));
    let script = ["EVAL", "return redis.call('TIME')", "0"];
    let told = seconds(&server.order(&script));
    assert!((told - now() - 3600).abs() < ROUGHLY);
    server.restart();
    assert!((ahead(&server) - 3600).abs() < ROUGHLY);
}

#[test]
#[should_panic = "it was started without a clock"]
fn a_server_without_a_clock_of_its_own_says_so() {
    match installed(Server::start()) {
        Some(server) => server.set_clock(Clock::Right),
        None => panic!("it was started without a clock, or not at all"),
    }
}

fn ahead(server: &Server) -> i64 {
    seconds(&server.order(&["TIME"])) - now()
}

fn seconds(time: &Value) -> i64 {
    time.elements()[0].integer().expect("seconds")
}

fn now() -> i64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("a time after 1970");
    now.as_secs().try_into().expect("not that many")
}
