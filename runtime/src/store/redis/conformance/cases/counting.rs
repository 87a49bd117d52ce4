//! Calls that have ended, and what comes of them.

use std::time::Duration;

use crate::policy::Policy;
use crate::policy::Window;
use crate::reason::Reason;
use crate::rules::Sums;
use crate::rules::fleet::Command;
use crate::rules::fleet::Delta;
use crate::rules::fleet::Flush;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Request;
use crate::rules::fleet::Status;
use crate::rules::fleet::What;
use crate::state::State;
use crate::store::redis::conformance::cases::*;
use crate::store::redis::conformance::place::Place;
use crate::store::redis::conformance::place::by;
use crate::store::redis::conformance::place::view;

pub(in crate::store::redis::conformance) fn asking_for_an_unknown_circuit_creates_nothing(
    place: &mut dyn Place,
) {
    let (reply, told) = place.run(&by(Command::Sync), &policy());
    assert_eq!(reply.status, Status::Done);
    assert_eq!(
        (reply.snapshot.epoch, reply.snapshot.phase),
        (0, Phase::Closed)
    );
    assert_eq!(told, []);
    assert_eq!(place.lies(), None);
}

pub(in crate::store::redis::conformance) fn a_flush_that_trips_stamps_the_time_of_the_store_and_a_new_epoch(
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

pub(in crate::store::redis::conformance) fn a_second_trip_of_the_same_epoch_changes_nothing(
    place: &mut dyn Place,
) {
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

pub(in crate::store::redis::conformance) fn whoever_asks_while_it_is_closed_needs_no_leave(
    place: &mut dyn Place,
) {
    closed(place);
    let lies = place.lies();
    assert_eq!(place.ask(acquire(1), &policy()).status, Status::Pass);
    assert_eq!(place.lies(), lies);
}

pub(in crate::store::redis::conformance) fn slow_calls_are_counted_beside_failures(
    place: &mut dyn Place,
) {
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
    let mut reply = place.ask(told(1, 0, 0), &policy);
    if let Status::Settling(left) = reply.status {
        place.wait(left);
        reply = place.ask(told(0, 0, 0), &policy);
    }
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

pub(in crate::store::redis::conformance) fn of_many_that_trip_at_once_one_does(
    place: &mut dyn Place,
) {
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
