//! A process whose clock is an hour off.

use std::env;
use std::io;
use std::io::BufRead;
use std::io::BufReader;
use std::io::Read;
use std::io::Write;
use std::process::Child;
use std::process::ChildStdin;
use std::process::ChildStdout;
use std::thread;
use std::time::Duration;
use std::time::SystemTime;

use breakerbox::Policy;
use breakerbox::State;
use breakerbox_servers::Clock;
use breakerbox_servers::Server;
use breakerbox_servers::installed;

use super::again::again;
use super::calm::calmly_panicking;
use super::fleet::Process;

const HOUR: Duration = Duration::from_secs(3_600);

/// Longer than a test takes, and much shorter than an hour.
const ROUGHLY: Duration = Duration::from_secs(600);

const POLICY: Policy = Policy::new()
    .threshold(3)
    .cooldown(Duration::from_secs(2))
    .probe_wait(Duration::from_secs(10));

/// Where the process finds the server whose clock is wrong.
const URL: &str = "BREAKERBOX_TESTS_AN_HOUR_OFF_AT";

/// What it says begins with this.
const SAYS: &str = "it says ";

/// A process of its own, which does as it is told.
struct Other {
    child: Child,
    orders: ChildStdin,
    out: BufReader<ChildStdout>,
}

impl Other {
    fn start(test: &str, url: &str, clock: Clock, server: &Server) -> Option<Self> {
        let file = server.folder().join("clock of a client");
        let environment = installed(clock.of_process(&file))?;
        let started = again(test, (URL, url)).envs(environment).spawn();
        let mut child = started.expect("this binary runs again");
        Some(Self {
            orders: child.stdin.take().expect("it is piped"),
            out: BufReader::new(child.stdout.take().expect("it is piped")),
            child,
        })
    }

    /// Tells it to do something, and hears what came of it.
    fn does(&mut self, order: &str) -> String {
        writeln!(self.orders, "{order}").expect("it runs");
        let lines = self.out.by_ref().lines();
        let said = lines
            .map(|line| line.expect("it writes text"))
            .find_map(|line| Some(line.split_once(SAYS)?.1.to_owned()));
        said.expect("it answers")
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The other side of it: one order a line.
fn obey(url: &str) {
    let process = Process::start(POLICY, |it| it.redis(url));
    for line in io::stdin().lines() {
        let said = match &*line.expect("text") {
            "clock" => {
                let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
                now.expect("a time after 1970").as_secs().to_string()
            }
            "fail" => {
                process.fail();
                String::new()
            }
            "probe" => {
                process.enter().success();
                String::new()
            }
            "force" => {
                let ttl = Duration::from_secs(2);
                let forced = process.breaker.force_open(ttl, "ana", "a test");
                forced.expect("it has all it needs");
                String::new()
            }
            "closes" => {
                process.becomes(State::Closed);
                String::new()
            }
            "opens" => {
                process.becomes(State::Open);
                process.is_as_all_have_decided();
                let left = process.breaker.snapshot().retry_after;
                left.expect("it is open").as_millis().to_string()
            }
            "is forced" => {
                process.becomes(State::ForcedOpen);
                String::new()
            }
            "losses" => process.losses().to_string(),
            other => panic!("{other} is no order"),
        };
        println!("{SAYS}{said}");
    }
}

/// L21, B065: only the clock of the server counts, and lengths of time.
#[test]
fn a_process_whose_clock_is_an_hour_off_shares_its_circuits_like_any_other() {
    const THIS: &str =
        "shared::hours::a_process_whose_clock_is_an_hour_off_shares_its_circuits_like_any_other";
    if let Ok(url) = env::var(URL) {
        return obey(&url);
    }
    // Both at a time, as they do little but wait.
    thread::scope(|scope| {
        for clock in [Clock::Ahead(HOUR), Clock::Behind(HOUR)] {
            scope.spawn(move || calmly_panicking(|| shares_with_one_that_is_off(THIS, clock)));
        }
    });
}

fn shares_with_one_that_is_off(test: &str, clock: Clock) {
    let server = Server::start().expect("a server: run ./tests/run");
    let process = Process::start(POLICY, |it| it.redis(server.url()));
    let Some(mut other) = Other::start(test, &server.url(), clock, &server) else {
        return;
    };
    let its: u64 = other.does("clock").parse().expect("seconds");
    let its = SystemTime::UNIX_EPOCH + Duration::from_secs(its);
    let off = match clock {
        Clock::Ahead(_) => its.duration_since(SystemTime::now()),
        _ => SystemTime::now().duration_since(its),
    };
    let off = off.expect("it is off that way");
    assert!(off + ROUGHLY > HOUR && off < HOUR + ROUGHLY, "{off:?}");
    share(&process, &mut other);
}

fn share(process: &Process, other: &mut Other) {
    // What this one sees opens it there, for as long, ...
    process.fail_times(3);
    process.becomes(State::Open);
    let left: u128 = other.does("opens").parse().expect("milliseconds");
    assert!(left <= 2_000, "{left} ms are left there");
    // ... and that one probes when it is over, and not before.
    other.does("probe");
    let opened = process.moves(State::Closed, State::Open);
    process.becomes(State::Closed);
    assert_eq!(opened, 1);
    other.does("closes");
    // The other way round.
    for _ in 0..3 {
        other.does("fail");
    }
    process.becomes(State::Open);
    process.is_as_all_have_decided();
    let left = process.breaker.snapshot().retry_after.expect("it is open");
    assert!(left <= Duration::from_secs(2), "{left:?} are left here");
    process.enter().success();
    process.becomes(State::Closed);
    other.does("closes");
    // An override lasts as long as it was meant to, for both.
    other.does("force");
    process.becomes(State::ForcedOpen);
    let forced = process.breaker.snapshot().forced.expect("it is forced");
    assert!(forced.left <= Duration::from_secs(2), "{forced:?}");
    process.becomes(State::Closed);
    other.does("closes");
    assert_eq!((process.losses(), &*other.does("losses")), (0, "0"));
}
