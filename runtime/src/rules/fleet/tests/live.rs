//! Numbers that somebody changes while the processes run.

use crate::rules::fleet::Live;
use crate::rules::fleet::What;
use crate::rules::fleet::tests::*;

fn renumber(text: &str, after: u64) -> Command {
    Command::Force(Force::Renumber {
        text: text.to_owned(),
        after,
    })
}

fn with(live: Live, command: Command) -> Request {
    Request {
        command,
        view: View {
            live,
            ..View::default()
        },
        instance: 1,
        draw: 0,
        deadline: 0,
    }
}

fn live(id: u64, text: &str) -> Live {
    Live {
        id,
        text: text.to_owned(),
    }
}

fn told(fleet: &Fleet) -> Vec<(What, Option<&str>)> {
    let told = fleet.told.iter();
    told.map(|told| (told.what, told.live.as_deref())).collect()
}

#[test]
fn a_live_change_is_told_to_all_and_moves_nothing() {
    let mut fleet = Fleet::new(policy());
    fleet.ask(failures(2));
    let before = fleet.lies().clone();
    fleet.now += SECOND;
    let reply = fleet.ask(renumber("threshold=5", 0));
    assert_eq!(reply.status, Status::Done);
    assert_eq!((reply.snapshot.live, reply.live), (fleet.now, None));
    assert_eq!(told(&fleet), [(What::Renumbered, Some("threshold=5"))]);
    let expected = Shared {
        live: live(fleet.now, "threshold=5"),
        ..before
    };
    assert_eq!(*fleet.lies(), expected);
    // Whoever comes later asks for it, and every answer says which one it is.
    let reply = fleet.ask(Command::Sync);
    assert_eq!(reply.live.as_deref(), Some("threshold=5"));
    let reply = fleet.ask(failures(1));
    assert_eq!((reply.snapshot.live, reply.live), (expected.live.id, None));
}

#[test]
fn each_live_change_is_a_later_one_also_where_the_clock_falls_back() {
    let mut fleet = Fleet::new(policy());
    fleet.ask(renumber("probes=2", 0));
    let first = fleet.lies().live.id;
    assert_eq!(first, fleet.now);
    fleet.now -= HOUR;
    fleet.ask(renumber("probes=3", first));
    assert_eq!(fleet.lies().live, live(first + 1, "probes=3"));
    // Taken back, it is a change like any other.
    fleet.ask(renumber("", first + 1));
    assert_eq!(fleet.lies().live, live(first + 2, ""));
    assert_eq!(fleet.ask(Command::Sync).live.as_deref(), Some(""));
}

#[test]
fn of_two_changes_that_do_not_know_of_each_other_the_second_is_none() {
    let mut fleet = Fleet::new(policy());
    fleet.ask(renumber("probes=2", 0));
    let before = fleet.state.clone();
    let reply = fleet.ask(renumber("threshold=9", 0));
    assert_eq!(reply.status, Status::Stale);
    assert_eq!((told(&fleet), fleet.state.clone()), (vec![], before));
}

#[test]
fn a_live_change_survives_the_loss_of_the_store_whatever_else_is_known() {
    for command in [Command::Sync, acquire(1), failures(1)] {
        let mut fleet = Fleet::new(policy());
        let known = live(7, "threshold=5");
        let reply = fleet.send(&with(known.clone(), command));
        assert_eq!(reply.snapshot.live, 7);
        assert_eq!(fleet.lies().live, known);
        assert_eq!(told(&fleet)[0], (What::Renumbered, Some("threshold=5")));
        // The next who comes knows nothing better, and one who knows less has no say.
        for known in [known.clone(), live(6, "probes=9"), live(0, "")] {
            fleet.send(&with(known, Command::Sync));
            assert_eq!((told(&fleet), fleet.lies().live.id), (vec![], 7));
        }
    }
}

/// The store is given back both, and neither takes the other's place.
#[test]
fn a_circuit_that_comes_back_keeps_the_live_change_that_the_store_has() {
    let mut fleet = Fleet::new(policy());
    fleet.ask(renumber("probes=2", 0));
    let id = fleet.lies().live.id;
    let opening = Request {
        view: View {
            epoch: fleet.now + 1,
            phase: Phase::Open,
            remaining: SECOND,
            length: SECOND,
            ..View::default()
        },
        ..with(Live::default(), Command::Sync)
    };
    let reply = fleet.send(&opening);
    assert_eq!(reply.snapshot.phase, Phase::Open);
    assert_eq!(fleet.lies().live, live(id, "probes=2"));
    assert_eq!(told(&fleet), [(What::Restored, None)]);
}

#[test]
fn neither_a_reset_nor_an_opening_takes_a_live_change_back() {
    let mut fleet = Fleet::new(policy());
    fleet.ask(renumber("probes=2", 0));
    let before = fleet.lies().live.clone();
    fleet.open();
    fleet.ask(cover(CoverKind::ForcedClosed, SECOND));
    fleet.ask(Command::Force(Force::Reset));
    assert_eq!(fleet.lies().live, before);
}
