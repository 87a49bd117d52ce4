//! Failures of several processes, counted together.

use std::time::Duration;

use crate::policy::Window;
use crate::reason::Reason;
use crate::rules::fleet::Command;
use crate::rules::fleet::Flush;
use crate::rules::fleet::Status;
use crate::rules::fleet::What;
use crate::rules::fleet::tests::*;

fn window(seconds: u64) -> Policy {
    Policy::new().window(Window::Time(Duration::from_secs(seconds)))
}

#[test]
fn a_success_somewhere_ends_the_run_of_all() {
    let mut fleet = Fleet::new(policy());
    fleet.ask_as(1, failures(2));
    let flush = Flush {
        success: true,
        failures: 1,
        ..Flush::default()
    };
    assert_eq!(fleet.ask_as(2, Command::Flush(flush)).status, Status::Done);
    assert_eq!(fleet.lies().failures, 1);
    assert_eq!(fleet.ask_as(1, failures(2)).status, Status::Opened);
}

/// One that fails alone would open on its own calls: what the others have seen is on its way.
#[test]
fn a_rate_is_not_judged_before_the_others_have_told_of_their_successes() {
    let mut fleet = Fleet::new(window(10).failure_rate(0.5).min_calls(4));
    assert_eq!(fleet.ask(calls(4, 4)).status, Status::Settling(100));
    fleet.now += 40;
    assert_eq!(fleet.ask(calls(1, 1)).status, Status::Settling(60));
    let mut healthy = Fleet {
        state: fleet.state.clone(),
        told: Vec::new(),
        ..fleet
    };
    healthy.ask_as(2, calls(6, 0));
    healthy.now += 60;
    assert_eq!(healthy.ask(calls(0, 0)).status, Status::Done);
    fleet.now += 59;
    assert_eq!(fleet.ask(calls(0, 0)).status, Status::Settling(1));
    fleet.now += 1;
    assert_eq!(fleet.ask(calls(0, 0)).status, Status::Opened);
}

#[test]
fn a_threshold_waits_for_nobody() {
    let mut fleet = Fleet::new(window(10).threshold(3));
    assert_eq!(fleet.ask(calls(1, 1)).status, Status::Done);
    assert_eq!(fleet.ask(calls(9, 2)).status, Status::Opened);
}

/// Everybody tells of successes while there is something to weigh them against, and is told
/// so at most ten times a second.
#[test]
fn that_failures_are_counted_is_told_at_most_ten_times_a_second() {
    let mut fleet = Fleet::new(policy().threshold(1_000));
    let mut told = 0;
    for _ in 0..1_000 {
        fleet.ask(failures(1));
        told += fleet
            .told
            .iter()
            .filter(|it| it.what == What::Suspect)
            .count();
        fleet.now += 1;
        if fleet.phase() != Phase::Closed {
            break;
        }
    }
    assert_eq!(told, 10);
}

#[test]
fn whoever_knows_of_no_failures_tells_nobody() {
    let mut fleet = Fleet::new(window(10).threshold(3));
    let reply = fleet.ask(calls(5, 0));
    assert!(!reply.snapshot.is_suspect);
    assert_eq!(fleet.told, []);
}

#[test]
fn a_suspicion_ends_when_its_failures_have_left_the_window() {
    let mut fleet = Fleet::new(window(10).threshold(3));
    assert!(fleet.ask(calls(1, 1)).snapshot.is_suspect);
    fleet.now += 10 * SECOND;
    assert!(!fleet.ask(calls(1, 0)).snapshot.is_suspect);
    assert_eq!(fleet.lies().reporters, []);
}

/// Calls that are told of late count where they ended.
#[test]
fn a_delta_counts_in_the_bucket_in_which_its_calls_ended() {
    let mut fleet = Fleet::new(window(10).threshold(9));
    fleet.ask(calls_ago(9 * SECOND, 1, 1));
    assert_eq!(fleet.ask(calls(1, 1)).sums.failures, 2);
    fleet.now += SECOND;
    assert_eq!(fleet.ask(calls(0, 0)).sums.failures, 1);
    // What has left the window already is counted nowhere.
    assert_eq!(fleet.ask(calls_ago(10 * SECOND, 5, 5)).sums.failures, 1);
}

/// M22
#[test]
fn one_sick_process_does_not_open_for_all_where_two_have_to_see_it() {
    let mut fleet = Fleet::new(policy().min_instances(2));
    for _ in 0..5 {
        assert_eq!(fleet.ask_as(1, failures(3)).status, Status::Done);
    }
    assert_eq!(fleet.ask_as(2, failures(1)).status, Status::Opened);
}

#[test]
fn in_a_row_who_has_seen_failures_is_forgotten_at_the_next_success() {
    let mut fleet = Fleet::new(policy().min_instances(2));
    fleet.ask_as(1, failures(3));
    let success = Flush {
        success: true,
        ..Flush::default()
    };
    fleet.ask_as(1, Command::Flush(success));
    assert_eq!(fleet.ask_as(2, failures(3)).status, Status::Done);
    assert_eq!(fleet.ask_as(1, failures(1)).status, Status::Opened);
}

#[test]
fn who_has_seen_failures_longer_ago_than_the_window_counts_no_more() {
    let mut fleet = Fleet::new(window(10).threshold(2).min_instances(2));
    fleet.ask_as(1, calls(1, 1));
    fleet.now += 10 * SECOND;
    assert_eq!(fleet.ask_as(2, calls(2, 2)).status, Status::Done);
    assert_eq!(fleet.ask_as(1, calls(1, 1)).status, Status::Opened);
}

/// It is a success that completes the calls here, and only one process has seen failures since
/// the first one's have left the window.
#[test]
fn who_has_seen_failures_too_long_ago_does_not_count_with_a_success_either() {
    let rate = window(10).failure_rate(0.5).min_calls(5).min_instances(2);
    let mut fleet = Fleet::new(rate);
    fleet.ask_as(1, calls(1, 1));
    fleet.now += 5 * SECOND;
    fleet.ask_as(2, calls(3, 3));
    fleet.now += 5 * SECOND;
    let reply = fleet.ask_as(3, calls(2, 0));
    assert_eq!((reply.sums.calls, reply.sums.failures), (5, 3));
    assert_eq!(reply.status, Status::Done);
}

#[test]
fn a_window_of_calls_moves_on_bucket_by_bucket() {
    let hundred = Policy::new().window(Window::Calls(100)).threshold(10);
    let mut fleet = Fleet::new(hundred);
    assert_eq!(fleet.ask(calls(10, 5)).sums.failures, 5);
    for _ in 0..9 {
        assert_eq!(fleet.ask(calls(10, 0)).sums.failures, 5);
    }
    let reply = fleet.ask(calls(1, 0));
    assert_eq!((reply.sums.calls, reply.sums.failures), (91, 0));
}

/// M21. During a rollout two versions look back on different windows.
#[test]
fn two_versions_with_different_windows_both_count_and_both_open() {
    let versions = [
        window(60).threshold(5),
        window(10).threshold(5),
        Policy::new().window(Window::Calls(50)).threshold(5),
    ];
    for opens in 0..versions.len() {
        let mut fleet = Fleet::new(versions[0]);
        let mut tell = |which: usize| {
            fleet.policy = versions[which];
            fleet.now += 20;
            fleet.ask(calls(1, 1))
        };
        for _ in 0..4 {
            let told = (0..versions.len()).map(&mut tell);
            assert!(told.into_iter().all(|it| it.status == Status::Done));
        }
        let reply = tell(opens);
        assert_eq!((reply.status, reply.sums.failures), (Status::Opened, 5));
    }
}

/// A success of one version says nothing about the window of another.
#[test]
fn what_another_version_counts_keeps_the_suspicion() {
    let mut fleet = Fleet::new(window(60).threshold(5));
    fleet.ask(calls(1, 1));
    fleet.policy = window(10).threshold(5);
    let reply = fleet.ask(calls(1, 0));
    assert_eq!(reply.sums.failures, 0);
    assert!(reply.snapshot.is_suspect);
    // Until it has left that window.
    fleet.now += 60 * SECOND;
    assert!(!fleet.ask(calls(1, 0)).snapshot.is_suspect);
}

#[test]
fn a_window_of_another_kind_or_length_starts_empty() {
    let of_calls = |calls| Policy::new().window(Window::Calls(calls)).threshold(50);
    let mut fleet = Fleet::new(window(60).threshold(50));
    for policy in [of_calls(1_000), of_calls(100), window(10).threshold(50)] {
        fleet.ask(calls(9, 4));
        fleet.policy = policy;
        assert_eq!(fleet.ask(calls(1, 0)).sums.calls, 1);
    }
}

/// Nothing else would ever take them away once their version is gone.
#[test]
fn calls_of_a_version_that_is_gone_are_forgotten_after_an_hour() {
    let mut fleet = Fleet::new(Policy::new().window(Window::Calls(50)).threshold(5));
    fleet.ask(calls(1, 1));
    fleet.policy = window(10).threshold(5);
    fleet.now += HOUR - 1;
    assert!(fleet.ask(calls(1, 0)).snapshot.is_suspect);
    fleet.now += 1;
    assert!(!fleet.ask(calls(1, 0)).snapshot.is_suspect);
}

#[test]
fn calls_that_are_told_together_stay_together() {
    let ten = Policy::new().window(Window::Calls(10)).threshold(10);
    let mut fleet = Fleet::new(ten);
    // Buckets of one call: each of these fills one, however many it holds.
    for _ in 0..10 {
        fleet.ask(calls(3, 0));
    }
    assert_eq!(fleet.ask(calls(7, 7)).sums.calls, 34);
    assert_eq!(fleet.lies().slots.len(), 10);
}

#[test]
fn a_flush_without_calls_leaves_a_window_of_calls_alone() {
    let ten = Policy::new().window(Window::Calls(10)).threshold(10);
    let mut fleet = Fleet::new(ten);
    fleet.ask(calls(3, 0));
    let before = fleet.state.clone();
    fleet.ask(calls(0, 0));
    assert_eq!(fleet.state, before);
}

#[test]
fn min_failures_gates_the_failure_rate_across_processes() {
    let rate = window(10).failure_rate(0.5).min_calls(2).min_failures(4);
    let mut fleet = Fleet::new(rate);
    fleet.ask_as(1, calls(2, 2));
    fleet.now += 100;
    assert_eq!(fleet.ask_as(1, calls(1, 1)).status, Status::Done);
    let reply = fleet.ask_as(2, calls(1, 1));
    assert_eq!(reply.status, Status::Opened);
    let reason = Reason::FailureRate {
        failures: 4,
        calls: 4,
        limit: 0.5,
    };
    assert_eq!(reply.snapshot.opened_by, Some(reason));
}
