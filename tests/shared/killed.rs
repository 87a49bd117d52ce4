//! A process is killed while it probes.

use std::env;
use std::io;
use std::io::BufRead;
use std::io::BufReader;
use std::io::Read;
use std::time::Duration;

use breakerbox::Policy;
use breakerbox::State;
use breakerbox_servers::Server;

use super::again::again;
use super::calm::calmly_panicking;
use super::fleet::Process;

const POLICY: Policy = Policy::new()
    .threshold(1)
    .cooldown(Duration::from_millis(100))
    .probe_wait(Duration::from_secs(10));

/// Where the process that is to be killed finds the server.
const URL: &str = "BREAKERBOX_TESTS_PROBE_AT";
const PROBES: &str = "it probes";

/// M6, B171
#[test]
fn the_place_of_a_probe_whose_process_was_killed_is_given_to_another() {
    const THIS: &str =
        "shared::killed::the_place_of_a_probe_whose_process_was_killed_is_given_to_another";
    calmly_panicking(|| {
        if let Ok(url) = env::var(URL) {
            return probe(&url);
        }
        let server = Server::start().expect("a server: run ./tests/run");
        let process = Process::start(POLICY, |it| it.redis(server.url()));
        process.fail();
        process.cools_down();
        let started = again(THIS, (URL, &server.url())).spawn();
        let mut other = started.expect("this binary runs again");
        let out = other.stdout.take().expect("it is piped");
        let mut lines = BufReader::new(out).lines();
        let probes = lines.any(|line| line.is_ok_and(|line| line.contains(PROBES)));
        let is_busy = process.breaker.call_blocking(|| Ok::<_, ()>(())).is_err();
        other.kill().expect("it runs");
        other.wait().expect("it was killed");
        assert!(probes, "it never probed");
        assert!(is_busy, "two probed at a time");
        // Nobody has to do anything: its lease is over some time.
        process.enter().success();
        process.becomes(State::Closed);
    });
}

/// Probes until it is killed, or whoever started it is gone.
fn probe(url: &str) {
    let process = Process::start(POLICY, |it| it.redis(url));
    process.cools_down();
    let permit = process.enter();
    println!("{PROBES}");
    let _ = io::stdin().read(&mut [0]);
    drop(permit);
}
