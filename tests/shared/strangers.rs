//! Others use the same server, and hold it up.

use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use breakerbox::Policy;
use breakerbox::State;
use breakerbox_servers::Server;

use super::calm::calmly_panicking;
use super::fleet::Process;
use super::fleet::both_become;
use super::traffic::Traffic;

const POLICY: Policy = Policy::new()
    .threshold(3)
    .cooldown(Duration::from_secs(600));

fn scene(server: &Server) -> [Process; 2] {
    std::array::from_fn(|_| Process::start(POLICY, |it| it.redis(server.url())))
}

/// What one sees opens the circuit of the other.
fn are_together([a, b]: &[Process; 2]) {
    a.breaker.reset();
    both_become(b, a, State::Closed);
    thread::sleep(Duration::from_millis(300));
    a.fail_times(3);
    both_become(a, b, State::Open);
}

/// Sends a command as a stranger does, who waits for the answer as long as it takes.
fn send(server: &Server, words: &[&str]) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).expect("a connection");
    write!(stream, "*{}\r\n", words.len()).expect("it is taken");
    for word in words {
        write!(stream, "${}\r\n{word}\r\n", word.len()).expect("it is taken");
    }
    stream
}

/// B148: a connection of a process is its own; that of nobody else can be given to it.
#[test]
fn strangers_who_wait_or_take_much_hold_nobody_up() {
    calmly_panicking(|| {
        let server = Server::start().expect("a server: run ./tests/run");
        server.order(&["SETRANGE", "much", "20000000", "x"]);
        let processes = scene(&server);
        let [a, b] = &processes;
        let traffic = Traffic::beside(a);
        let _waits = send(&server, &["BLPOP", "nothing", "0"]);
        let _takes = send(&server, &["GET", "much"]);
        are_together(&processes);
        are_together(&processes);
        traffic.went_well();
        assert_eq!((a.losses(), b.losses()), (0, 0));
    });
}

/// B148: who holds up the server itself is waited for no longer than a server that hangs.
#[test]
fn a_slow_script_of_a_stranger_is_an_outage_and_no_more() {
    const SLOW: &str = "while true do end";
    calmly_panicking(|| {
        let server = Server::options().config("lua-time-limit 50").start();
        let server = server.expect("a server: run ./tests/run");
        let processes = scene(&server);
        let [a, b] = &processes;
        let traffic = Traffic::beside(a);
        let _runs = send(&server, &["EVAL", SLOW, "0"]);
        a.loses(1);
        b.loses(1);
        // Each by itself, ...
        a.fail_times(3);
        assert_eq!(a.breaker.state(), State::Open);
        assert_eq!(b.breaker.state(), State::Closed);
        // ... and again together.
        server.order(&["SCRIPT", "KILL"]);
        a.finds_it(2);
        b.finds_it(2);
        b.becomes(State::Open);
        are_together(&processes);
        traffic.went_well();
        assert_eq!((a.losses(), b.losses()), (1, 1));
    });
}

/// M14: what calls have to tell is a few sums, however many they are and however long nobody
/// can be told.
#[test]
fn calls_that_cannot_be_told_pile_nothing_up() {
    const EACH: u64 = 50_000;
    calmly_panicking(|| {
        let server = Server::start().expect("a server: run ./tests/run");
        let policy = POLICY.threshold(Policy::MAX_THRESHOLD);
        let process = Process::start(policy, |it| it.redis(server.url()));
        let traffic = Traffic::beside(&process);
        server.stop();
        let fails = || {
            let waits = |_: &u64| {
                let begin = Instant::now();
                process.fail();
                begin.elapsed() > Duration::from_millis(100)
            };
            (0..EACH).filter(waits).count()
        };
        let waited: usize = thread::scope(|scope| {
            let failing = [scope.spawn(fails), scope.spawn(fails)];
            let waited = failing.into_iter().map(|it| it.join().expect("no panic"));
            waited.sum()
        });
        assert!(waited < 10, "{waited} waited");
        process.loses(1);
        let before = process.breaker.snapshot();
        assert_eq!(before.calls.failure, 2 * EACH);
        assert_eq!(before.calls.rejected, 0);
        server.cont();
        process.finds_it(2);
        process.fail();
        let failures = || server.order(&["HGET", "breakerbox:{shared}", "failures"]);
        process.eventually("it is told", || failures().text() != "");
        let stats = server.command_stats();
        assert!(stats["evalsha"] < 50, "{stats:?}");
        traffic.went_well();
    });
}

/// B158, of all that a process ever writes.
#[test]
fn processes_that_are_cut_off_at_any_time_leave_no_key_without_an_end() {
    calmly_panicking(|| {
        let server = Server::start().expect("a server: run ./tests/run");
        let policy = POLICY
            .cooldown(Duration::from_millis(20))
            .probe_wait(Duration::from_millis(50));
        let processes: [Process; 2] =
            std::array::from_fn(|_| Process::start(policy, |it| it.redis(server.url())));
        // They go by different numbers, which is told, too.
        let updated = processes[1].breaker.update(|it| it.threshold(4));
        updated.expect("the numbers are good");
        let mut random = fastrand::Rng::with_seed(158);
        for _ in 0..200 {
            let process = &processes[random.usize(..2)];
            match random.u8(..10) {
                0 => server.clients_kill(),
                1 => drop(
                    process
                        .breaker
                        .force_open(Duration::from_millis(5), "ana", "a test"),
                ),
                2 => process.breaker.reset(),
                3..6 => {
                    let _ = process.breaker.call_blocking(|| Ok::<_, ()>(()));
                }
                _ => {
                    let _ = process.breaker.call_blocking(|| Err::<(), _>(()));
                }
            }
            thread::sleep(Duration::from_millis(random.u64(..10)));
        }
        let keys = server.order(&["KEYS", "*"]);
        let keys: Vec<_> = keys.elements().iter().map(|it| it.text()).collect();
        assert!(keys.len() >= 2, "{keys:?}");
        for key in keys {
            let left = server.order(&["PTTL", key]).integer();
            assert!(left > Some(0), "{key}: {left:?}");
        }
    });
}
