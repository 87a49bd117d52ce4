//! Many processes, and a lone one.

use std::thread;
use std::time::Duration;

use breakerbox::Policy;
use breakerbox::State;

use super::fleet::Process;
use super::fleet::block_on;
use super::fleet::on_each;
use super::fleet::on_each_at_once;

const LONG: Duration = Duration::from_secs(600);
const TEN: Policy = Policy::new().threshold(10).cooldown(LONG);

/// Numbers that are the same each time (xorshift64).
struct Draws(u64);

impl Draws {
    /// True once in `times`.
    fn one_in(&mut self, times: u64) -> bool {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.is_multiple_of(times)
    }
}

fn opened(processes: &[Process]) -> usize {
    let opened = |process: &Process| process.moves(State::Closed, State::Open);
    processes.iter().map(opened).sum()
}

/// The failures of all processes together would make ten in no time, if successes between
/// them did not count.
#[test]
fn one_failure_in_a_hundred_never_opens_a_circuit_that_opens_at_ten_in_a_row() {
    /// Enough to open it twenty times.
    const MANY: u32 = 200;
    on_each(|backing| {
        let processes: [Process; 64] = backing.processes(TEN);
        let mut draws = Draws(0x9E37_79B9_7F4A_7C15);
        let (mut calls, mut failed) = (0, 0);
        while failed < MANY && opened(&processes) == 0 {
            for process in &processes {
                if let Ok(permit) = process.breaker.try_acquire() {
                    calls += 1;
                    if draws.one_in(100) {
                        failed += 1;
                        permit.failure();
                    } else {
                        permit.success();
                    }
                }
            }
            // All together make about ten thousand calls a second.
            thread::sleep(Duration::from_millis(6));
        }
        assert_eq!(opened(&processes), 0, "after {failed} of {calls} failed");
        // And where all calls fail, it opens for all.
        processes[0].eventually("it opens where all calls fail", || {
            for process in &processes {
                if let Ok(permit) = process.breaker.try_acquire() {
                    permit.failure();
                }
            }
            let is_open = |process: &Process| process.breaker.state() == State::Open;
            processes.iter().all(is_open)
        });
    });
}

/// B190, B175, B045
#[test]
fn failures_of_many_processes_are_counted_to_the_last_one() {
    const EACH: u32 = 1_000;
    on_each(|backing| {
        let policy = Policy::new().threshold(8 * EACH).cooldown(LONG);
        let processes: [Process; 8] = backing.processes(policy);
        thread::scope(|scope| {
            for (at, process) in processes.iter().enumerate() {
                let failures = EACH - u32::from(at == 0);
                scope.spawn(move || (0..failures).for_each(|_| process.fail()));
            }
        });
        thread::sleep(Duration::from_millis(500));
        assert_eq!(opened(&processes), 0);
        processes[0].fail();
        for process in &processes {
            process.becomes(State::Open);
        }
        for process in &processes {
            process.eventually("it is told", || opened(std::slice::from_ref(process)) == 1);
        }
    });
}

/// B175
#[test]
fn each_process_is_told_once_of_each_move() {
    on_each(|backing| {
        let policy = Policy::new()
            .threshold(5)
            .cooldown(Duration::from_secs(1))
            .probe_wait(Duration::from_secs(10));
        let processes: [Process; 8] = backing.processes(policy);
        thread::scope(|scope| {
            for process in &processes {
                scope.spawn(|| {
                    for _ in 0..200 {
                        if let Ok(permit) = process.breaker.try_acquire() {
                            permit.failure();
                        }
                    }
                });
            }
        });
        for process in &processes {
            process.becomes(State::Open);
            process.cools_down();
        }
        processes[3].enter().success();
        for process in &processes {
            process.becomes(State::Closed);
            for (from, to) in [
                (State::Closed, State::Open),
                (State::Open, State::HalfOpen),
                (State::HalfOpen, State::Closed),
            ] {
                process.eventually("it is told", || process.moves(from, to) == 1);
            }
        }
    });
}

/// M22
#[test]
fn one_process_that_is_ill_opens_for_itself_where_two_have_to_see_it() {
    on_each(|backing| {
        let processes: [Process; 20] = backing.processes(TEN.min_instances(2));
        let (ill, others) = processes.split_first().expect("some");
        ill.fail_times(10);
        ill.becomes(State::Open);
        thread::sleep(Duration::from_millis(500));
        for other in others {
            assert_eq!(other.breaker.state(), State::Closed);
            other.succeed();
        }
        assert_eq!(opened(others), 0);
    });
}

/// M22: a second one sees it, too.
#[test]
fn two_processes_that_see_it_open_it_for_all() {
    on_each(|backing| {
        let processes: [Process; 5] = backing.processes(TEN.min_instances(2));
        processes[0].fail_times(9);
        processes[1].fail();
        for process in &processes {
            process.becomes(State::Open);
        }
    });
}

/// B176: many wait for it, and one probes.
#[test]
fn of_many_who_come_when_the_cooldown_is_over_one_probes() {
    on_each(|backing| {
        let policy = Policy::new()
            .threshold(1)
            .cooldown(Duration::from_millis(500))
            .probe_wait(Duration::from_secs(10));
        let processes: [Process; 20] = backing.processes(policy);
        processes[0].fail();
        for process in &processes {
            process.cools_down();
        }
        let permits: Vec<_> = thread::scope(|scope| {
            let ask = |process: &Process| block_on(process.breaker.acquire());
            let asked: Vec<_> = processes
                .iter()
                .map(|process| scope.spawn(move || ask(process)))
                .collect();
            let asked = asked.into_iter().map(|it| it.join().expect("no panic"));
            asked.flatten().collect()
        });
        assert_eq!(permits.len(), 1);
    });
}

/// Longer than a lease, and than leave is kept that nobody waits for.
const SELDOM: Duration = Duration::from_millis(2_500);

#[test]
fn a_lone_caller_who_seldom_calls_still_probes() {
    on_each_at_once(|backing| {
        let policy = Policy::new()
            .threshold(1)
            .cooldown(Duration::from_millis(100))
            .probe_wait(Duration::from_secs(10));
        let a = backing.start(policy);
        for succeeds in [false, true] {
            if succeeds {
                thread::sleep(SELDOM);
            }
            // The first call of all that come.
            let called = a.breaker.call_blocking(|| succeeds.then_some(()).ok_or(()));
            assert_eq!(called.is_ok(), succeeds);
        }
        a.becomes(State::Closed);
    });
}
