//! A store that has lost what it knew, and callers that know it still.

use crate::reason::Reason;
use crate::rules::fleet::Command;
use crate::rules::fleet::Cover;
use crate::rules::fleet::CoverKind;
use crate::rules::fleet::Status;
use crate::rules::fleet::What;
use crate::rules::fleet::tests::*;

fn view(epoch: u64, phase: Phase) -> View {
    View {
        epoch,
        phase,
        ..View::default()
    }
}

fn open(epoch: u64) -> View {
    View {
        remaining: 4 * SECOND,
        length: 10 * SECOND,
        trips: 3,
        opened_by: Some(Reason::OpenFor),
        ..view(epoch, Phase::Open)
    }
}

fn with(view: View, command: Command) -> Request {
    Request {
        command,
        view,
        instance: 1,
        draw: 0,
        deadline: 0,
    }
}

/// M20
#[test]
fn an_opening_survives_the_loss_of_the_store() {
    let mut fleet = Fleet::new(policy());
    let epoch = fleet.now - SECOND;
    let reply = fleet.send(&with(open(epoch), Command::Sync));
    assert_eq!(reply.snapshot.epoch, epoch);
    assert_eq!(reply.snapshot.until, fleet.now + 4 * SECOND);
    assert_eq!(reply.snapshot.trips, 3);
    assert_eq!(fleet.told.len(), 1);
    assert_eq!(fleet.told[0].what, What::Restored);
    // The next who comes knows nothing better.
    let again = fleet.send(&with(open(epoch), Command::Sync));
    assert_eq!((again.snapshot, fleet.told.len()), (reply.snapshot, 0));
}

/// Which leases are out nobody knows, so none is given while one of them may be: neither of the
/// length that this caller asks for nor of the usual one.
#[test]
fn a_half_open_circuit_comes_back_open_until_no_lease_can_be_left() {
    let ttl = 5 * SECOND;
    for (command, length) in [
        (Command::Sync, 2 * SECOND),
        (Command::Acquire { token: 7, ttl }, ttl),
        (Command::Renew { token: 7, ttl }, ttl),
        (
            Command::Acquire {
                token: 7,
                ttl: HOUR,
            },
            LONG,
        ),
    ] {
        let mut fleet = Fleet::new(policy());
        let known = view(fleet.now, Phase::HalfOpen);
        let reply = fleet.send(&with(known, command));
        assert_eq!(reply.snapshot.phase, Phase::Open);
        assert_eq!(reply.snapshot.epoch, fleet.now + 1);
        assert_eq!(reply.snapshot.until, fleet.now + length);
        fleet.now += length;
        assert_eq!(fleet.ask(acquire(8)).status, Status::Granted);
    }
}

#[test]
fn a_closed_circuit_of_which_nothing_is_known_is_not_written() {
    let mut fleet = Fleet::new(policy());
    let known = view(fleet.now, Phase::Closed);
    let reply = fleet.send(&with(known, Command::Sync));
    assert_eq!(reply.snapshot.epoch, fleet.now);
    assert_eq!((fleet.state.clone(), fleet.told.len()), (None, 0));
    // What is counted next is counted in the epoch that everybody is in.
    let known = view(fleet.now, Phase::Closed);
    fleet.send(&with(known.clone(), failures(2)));
    assert_eq!(fleet.lies().epoch, known.epoch);
    assert_eq!(fleet.send(&with(known, failures(1))).status, Status::Opened);
}

/// A replica that lacks the last transitions was promoted.
#[test]
fn a_store_that_has_gone_back_is_told_of_what_came_after() {
    let mut fleet = Fleet::new(policy());
    fleet.open();
    let later = view(fleet.lies().epoch + 1, Phase::Closed);
    let reply = fleet.send(&with(later, acquire(1)));
    assert_eq!(reply.status, Status::Pass);
    assert_eq!(fleet.phase(), Phase::Closed);
    assert_eq!(fleet.told[0].what, What::Restored);
}

#[test]
fn whoever_knows_of_no_later_epoch_is_not_believed() {
    let mut fleet = Fleet::new(policy());
    fleet.open();
    let before = fleet.state.clone();
    for epoch in [0, fleet.lies().epoch - 1, fleet.lies().epoch] {
        fleet.send(&with(view(epoch, Phase::Closed), Command::Sync));
        assert_eq!(fleet.state, before);
    }
}

#[test]
fn an_override_survives_with_what_is_left_of_it() {
    let mut fleet = Fleet::new(policy());
    let laid = |until| View {
        cover: Some(Cover {
            kind: CoverKind::ForcedOpen,
            id: 7,
            began: 0,
            until,
            actor: "ann".to_owned(),
            why: "drill".to_owned(),
        }),
        ..view(1_700_000_000_000, Phase::Closed)
    };
    let reply = fleet.send(&with(laid(SECOND), acquire(1)));
    assert_eq!(reply.status, Status::Refused);
    let cover = fleet.lies().cover.clone().expect("an override");
    assert_eq!((cover.id, &*cover.actor, &*cover.why), (7, "ann", "drill"));
    assert_eq!((cover.began, cover.until), (fleet.now, fleet.now + SECOND));
    // One that has ended meanwhile ends.
    fleet.state = None;
    let reply = fleet.send(&with(laid(0), acquire(1)));
    assert_eq!(reply.status, Status::Pass);
    assert_eq!(fleet.lies().cover, None);
}

/// No view can keep it open for longer than anything lasts.
#[test]
fn what_a_view_asks_for_is_cut_to_the_longest_that_there_is() {
    let mut fleet = Fleet::new(policy());
    let known = View {
        remaining: u64::MAX,
        ..open(7)
    };
    let until = fleet.send(&with(known, Command::Sync)).snapshot.until;
    assert!(until < 1 << 53, "{until}");
}
