//! Leases, and probes that do not come back.

use std::time::Duration;

use crate::policy::Window;
use crate::reason::Reason;
use crate::rules::Outcome;
use crate::rules::fleet::Command;
use crate::rules::fleet::Status;
use crate::rules::fleet::tests::*;

/// Two probes of 30 s are too many that gave no answer.
fn patient() -> Policy {
    policy().probe_timeout(Duration::from_secs(30))
}

fn riding(verdict: Verdict) -> Command {
    let is_slow = false;
    Command::End {
        token: None,
        outcome: Outcome { verdict, is_slow },
    }
}

/// F21
#[test]
fn a_place_is_free_at_exactly_the_probe_timeout() {
    let mut fleet = Fleet::new(patient());
    fleet.probe(1);
    fleet.now += 30 * SECOND - 1;
    assert_eq!(fleet.ask(acquire(2)).status, Status::Full);
    fleet.now += 1;
    assert_eq!(fleet.ask(acquire(2)).status, Status::Granted);
}

/// F22
#[test]
fn a_probe_that_answers_after_its_timeout_still_votes() {
    let mut fleet = Fleet::new(patient());
    fleet.probe(1);
    fleet.now += 30 * SECOND;
    fleet.ask(acquire(2));
    assert_eq!(fleet.lies().round.hung, 1);
    assert_eq!(fleet.ask(end(1, Verdict::Success)).status, Status::Closed);
}

/// F22
#[test]
fn two_probes_that_hang_without_a_vote_open_it_again() {
    let mut fleet = Fleet::new(patient());
    fleet.probe(1);
    for token in [2, 3] {
        fleet.now += 30 * SECOND;
        // Both are alive, and say so.
        fleet.ask(Command::Renew {
            token: 1,
            ttl: LONG,
        });
        let reply = fleet.ask(acquire(token));
        match token {
            2 => assert_eq!(reply.status, Status::Granted),
            _ => assert_eq!(reply.status, Status::Wait(10 * SECOND)),
        }
    }
    assert_eq!(fleet.lies().opened_by, Some(Reason::ProbesHung { hung: 2 }));
    assert_eq!(fleet.lies().trips, 2);
}

#[test]
fn a_probe_that_hung_and_was_then_dropped_counts_as_hung() {
    let mut fleet = Fleet::new(patient());
    fleet.probe(1);
    fleet.now += 30 * SECOND;
    fleet.ask(acquire(2));
    assert_eq!(fleet.ask(end(1, Verdict::Ignore)).status, Status::Done);
    fleet.now += 30 * SECOND;
    assert_eq!(fleet.ask(end(2, Verdict::Ignore)).status, Status::Opened);
    assert_eq!(fleet.lies().opened_by, Some(Reason::ProbesHung { hung: 2 }));
}

#[test]
fn one_that_hung_and_answered_did_not_hang() {
    let mut fleet = Fleet::new(patient().probes(2));
    fleet.probe(1);
    fleet.now += 30 * SECOND;
    fleet.ask(acquire(2));
    assert_eq!(fleet.ask(end(1, Verdict::Success)).status, Status::Done);
    assert_eq!(
        (fleet.lies().round.hung, fleet.lies().round.successes),
        (0, 1)
    );
}

/// M6. Whose process is gone has not hung: it says nothing about the service.
#[test]
fn a_lease_expires_and_its_probe_did_not_hang() {
    let mut fleet = Fleet::new(patient());
    fleet.open();
    fleet.now = fleet.lies().until;
    for token in 1..=9 {
        let short = Command::Acquire { token, ttl: SECOND };
        assert_eq!(fleet.ask(short).status, Status::Granted);
        fleet.now += SECOND - 1;
        assert_eq!(fleet.ask(acquire(99)).status, Status::Full);
        fleet.now += 1;
    }
    assert_eq!(fleet.ask(acquire(99)).status, Status::Granted);
    assert_eq!(fleet.lies().round.hung, 0);
}

#[test]
fn a_renewed_lease_lives_on() {
    let mut fleet = Fleet::new(patient());
    fleet.open();
    fleet.now = fleet.lies().until;
    fleet.ask(Command::Acquire {
        token: 1,
        ttl: SECOND,
    });
    for _ in 0..5 {
        fleet.now += SECOND - 1;
        let renewed = fleet.ask(Command::Renew {
            token: 1,
            ttl: SECOND,
        });
        assert_eq!(renewed.status, Status::Done);
    }
    fleet.now += SECOND;
    let late = fleet.ask(Command::Renew {
        token: 1,
        ttl: SECOND,
    });
    assert_eq!(late.status, Status::Stale);
}

#[test]
fn no_lease_is_longer_than_the_longest_nor_shorter_than_a_moment() {
    for (ttl, length) in [(0, 1), (u64::MAX, LONG)] {
        let mut fleet = Fleet::new(policy());
        fleet.open();
        fleet.now = fleet.lies().until;
        fleet.ask(Command::Acquire { token: 1, ttl });
        assert_eq!(fleet.lies().round.leases[0].expires, fleet.now + length);
    }
}

/// A success uses up its place in the round; a probe that is given up does not.
#[test]
fn a_round_has_so_many_probes_in_all_and_fewer_at_a_time() {
    let two = policy().probes(3).probe_concurrency(2);
    let mut fleet = Fleet::new(two);
    fleet.probe(1);
    assert_eq!(fleet.ask(acquire(2)).status, Status::Granted);
    assert_eq!(fleet.ask(acquire(3)).status, Status::Full);
    fleet.ask(end(1, Verdict::Ignore));
    assert_eq!(fleet.ask(acquire(3)).status, Status::Granted);
    fleet.ask(end(2, Verdict::Success));
    fleet.ask(end(3, Verdict::Success));
    assert_eq!(fleet.ask(acquire(4)).status, Status::Granted);
    assert_eq!(fleet.ask(acquire(5)).status, Status::Full);
    assert_eq!(fleet.ask(end(4, Verdict::Success)).status, Status::Closed);
}

/// F2, F4, F10
#[test]
fn a_round_is_decided_as_soon_as_no_vote_can_change_it() {
    for (votes, last) in [
        ("FF", Status::Opened),
        ("SFF", Status::Opened),
        ("SSS", Status::Closed),
    ] {
        let mut fleet = Fleet::new(policy().probes(4).probe_failure_rate(0.5));
        fleet.open();
        fleet.now = fleet.lies().until;
        let mut status = Status::Done;
        for vote in votes.chars() {
            assert_eq!(status, Status::Done, "{votes}");
            assert_eq!(fleet.ask(acquire(1)).status, Status::Granted);
            let is_failure = vote == 'F';
            let verdict = if is_failure {
                Verdict::Failure
            } else {
                Verdict::Success
            };
            status = fleet.ask(end(1, verdict)).status;
        }
        assert_eq!(status, last, "{votes}");
    }
}

/// The numbers may change in the middle of a round.
#[test]
fn a_round_that_has_enough_by_new_numbers_closes_for_whoever_asks() {
    let mut fleet = Fleet::new(policy().probes(3));
    fleet.probe(1);
    fleet.ask(end(1, Verdict::Success));
    fleet.policy = policy().probes(1);
    assert_eq!(fleet.ask(acquire(2)).status, Status::Pass);
    assert_eq!(fleet.phase(), Phase::Closed);
}

#[test]
fn a_call_that_a_probe_makes_itself_votes_only_against() {
    let mut fleet = Fleet::new(policy());
    fleet.probe(1);
    for verdict in [Verdict::Success, Verdict::Ignore] {
        assert_eq!(fleet.ask(riding(verdict)).status, Status::Done);
    }
    assert_eq!(fleet.lies().round.leases.len(), 1);
    assert_eq!(fleet.ask(riding(Verdict::Failure)).status, Status::Opened);
}

#[test]
fn where_the_share_decides_a_call_that_rides_along_has_no_vote_but_a_ban() {
    let mut fleet = Fleet::new(policy().probes(2).probe_failure_rate(0.5));
    fleet.probe(1);
    assert_eq!(fleet.ask(riding(Verdict::Failure)).status, Status::Done);
    let ban = Verdict::OpenFor(Duration::from_secs(7));
    assert_eq!(fleet.ask(riding(ban)).status, Status::Opened);
    assert_eq!(fleet.lies().length, 7 * SECOND);
}

#[test]
fn a_slow_probe_is_a_failed_one_where_slow_calls_are_judged() {
    let labelled = policy().slow_call(Duration::from_secs(1));
    let judged = labelled.window(Window::Calls(20));
    for (policy, status) in [(labelled, Status::Closed), (judged, Status::Opened)] {
        let mut fleet = Fleet::new(policy);
        match policy.get_window() {
            Some(_) => assert_eq!(fleet.ask(calls(3, 3)).status, Status::Opened),
            None => fleet.open(),
        }
        fleet.now = fleet.lies().until;
        fleet.ask(acquire(1));
        let slow = Outcome {
            verdict: Verdict::Success,
            is_slow: true,
        };
        let token = Some(1);
        let ended = fleet.ask(Command::End {
            token,
            outcome: slow,
        });
        assert_eq!(ended.status, status);
    }
}

/// A probe that is told to come back later says how long.
#[test]
fn a_failed_probe_can_ask_for_a_longer_opening() {
    let mut fleet = Fleet::new(policy());
    fleet.probe(1);
    let later = Verdict::RetryAfter(Duration::from_secs(90));
    assert_eq!(fleet.ask(end(1, later)).status, Status::Opened);
    assert_eq!(fleet.lies().length, 90 * SECOND);
}
