//! Who may probe, and what the probes decide.

use std::time::Duration;

use crate::policy::Window;
use crate::reason::Reason;
use crate::rules::Outcome;
use crate::rules::fleet::Command;
use crate::rules::fleet::Delta;
use crate::rules::fleet::Flush;
use crate::rules::fleet::Force;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Request;
use crate::rules::fleet::Status;
use crate::store::redis::conformance::cases::*;
use crate::store::redis::conformance::place::Place;
use crate::store::redis::conformance::place::by;
use crate::store::redis::conformance::place::view;
use crate::verdict::Verdict;

pub(in crate::store::redis::conformance) fn a_moment_before_the_end_nobody_may_probe(
    place: &mut dyn Place,
) {
    // Long enough for any machine.
    let policy = policy().cooldown(Duration::from_secs(10));
    opened(place, &policy);
    let reply = place.ask(acquire(1), &policy);
    assert!(
        matches!(reply.status, Status::Wait(1..=10_000)),
        "{reply:?}"
    );
    assert_eq!(reply.snapshot.phase, Phase::Open);
}

pub(in crate::store::redis::conformance) fn at_the_end_the_first_who_asks_may_probe(
    place: &mut dyn Place,
) {
    // Long enough for any machine, and short enough to wait for.
    let policy = policy().cooldown(Duration::from_millis(500));
    opened(place, &policy);
    let Status::Wait(left) = place.ask(acquire(1), &policy).status else {
        panic!("it is open");
    };
    // Whoever comes when it was told to is not sent away again.
    place.wait(left);
    let reply = place.ask(acquire(1), &policy);
    assert_eq!(reply.status, Status::Granted);
    assert_eq!(reply.snapshot.phase, Phase::HalfOpen);
    assert_eq!(leases(place), 1);
}

pub(in crate::store::redis::conformance) fn a_second_probe_does_not_begin_another_round(
    place: &mut dyn Place,
) {
    let policy = policy().probes(2);
    probing(place, &policy, &[1]);
    let epoch = place.lies().map(|it| it.epoch);
    let second = place.ask(acquire(2), &policy);
    assert_eq!(second.status, Status::Granted);
    assert_eq!(Some(second.snapshot.epoch), epoch);
}

pub(in crate::store::redis::conformance) fn so_many_probes_as_may_be_and_no_more(
    place: &mut dyn Place,
) {
    let policy = policy().probes(3);
    probing(place, &policy, &[1, 2, 3]);
    assert_eq!(place.ask(acquire(4), &policy).status, Status::Full);
    // Whoever has leave asks for nothing new.
    assert_eq!(place.ask(acquire(2), &policy).status, Status::Granted);
    assert_eq!(leases(place), 3);
}

pub(in crate::store::redis::conformance) fn slow_and_failed_probes_are_counted_against_the_round(
    place: &mut dyn Place,
) {
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

pub(in crate::store::redis::conformance) fn closing_forgets_leases_and_counts(
    place: &mut dyn Place,
) {
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

pub(in crate::store::redis::conformance) fn the_end_of_a_probe_without_a_lease_is_dropped(
    place: &mut dyn Place,
) {
    probing(place, &policy(), &[1]);
    let lies = place.lies();
    for verdict in [Verdict::Success, Verdict::Failure, Verdict::Ignore] {
        assert_eq!(place.ask(end(2, verdict), &policy()).status, Status::Stale);
    }
    assert_eq!(place.lies(), lies);
}

pub(in crate::store::redis::conformance) fn the_end_of_a_probe_of_nothing_creates_nothing(
    place: &mut dyn Place,
) {
    for command in [
        end(1, Verdict::Success),
        end(1, Verdict::Failure),
        renew(1),
        Command::Force(Force::Clear),
    ] {
        let (reply, told) = place.run(&by(command), &policy());
        assert_eq!(reply.status, Status::Stale);
        assert_eq!(told, []);
    }
    assert_eq!(place.lies(), None);
}

pub(in crate::store::redis::conformance) fn a_command_of_an_older_epoch_changes_nothing_and_says_what_stands(
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
        renew(1),
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

pub(in crate::store::redis::conformance) fn a_failed_probe_opens_afresh_and_clears_the_leases(
    place: &mut dyn Place,
) {
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

pub(in crate::store::redis::conformance) fn of_fifty_that_want_three_places_three_get_one(
    place: &mut dyn Place,
) {
    let policy = policy().probes(3);
    opened(place, &policy);
    place.wait(COOLDOWN);
    let replies = (0..50).map(|token| place.ask(acquire(token), &policy).status);
    let granted = replies.filter(|it| *it == Status::Granted).count();
    assert_eq!(granted, 3);
}

pub(in crate::store::redis::conformance) fn a_lease_expires_by_itself_and_its_place_is_given_again(
    place: &mut dyn Place,
) {
    opened(place, &policy());
    place.wait(COOLDOWN);
    let short = |token| Command::Acquire { token, ttl: 500 };
    assert_eq!(place.ask(short(1), &policy()).status, Status::Granted);
    let full = place.ask(acquire(2), &policy());
    assert_eq!(full.status, Status::Full);
    place.wait(500);
    assert_eq!(place.ask(acquire(2), &policy()).status, Status::Granted);
    assert_eq!(leases(place), 1);
    // Its process was not gone after all.
    let late = place.ask(end(1, Verdict::Success), &policy());
    assert_eq!(late.status, Status::Stale);
    assert_eq!(phase(place), Phase::HalfOpen);
}

pub(in crate::store::redis::conformance) fn giving_up_a_probe_frees_one_place_once(
    place: &mut dyn Place,
) {
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

/// Giving it back is the end of a probe that says nothing.
pub(in crate::store::redis::conformance) fn a_grant_that_nobody_waits_for_is_given_back_at_once(
    place: &mut dyn Place,
) {
    probing(place, &policy(), &[1]);
    assert_eq!(place.ask(acquire(2), &policy()).status, Status::Full);
    assert_eq!(
        place.ask(end(1, Verdict::Ignore), &policy()).status,
        Status::Done
    );
    assert_eq!(place.ask(acquire(2), &policy()).status, Status::Granted);
    assert_eq!(phase(place), Phase::HalfOpen);
}
