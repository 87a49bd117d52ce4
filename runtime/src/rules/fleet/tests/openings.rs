//! How long it stays open, and what counts as once more.

use std::time::Duration;

use crate::reason::Reason;
use crate::rules::fleet::Command;
use crate::rules::fleet::Flush;
use crate::rules::fleet::Status;
use crate::rules::fleet::tests::*;

fn growing() -> Policy {
    policy().backoff(2.0).max_cooldown(Duration::from_secs(35))
}

/// E5, E8
#[test]
fn each_opening_is_longer_than_the_last_one_up_to_the_longest() {
    let mut fleet = Fleet::new(growing());
    fleet.open();
    for (number, seconds) in [10, 20, 35, 35].into_iter().enumerate() {
        assert_eq!(fleet.lies().length, seconds * SECOND, "{number}");
        assert_eq!(fleet.lies().until, fleet.now + seconds * SECOND);
        fleet.now = fleet.lies().until;
        let token = number as u64;
        assert_eq!(fleet.ask(acquire(token)).status, Status::Granted);
        let reply = fleet.ask(end(token, Verdict::Failure));
        assert_eq!(reply.snapshot.opened_by, Some(Reason::ProbeFailed));
    }
}

/// L12
#[test]
fn closing_begins_the_cooldowns_afresh() {
    let mut fleet = Fleet::new(growing());
    fleet.probe(1);
    fleet.ask(end(1, Verdict::Failure));
    fleet.now = fleet.lies().until;
    fleet.ask(acquire(2));
    assert_eq!(fleet.ask(end(2, Verdict::Success)).status, Status::Closed);
    assert_eq!(fleet.lies().trips, 0);
    fleet.open();
    assert_eq!((fleet.lies().trips, fleet.lies().length), (1, 10 * SECOND));
}

#[test]
fn a_trip_within_the_ramp_is_one_more_and_after_it_the_first() {
    for (after, trips) in [(29_999, 2), (30_000, 1)] {
        let mut fleet = Fleet::new(growing().ramp(Duration::from_secs(30)));
        fleet.probe(1);
        assert_eq!(fleet.ask(end(1, Verdict::Success)).status, Status::Closed);
        assert_eq!(fleet.lies().trips, 1);
        fleet.now += after;
        fleet.open();
        assert_eq!(fleet.lies().trips, trips, "{after}");
        assert_eq!(fleet.lies().length, u64::from(trips) * 10 * SECOND);
    }
}

#[test]
fn jitter_only_lengthens_and_is_what_was_drawn() {
    let mut fleet = Fleet::new(policy().jitter(0.5));
    for (draw, length) in [(0, 10_000), (1 << 31, 12_500), (u32::MAX, 14_999)] {
        fleet.state = None;
        fleet.send(&Request {
            command: failures(3),
            view: View::default(),
            instance: 1,
            draw,
            deadline: 0,
        });
        assert_eq!(fleet.lies().length, length);
    }
}

/// E11
#[test]
fn an_answer_can_ask_for_a_longer_opening_up_to_the_cap() {
    let asked = |at_least, exactly| {
        let mut fleet = Fleet::new(policy().max_open_for(Duration::from_secs(200)));
        let flush = Flush {
            failures: 3,
            at_least,
            exactly,
            ..Flush::default()
        };
        assert_eq!(fleet.ask(Command::Flush(flush)).status, Status::Opened);
        (
            fleet.lies().length,
            fleet.lies().opened_by.map(Reason::label),
        )
    };
    assert_eq!(asked(SECOND, None), (10 * SECOND, Some("threshold")));
    assert_eq!(asked(120 * SECOND, None), (120 * SECOND, Some("threshold")));
    assert_eq!(asked(u64::MAX, None), (200 * SECOND, Some("threshold")));
    assert_eq!(asked(0, Some(SECOND)), (SECOND, Some("open_for")));
    assert_eq!(asked(0, Some(u64::MAX)), (200 * SECOND, Some("open_for")));
    // Nothing is open for no time at all.
    assert_eq!(asked(0, Some(0)), (1, Some("open_for")));
}

/// A ban needs neither a count nor a second witness.
#[test]
fn an_answer_that_asks_for_an_opening_opens_at_once() {
    let mut fleet = Fleet::new(policy().min_instances(3));
    let flush = Flush {
        failures: 1,
        exactly: Some(SECOND),
        ..Flush::default()
    };
    assert_eq!(fleet.ask(Command::Flush(flush)).status, Status::Opened);
}

#[test]
fn nothing_changes_without_a_command() {
    let mut fleet = Fleet::new(policy());
    fleet.open();
    fleet.now += HOUR;
    let before = fleet.state.clone();
    assert_eq!(fleet.ask(Command::Sync).snapshot.phase, Phase::Open);
    assert_eq!(fleet.state, before);
}
