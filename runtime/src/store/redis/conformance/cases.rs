//! The cases that every store has to pass.

use std::time::Duration;

use crate::policy::Policy;
use crate::policy::Window;
use crate::reason::Reason;
use crate::rules::Outcome;
use crate::rules::Sums;
use crate::rules::fleet::Command;
use crate::rules::fleet::Cover;
use crate::rules::fleet::CoverKind;
use crate::rules::fleet::Delta;
use crate::rules::fleet::Flush;
use crate::rules::fleet::Force;
use crate::rules::fleet::Lease;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Reporter;
use crate::rules::fleet::Request;
use crate::rules::fleet::Round;
use crate::rules::fleet::Shared;
use crate::rules::fleet::Status;
use crate::rules::fleet::What;
use crate::state::State;
use crate::store::redis::conformance::place::Place;
use crate::store::redis::conformance::place::by;
use crate::store::redis::conformance::place::view;
use crate::verdict::Verdict;

const HOUR: u64 = 3_600_000;

/// An opening lasts so long here, in milliseconds.
const COOLDOWN: u64 = 120;

/// A lease that no test outlives.
const LONG: u64 = 30_000;

fn policy() -> Policy {
    Policy::new()
        .threshold(3)
        .cooldown(Duration::from_millis(COOLDOWN))
}

fn failures(failures: u32) -> Command {
    Command::Flush(Flush {
        failures,
        ..Flush::default()
    })
}

fn acquire(token: u64) -> Command {
    Command::Acquire { token, ttl: LONG }
}

fn end(token: u64, verdict: Verdict) -> Command {
    let is_slow = false;
    Command::End {
        token: Some(token),
        outcome: Outcome { verdict, is_slow },
    }
}

/// Closed, and known; so it cannot be told from one that is not by its epoch.
fn closed(place: &mut dyn Place) {
    place.ask(Command::Force(Force::Reset), &policy());
}

fn opened(place: &mut dyn Place, policy: &Policy) {
    assert_eq!(place.ask(failures(3), policy).status, Status::Opened);
}

/// Half-open, with a probe for each token.
fn probing(place: &mut dyn Place, policy: &Policy, tokens: &[u64]) {
    opened(place, policy);
    place.wait(COOLDOWN);
    for token in tokens {
        let reply = place.ask(acquire(*token), policy);
        assert_eq!(reply.status, Status::Granted);
    }
}

fn phase(place: &mut dyn Place) -> Phase {
    place.lies().expect("a circuit").phase
}

fn leases(place: &mut dyn Place) -> usize {
    place.lies().expect("a circuit").round.leases.len()
}

pub(super) fn asking_for_an_unknown_circuit_creates_nothing(place: &mut dyn Place) {
    let (reply, told) = place.run(&by(Command::Sync), &policy());
    assert_eq!(reply.status, Status::Done);
    assert_eq!(
        (reply.snapshot.epoch, reply.snapshot.phase),
        (0, Phase::Closed)
    );
    assert_eq!(told, []);
    assert_eq!(place.lies(), None);
}

pub(super) fn a_flush_that_trips_stamps_the_time_of_the_store_and_a_new_epoch(
    place: &mut dyn Place,
) {
    let first = place.ask(failures(2), &policy());
    assert_eq!(first.status, Status::Done);
    let reply = place.ask(failures(1), &policy());
    assert_eq!(reply.status, Status::Opened);
    let snapshot = reply.snapshot;
    assert_eq!(snapshot.phase, Phase::Open);
    assert!(snapshot.epoch > first.snapshot.epoch);
    assert!(snapshot.epoch >= reply.now);
    assert_eq!(snapshot.until, reply.now + COOLDOWN);
    let reason = Reason::Threshold {
        failures: 3,
        threshold: 3,
    };
    assert_eq!(snapshot.opened_by, Some(reason));
}

pub(super) fn a_second_trip_of_the_same_epoch_changes_nothing(place: &mut dyn Place) {
    let before = place.ask(failures(1), &policy()).snapshot;
    opened(place, &policy());
    let lies = place.lies();
    let request = Request {
        view: view(&before),
        ..by(failures(3))
    };
    let (reply, told) = place.run(&request, &policy());
    assert_eq!(reply.status, Status::Stale);
    assert_eq!(told, []);
    assert_eq!(place.lies(), lies);
}

pub(super) fn a_moment_before_the_end_nobody_may_probe(place: &mut dyn Place) {
    // Long enough for any machine.
    let policy = policy().cooldown(Duration::from_secs(10));
    opened(place, &policy);
    let reply = place.ask(acquire(1), &policy);
    assert!(
        matches!(reply.status, Status::Wait(9_000..=10_000)),
        "{reply:?}"
    );
    assert_eq!(reply.snapshot.phase, Phase::Open);
}

pub(super) fn at_the_end_the_first_who_asks_may_probe(place: &mut dyn Place) {
    opened(place, &policy());
    let Status::Wait(left) = place.ask(acquire(1), &policy()).status else {
        panic!("it is open");
    };
    // Whoever comes when it was told to is not sent away again.
    place.wait(left);
    let reply = place.ask(acquire(1), &policy());
    assert_eq!(reply.status, Status::Granted);
    assert_eq!(reply.snapshot.phase, Phase::HalfOpen);
    assert_eq!(leases(place), 1);
}

pub(super) fn a_second_probe_does_not_begin_another_round(place: &mut dyn Place) {
    let policy = policy().probes(2);
    probing(place, &policy, &[1]);
    let epoch = place.lies().map(|it| it.epoch);
    let second = place.ask(acquire(2), &policy);
    assert_eq!(second.status, Status::Granted);
    assert_eq!(Some(second.snapshot.epoch), epoch);
}

pub(super) fn so_many_probes_as_may_be_and_no_more(place: &mut dyn Place) {
    let policy = policy().probes(3);
    probing(place, &policy, &[1, 2, 3]);
    assert_eq!(place.ask(acquire(4), &policy).status, Status::Full);
    // Whoever has leave asks for nothing new.
    assert_eq!(place.ask(acquire(2), &policy).status, Status::Granted);
    assert_eq!(leases(place), 3);
}

pub(super) fn whoever_asks_while_it_is_closed_needs_no_leave(place: &mut dyn Place) {
    closed(place);
    let lies = place.lies();
    assert_eq!(place.ask(acquire(1), &policy()).status, Status::Pass);
    assert_eq!(place.lies(), lies);
}

pub(super) fn slow_calls_are_counted_beside_failures(place: &mut dyn Place) {
    let policy = Policy::new()
        .window(Window::Time(Duration::from_secs(60)))
        .slow_call(Duration::from_secs(1))
        .slow_call_rate(0.5)
        .failure_rate(0.9)
        .min_calls(4);
    let told = |calls, failures, slow| {
        let age = 0;
        let delta = Delta {
            age,
            calls,
            failures,
            slow,
        };
        Command::Flush(Flush {
            deltas: vec![delta],
            ..Flush::default()
        })
    };
    assert_eq!(place.ask(told(1, 0, 0), &policy).status, Status::Done);
    assert_eq!(place.ask(told(1, 0, 1), &policy).status, Status::Done);
    assert_eq!(place.ask(told(1, 1, 1), &policy).status, Status::Done);
    // The rate is met as soon as there are enough calls; the others may still tell of theirs.
    let Status::Settling(left) = place.ask(told(1, 0, 0), &policy).status else {
        panic!("it is judged later");
    };
    place.wait(left);
    let reply = place.ask(told(0, 0, 0), &policy);
    assert_eq!(reply.status, Status::Opened);
    let expected = Sums {
        calls: 4,
        failures: 1,
        slow: 2,
        hung: 0,
    };
    assert_eq!(reply.sums, expected);
    let reason = Reason::SlowCallRate {
        slow: 2,
        calls: 4,
        limit: 0.5,
    };
    assert_eq!(reply.snapshot.opened_by, Some(reason));
}

pub(super) fn slow_and_failed_probes_are_counted_against_the_round(place: &mut dyn Place) {
    let policy = policy()
        .window(Window::Calls(20))
        .slow_call(Duration::from_secs(1))
        .probes(4)
        .probe_failure_rate(0.75);
    let three = Command::Flush(Flush {
        deltas: vec![Delta {
            age: 0,
            calls: 3,
            failures: 3,
            slow: 0,
        }],
        ..Flush::default()
    });
    assert_eq!(place.ask(three, &policy).status, Status::Opened);
    place.wait(COOLDOWN);
    for token in 1..=4 {
        assert_eq!(place.ask(acquire(token), &policy).status, Status::Granted);
    }
    let slow = |verdict| Outcome {
        verdict,
        is_slow: true,
    };
    let ends = [
        (
            1,
            Outcome {
                verdict: Verdict::Success,
                is_slow: false,
            },
            Status::Done,
        ),
        (2, slow(Verdict::Success), Status::Done),
        (3, slow(Verdict::Failure), Status::Done),
        (
            4,
            Outcome {
                verdict: Verdict::Failure,
                is_slow: false,
            },
            Status::Opened,
        ),
    ];
    for (token, outcome, status) in ends {
        let token = Some(token);
        let reply = place.ask(Command::End { token, outcome }, &policy);
        assert_eq!(reply.status, status, "{outcome:?}");
    }
    let reason = Reason::ProbeFailureRate {
        failed: 3,
        probes: 4,
        limit: 0.75,
    };
    let lies = place.lies().expect("a circuit");
    assert_eq!(lies.opened_by, Some(reason));
}

pub(super) fn closing_forgets_leases_and_counts(place: &mut dyn Place) {
    let policy = policy().probes(2).close_after(1);
    probing(place, &policy, &[1, 2]);
    let reply = place.ask(end(1, Verdict::Success), &policy);
    assert_eq!(reply.status, Status::Closed);
    let lies = place.lies().expect("a circuit");
    assert_eq!(lies.phase, Phase::Closed);
    assert_eq!(
        (lies.round, lies.failures, lies.suspect_since),
        Default::default()
    );
    assert_eq!((lies.until, lies.length, lies.trips), (0, 0, 0));
    assert_eq!(lies.closed_at, reply.now);
    // Two failures are two.
    assert_eq!(place.ask(failures(2), &policy).status, Status::Done);
}

pub(super) fn the_end_of_a_probe_without_a_lease_is_dropped(place: &mut dyn Place) {
    probing(place, &policy(), &[1]);
    let lies = place.lies();
    for verdict in [Verdict::Success, Verdict::Failure, Verdict::Ignore] {
        assert_eq!(place.ask(end(2, verdict), &policy()).status, Status::Stale);
    }
    assert_eq!(place.lies(), lies);
}

pub(super) fn the_end_of_a_probe_of_nothing_creates_nothing(place: &mut dyn Place) {
    for command in [
        end(1, Verdict::Success),
        end(1, Verdict::Failure),
        Command::Renew {
            token: 1,
            ttl: LONG,
        },
        Command::Force(Force::Clear),
    ] {
        let (reply, told) = place.run(&by(command), &policy());
        assert_eq!(reply.status, Status::Stale);
        assert_eq!(told, []);
    }
    assert_eq!(place.lies(), None);
}

pub(super) fn a_command_of_an_older_epoch_changes_nothing_and_says_what_stands(
    place: &mut dyn Place,
) {
    let policy = policy().probes(2);
    probing(place, &policy, &[1]);
    let old = place.lies().expect("a circuit").snapshot();
    // It opens and half-opens again, and another probe gets the same token.
    place.ask(end(1, Verdict::Failure), &policy);
    place.wait(COOLDOWN);
    assert_eq!(place.ask(acquire(1), &policy).status, Status::Granted);
    let lies = place.lies().expect("a circuit");
    for command in [
        end(1, Verdict::Success),
        end(1, Verdict::OpenFor(Duration::from_secs(1))),
        Command::Renew {
            token: 1,
            ttl: LONG,
        },
        failures(9),
    ] {
        let request = Request {
            view: view(&old),
            ..by(command)
        };
        let (reply, told) = place.run(&request, &policy);
        assert_eq!(reply.status, Status::Stale);
        assert_eq!(reply.snapshot, lies.snapshot());
        assert_eq!(told, []);
    }
    assert_eq!(place.lies(), Some(lies));
}

pub(super) fn a_failed_probe_opens_afresh_and_clears_the_leases(place: &mut dyn Place) {
    let policy = policy().probes(2);
    probing(place, &policy, &[1, 2]);
    let half_open = place.lies().expect("a circuit");
    let reply = place.ask(end(1, Verdict::Failure), &policy);
    assert_eq!(reply.status, Status::Opened);
    assert!(reply.snapshot.epoch > half_open.epoch);
    assert_eq!(reply.snapshot.until, reply.now + COOLDOWN);
    assert_eq!(reply.snapshot.trips, 2);
    assert_eq!(leases(place), 0);
    assert_eq!(
        place.ask(end(2, Verdict::Success), &policy).status,
        Status::Stale
    );
    assert_eq!(phase(place), Phase::Open);
}

pub(super) fn of_many_that_trip_at_once_one_does(place: &mut dyn Place) {
    closed(place);
    let known = place.lies().expect("a circuit").snapshot();
    let mut opened = 0;
    let mut moves = 0;
    for instance in 0..20 {
        let request = Request {
            view: view(&known),
            instance,
            ..by(failures(3))
        };
        let (reply, told) = place.run(&request, &policy());
        opened += u32::from(reply.status == Status::Opened);
        moves += told
            .iter()
            .filter(|it| {
                matches!(
                    it.what,
                    What::Moved {
                        to: State::Open,
                        ..
                    }
                )
            })
            .count();
    }
    assert_eq!((opened, moves), (1, 1));
    assert_eq!(place.lies().expect("a circuit").trips, 1);
}

pub(super) fn of_fifty_that_want_three_places_three_get_one(place: &mut dyn Place) {
    let policy = policy().probes(3);
    opened(place, &policy);
    place.wait(COOLDOWN);
    let replies = (0..50).map(|token| place.ask(acquire(token), &policy).status);
    let granted = replies.filter(|it| *it == Status::Granted).count();
    assert_eq!(granted, 3);
}

pub(super) fn a_lease_expires_by_itself_and_its_place_is_given_again(place: &mut dyn Place) {
    opened(place, &policy());
    place.wait(COOLDOWN);
    let short = |token| Command::Acquire { token, ttl: 60 };
    assert_eq!(place.ask(short(1), &policy()).status, Status::Granted);
    let full = place.ask(acquire(2), &policy());
    assert_eq!(full.status, Status::Full);
    place.wait(60);
    assert_eq!(place.ask(acquire(2), &policy()).status, Status::Granted);
    assert_eq!(leases(place), 1);
    // Its process was not gone after all.
    let late = place.ask(end(1, Verdict::Success), &policy());
    assert_eq!(late.status, Status::Stale);
    assert_eq!(phase(place), Phase::HalfOpen);
}

pub(super) fn giving_up_a_probe_frees_one_place_once(place: &mut dyn Place) {
    let policy = policy().probes(3);
    probing(place, &policy, &[1, 2, 3]);
    assert_eq!(
        place.ask(end(2, Verdict::Ignore), &policy).status,
        Status::Done
    );
    assert_eq!(
        place.ask(end(2, Verdict::Ignore), &policy).status,
        Status::Stale
    );
    assert_eq!(leases(place), 2);
    assert_eq!(place.ask(acquire(4), &policy).status, Status::Granted);
    assert_eq!(place.ask(acquire(5), &policy).status, Status::Full);
}

/// Callers tell how long ago calls ended and how much is left of an opening, never when; what
/// they do tell wrongly is a deadline, and that costs them their own commands alone.
pub(super) fn a_caller_whose_clock_is_wrong_by_an_hour_changes_nothing(place: &mut dyn Place) {
    let now = place.ask(failures(1), &policy()).now;
    let wrong = |deadline| Request {
        deadline,
        ..by(failures(1))
    };
    let (behind, _) = place.run(&wrong(now - HOUR), &policy());
    assert_eq!(behind.status, Status::Late);
    assert_eq!(place.lies().expect("a circuit").failures, 1);
    let (ahead, _) = place.run(&wrong(now + HOUR), &policy());
    assert_eq!(ahead.status, Status::Done);
    assert_eq!(place.lies().expect("a circuit").failures, 2);
    let reply = place.ask(failures(1), &policy());
    assert_eq!(reply.snapshot.until, reply.now + COOLDOWN);
}

/// What lies there as it would after the clock had fallen back by an hour.
fn an_hour_ahead(now: u64) -> Shared {
    let later = now + HOUR;
    let lease = |token| Lease {
        token,
        started: later,
        expires: later + 2_000,
        hung: false,
    };
    Shared {
        epoch: later,
        closed_at: later,
        suspect_since: later,
        told_at: later,
        reporters: vec![Reporter {
            instance: 1,
            at: later,
        }],
        round: Round {
            leases: vec![lease(1)],
            ..Round::default()
        },
        ..Shared::default()
    }
}

pub(super) fn a_store_whose_clock_falls_back_keeps_nothing_longer_than_it_was_meant_to_last(
    place: &mut dyn Place,
) {
    let now = place.ask(Command::Sync, &policy()).now;
    let ahead = an_hour_ahead(now);
    // An opening.
    place.lay(&Shared {
        phase: Phase::Open,
        until: now + HOUR + COOLDOWN,
        length: COOLDOWN,
        ..ahead.clone()
    });
    let Status::Wait(left) = place.ask(acquire(1), &policy()).status else {
        panic!("it is open");
    };
    assert!(left <= COOLDOWN, "{left}");
    place.wait(left);
    assert_eq!(place.ask(acquire(1), &policy()).status, Status::Granted);
    // A lease: no longer than the longest that there is.
    place.lay(&Shared {
        phase: Phase::HalfOpen,
        ..ahead.clone()
    });
    let renewed = place.ask(Command::Renew { token: 1, ttl: 50 }, &policy());
    assert_eq!(renewed.status, Status::Done);
    let lease = place.lies().expect("a circuit").round.leases[0];
    assert_eq!(
        (lease.started, lease.expires),
        (renewed.now, renewed.now + 50)
    );
    // An override.
    let cover = Cover {
        kind: CoverKind::ForcedOpen,
        id: ahead.epoch,
        began: now + HOUR,
        until: now + HOUR + 50,
        actor: "ann".to_owned(),
        why: String::new(),
    };
    place.lay(&Shared {
        cover: Some(cover),
        ..ahead
    });
    let reply = place.ask(Command::Sync, &policy());
    let until = reply.snapshot.cover.map(|it| it.until);
    assert_eq!(until, Some(reply.now + 50));
}

pub(super) fn a_store_whose_clock_runs_ahead_lets_time_pass(place: &mut dyn Place) {
    let policy = policy().cooldown(Duration::from_millis(HOUR));
    opened(place, &policy);
    let mut lies = place.lies().expect("a circuit");
    assert!(matches!(
        place.ask(acquire(1), &policy).status,
        Status::Wait(_)
    ));
    lies.until -= HOUR;
    place.lay(&lies);
    let reply = place.ask(acquire(1), &policy);
    assert_eq!(reply.status, Status::Granted);
    assert!(reply.snapshot.epoch > lies.epoch);
}

pub(super) fn a_command_after_its_deadline_does_nothing(place: &mut dyn Place) {
    let now = place.ask(failures(1), &policy()).now;
    let lies = place.lies();
    for command in [
        failures(3),
        Command::Force(Force::Reset),
        acquire(1),
        Command::Sync,
    ] {
        let request = Request {
            deadline: now - 1,
            ..by(command)
        };
        let (reply, told) = place.run(&request, &policy());
        assert_eq!(reply.status, Status::Late);
        assert!(reply.now >= now);
        assert_eq!(told, []);
    }
    assert_eq!(place.lies(), lies);
}

/// Giving it back is the end of a probe that says nothing.
pub(super) fn a_grant_that_nobody_waits_for_is_given_back_at_once(place: &mut dyn Place) {
    probing(place, &policy(), &[1]);
    assert_eq!(place.ask(acquire(2), &policy()).status, Status::Full);
    assert_eq!(
        place.ask(end(1, Verdict::Ignore), &policy()).status,
        Status::Done
    );
    assert_eq!(place.ask(acquire(2), &policy()).status, Status::Granted);
    assert_eq!(phase(place), Phase::HalfOpen);
}
