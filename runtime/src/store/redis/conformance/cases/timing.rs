//! Clocks that are wrong, and what comes too late.

use std::time::Duration;

use crate::rules::fleet::Command;
use crate::rules::fleet::Cover;
use crate::rules::fleet::CoverKind;
use crate::rules::fleet::Force;
use crate::rules::fleet::Lease;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Reporter;
use crate::rules::fleet::Request;
use crate::rules::fleet::Round;
use crate::rules::fleet::Shared;
use crate::rules::fleet::Status;
use crate::store::redis::conformance::cases::*;
use crate::store::redis::conformance::place::Place;
use crate::store::redis::conformance::place::by;

/// Callers tell how long ago calls ended and how much is left of an opening, never when; what
/// they do tell wrongly is a deadline, and that costs them their own commands alone.
pub(in crate::store::redis::conformance) fn a_caller_whose_clock_is_wrong_by_an_hour_changes_nothing(
    place: &mut dyn Place,
) {
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

pub(in crate::store::redis::conformance) fn a_store_whose_clock_falls_back_keeps_nothing_longer_than_it_was_meant_to_last(
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

pub(in crate::store::redis::conformance) fn a_store_whose_clock_runs_ahead_lets_time_pass(
    place: &mut dyn Place,
) {
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

pub(in crate::store::redis::conformance) fn a_command_after_its_deadline_does_nothing(
    place: &mut dyn Place,
) {
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
