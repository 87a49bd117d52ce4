//! Numbers that somebody changes while the processes run.

use crate::rules::fleet::Command;
use crate::rules::fleet::Force;
use crate::rules::fleet::Live;
use crate::rules::fleet::Request;
use crate::rules::fleet::Status;
use crate::rules::fleet::View;
use crate::rules::fleet::What;
use crate::store::redis::conformance::cases::*;
use crate::store::redis::conformance::place::Place;
use crate::store::redis::conformance::place::by;

/// Whatever is written in it, and whatever else is known of the circuit.
const TEXT: &str = "threshold=7 a|b;c:d%7c größe";

fn renumber(text: &str, after: u64) -> Command {
    Command::Force(Force::Renumber {
        text: text.to_owned(),
        after,
    })
}

pub(in crate::store::redis::conformance) fn a_live_change_is_told_to_all_and_to_whoever_asks_later(
    place: &mut dyn Place,
) {
    let (done, told) = place.run(&by(renumber(TEXT, 0)), &policy());
    assert_eq!((done.status, done.snapshot.live), (Status::Done, done.now));
    assert_eq!(told.len(), 1);
    assert_eq!(
        (told[0].what, told[0].live.as_deref()),
        (What::Renumbered, Some(TEXT))
    );
    assert_eq!((done.snapshot.epoch, told[0].snapshot.live), (0, done.now));
    let asked = place.ask(Command::Sync, &policy());
    assert_eq!(asked.live.as_deref(), Some(TEXT));
    // One that does not know of it is none.
    let (stale, told) = place.run(&by(renumber("probes=2", 0)), &policy());
    assert_eq!((stale.status, told), (Status::Stale, vec![]));
    let (back, _) = place.run(&by(renumber("", done.snapshot.live)), &policy());
    assert!(back.snapshot.live > done.snapshot.live);
    assert_eq!(
        place.ask(Command::Sync, &policy()).live.as_deref(),
        Some("")
    );
}

pub(in crate::store::redis::conformance) fn a_live_change_that_was_lost_is_put_back_and_told(
    place: &mut dyn Place,
) {
    let known = Request {
        view: View {
            live: Live {
                id: 7,
                text: TEXT.to_owned(),
            },
            ..View::default()
        },
        ..by(failures(1))
    };
    let (reply, told) = place.run(&known, &policy());
    assert_eq!((reply.status, reply.snapshot.live), (Status::Done, 7));
    assert_eq!(
        (told[0].what, told[0].live.as_deref()),
        (What::Renumbered, Some(TEXT))
    );
    let lies = place.lies().expect("a circuit");
    assert_eq!((lies.live, lies.failures), (known.view.live.clone(), 1));
    let (_, told) = place.run(&known, &policy());
    assert!(told.iter().all(|it| it.what != What::Renumbered));
}
