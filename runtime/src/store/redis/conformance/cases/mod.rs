//! The cases that every store has to pass.

mod counting;
mod live;
mod probing;
mod timing;

use std::time::Duration;

use crate::policy::Policy;
use crate::rules::fleet::Command;
use crate::rules::fleet::Force;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Status;
use crate::store::redis::conformance::commands::acquire;
use crate::store::redis::conformance::commands::end;
use crate::store::redis::conformance::commands::failures;
use crate::store::redis::conformance::commands::renew;
use crate::store::redis::conformance::place::Place;

pub(super) use counting::*;
pub(super) use live::*;
pub(super) use probing::*;
pub(super) use timing::*;

const HOUR: u64 = 3_600_000;

/// An opening lasts so long here, in milliseconds.
const COOLDOWN: u64 = 120;

fn policy() -> Policy {
    Policy::new()
        .threshold(3)
        .cooldown(Duration::from_millis(COOLDOWN))
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
