//! What somebody lays over the circuit of a whole fleet.

use crate::reason::Reason;
use crate::rules::fleet::Command;
use crate::rules::fleet::CoverKind;
use crate::rules::fleet::Force;
use crate::rules::fleet::Status;
use crate::rules::fleet::What;
use crate::rules::fleet::tests::*;
use crate::state::State;

fn moved(fleet: &Fleet) -> Vec<(State, State, &'static str)> {
    let moves = fleet.told.iter().filter_map(|told| match told.what {
        What::Moved { from, to, reason } => Some((from, to, reason.label())),
        What::Suspect | What::Restored | What::Renumbered => None,
    });
    moves.collect()
}

/// M8
#[test]
fn forced_open_keeps_what_is_left_of_an_opening_beneath() {
    let mut fleet = Fleet::new(policy());
    fleet.open();
    fleet.now += 4 * SECOND;
    fleet.ask(cover(CoverKind::ForcedOpen, 100 * SECOND));
    fleet.now += 100 * SECOND - 1;
    assert_eq!(fleet.ask(acquire(1)).status, Status::Refused);
    // Nobody came for a while after its end.
    fleet.now += 1 + 2 * SECOND;
    assert_eq!(fleet.ask(acquire(1)).status, Status::Wait(4 * SECOND));
    let ended = (State::ForcedOpen, State::Open, "override_ended");
    assert_eq!(moved(&fleet), [ended]);
    fleet.now += 4 * SECOND;
    assert_eq!(fleet.ask(acquire(1)).status, Status::Granted);
}

#[test]
fn an_opening_that_was_over_before_it_was_forced_is_over_after_it() {
    let mut fleet = Fleet::new(policy());
    fleet.open();
    fleet.now += 11 * SECOND;
    fleet.ask(cover(CoverKind::ForcedOpen, SECOND));
    fleet.now += SECOND;
    assert_eq!(fleet.ask(acquire(1)).status, Status::Granted);
}

#[test]
fn forced_open_keeps_the_counts_of_a_closed_circuit() {
    let mut fleet = Fleet::new(policy());
    fleet.ask(failures(2));
    fleet.ask(cover(CoverKind::ForcedOpen, SECOND));
    assert_eq!(fleet.ask(failures(1)).status, Status::Stale);
    fleet.now += SECOND;
    // What ended before everybody knew of the end is about an epoch that is over.
    assert_eq!(fleet.ask(failures(1)).status, Status::Stale);
    assert_eq!(fleet.ask(failures(1)).status, Status::Opened);
}

#[test]
fn beneath_forced_open_a_half_open_circuit_starts_a_fresh_round() {
    let mut fleet = Fleet::new(policy());
    fleet.probe(1);
    fleet.ask(cover(CoverKind::ForcedOpen, SECOND));
    assert_eq!(fleet.ask(end(1, Verdict::Success)).status, Status::Stale);
    fleet.now += SECOND;
    assert_eq!(fleet.ask(end(1, Verdict::Success)).status, Status::Stale);
    assert_eq!(fleet.phase(), Phase::HalfOpen);
    assert_eq!(fleet.ask(acquire(2)).status, Status::Granted);
}

#[test]
fn forced_closed_and_shadow_end_closed_with_nothing_counted() {
    for kind in [CoverKind::ForcedClosed, CoverKind::Shadow] {
        let mut fleet = Fleet::new(policy());
        fleet.open();
        fleet.ask(cover(kind, SECOND));
        assert_eq!(fleet.ask(acquire(1)).status, Status::Pass);
        let epoch = fleet.lies().epoch;
        fleet.now += SECOND;
        let reply = fleet.ask(Command::Sync);
        assert!(reply.snapshot.epoch > epoch);
        assert_eq!(
            moved(&fleet),
            [(kind.state(), State::Closed, "override_ended")]
        );
        assert_eq!((fleet.lies().trips, fleet.lies().until), (0, 0));
        assert_eq!(fleet.ask(failures(2)).status, Status::Done);
    }
}

/// The earlier one ends as it would have.
#[test]
fn a_later_override_replaces_an_earlier_one() {
    let mut fleet = Fleet::new(policy());
    fleet.open();
    fleet.ask(cover(CoverKind::ForcedClosed, 100 * SECOND));
    fleet.ask(cover(CoverKind::ForcedOpen, SECOND));
    let moves = [(State::ForcedClosed, State::ForcedOpen, "override")];
    assert_eq!(moved(&fleet), moves);
    fleet.now += SECOND;
    assert_eq!(fleet.ask(acquire(1)).status, Status::Pass);
    assert_eq!(fleet.phase(), Phase::Closed);
}

/// A guard that is dropped late must not take off what somebody else has laid there since.
#[test]
fn an_override_can_be_taken_off_by_whoever_laid_it_and_no_other_with_it() {
    let mut fleet = Fleet::new(policy());
    let first = fleet.ask(cover(CoverKind::ForcedOpen, HOUR)).snapshot.epoch;
    let second = fleet.ask(cover(CoverKind::ForcedOpen, HOUR)).snapshot.epoch;
    let only = |id| Command::Force(Force::ClearOnly(id));
    assert_eq!(fleet.ask(only(first)).status, Status::Stale);
    assert!(fleet.lies().cover.is_some());
    assert_eq!(fleet.ask(only(second)).status, Status::Done);
    assert_eq!(fleet.lies().cover, None);
    assert_eq!(fleet.ask(only(second)).status, Status::Stale);
    assert_eq!(
        fleet.ask(Command::Force(Force::Clear)).status,
        Status::Stale
    );
}

#[test]
fn a_reset_reaches_beneath_and_leaves_the_override() {
    let mut fleet = Fleet::new(policy());
    fleet.open();
    fleet.ask(cover(CoverKind::ForcedOpen, SECOND));
    fleet.ask(Command::Force(Force::Reset));
    assert_eq!(
        moved(&fleet),
        [(State::ForcedOpen, State::ForcedOpen, "reset")]
    );
    assert_eq!(fleet.ask(acquire(1)).status, Status::Refused);
    fleet.now += SECOND;
    assert_eq!(fleet.ask(acquire(1)).status, Status::Pass);
}

/// An override of no length is one of the shortest.
#[test]
fn an_override_is_over_at_exactly_its_end() {
    let mut fleet = Fleet::new(policy());
    let reply = fleet.ask(cover(CoverKind::ForcedOpen, 0));
    assert_eq!(reply.snapshot.cover.map(|it| it.until), Some(fleet.now + 1));
    assert_eq!(fleet.ask(acquire(1)).status, Status::Refused);
    fleet.now += 1;
    assert_eq!(fleet.ask(acquire(1)).status, Status::Pass);
    assert_eq!(fleet.lies().opened_by.map(Reason::label), None);
}
