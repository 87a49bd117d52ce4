//! The clock of the server jumps.

use std::thread;
use std::time::Duration;

use breakerbox::Policy;
use breakerbox::State;
use breakerbox::Window;
use breakerbox_servers::Clock;
use breakerbox_servers::Server;

use super::calm::calmly_panicking;
use super::fleet::Process;
use super::fleet::both_become;
use super::traffic::Traffic;

const HOUR: Duration = Duration::from_secs(3_600);

const POLICY: Policy = Policy::new()
    .threshold(3)
    .probe_wait(Duration::from_secs(10));
const BRIEF: Policy = POLICY.cooldown(Duration::from_millis(250));
const LONG: Policy = POLICY.cooldown(Duration::from_secs(600));

const JUMPS: [Clock; 4] = [
    Clock::Ahead(HOUR),
    Clock::Right,
    Clock::Behind(HOUR),
    Clock::Right,
];

fn scene(policy: Policy) -> (Server, [Process; 2]) {
    let server = Server::with_clock().expect("a server: run ./tests/run");
    let start = |_| Process::start(policy, |it| it.redis(server.url()));
    let processes = std::array::from_fn(start);
    (server, processes)
}

fn open([a, b]: &[Process; 2]) {
    a.eventually("failures open it", || {
        if let Ok(permit) = a.breaker.try_acquire() {
            permit.failure();
        }
        a.breaker.state() == State::Open
    });
    b.becomes(State::Open);
}

/// L21
#[test]
fn a_clock_that_jumps_leaves_an_opening_as_long_as_it_was() {
    calmly_panicking(|| {
        let (server, processes) = scene(LONG);
        open(&processes);
        let traffic = Traffic::beside(&processes[0]);
        for jump in JUMPS {
            server.set_clock(jump);
            // All that is known is asked for anew.
            let before = processes[0].finds();
            server.clients_kill();
            processes[0].finds_it(before + 1);
            for process in &processes {
                let snapshot = process.breaker.snapshot();
                assert_eq!(snapshot.state, State::Open);
                let left = snapshot.retry_after.expect("it is open");
                assert!(
                    left > Duration::from_secs(500),
                    "{left:?} left after {jump:?}"
                );
                assert!(
                    left <= Duration::from_secs(600),
                    "{left:?} left after {jump:?}"
                );
            }
        }
        traffic.went_well();
    });
}

/// L21
#[test]
fn circuits_open_and_recover_whatever_the_clock_does() {
    calmly_panicking(|| {
        let (server, processes) = scene(BRIEF);
        let [a, b] = &processes;
        let traffic = Traffic::beside(a);
        for jump in JUMPS {
            open(&processes);
            server.set_clock(jump);
            // The store may ask for the whole time once more, and no longer.
            b.enter().success();
            both_become(a, b, State::Closed);
        }
        for jump in JUMPS {
            open(&processes);
            let probe = b.enter();
            server.set_clock(jump);
            drop(probe);
            a.enter().success();
            both_become(a, b, State::Closed);
        }
        traffic.went_well();
    });
}

#[test]
fn failures_in_a_window_count_together_after_a_jump() {
    calmly_panicking(|| {
        let policy = LONG.window(Window::Time(Duration::from_secs(60)));
        let (server, processes) = scene(policy);
        let [a, b] = &processes;
        for jump in JUMPS {
            server.set_clock(jump);
            open(&processes);
            b.breaker.reset();
            a.becomes(State::Closed);
            // What it hears of its own reset is one more.
            thread::sleep(Duration::from_millis(300));
        }
    });
}
