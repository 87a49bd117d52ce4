//! Where a case is played: something that does one command at a time on one circuit.

use std::collections::HashMap;
use std::thread;
use std::time::Duration;

use crate::policy::Policy;
use crate::rules::fleet::Command;
use crate::rules::fleet::Live;
use crate::rules::fleet::Reply;
use crate::rules::fleet::Request;
use crate::rules::fleet::Shared;
use crate::rules::fleet::Snapshot;
use crate::rules::fleet::Told;
use crate::rules::fleet::View;
use crate::rules::fleet::apply;
use crate::store::redis::twin::Twin;

pub(super) const CIRCUIT: &str = "stripe";

pub(super) trait Place {
    /// Does it, and says what everybody was told.
    fn run(&mut self, request: &Request, policy: &Policy) -> (Reply, Vec<Told>);

    fn lies(&mut self) -> Option<Shared>;

    fn lay(&mut self, state: &Shared);

    /// Lets so many milliseconds pass, or a few more.
    fn wait(&mut self, millis: u64);

    /// By somebody who knows all that is to be known.
    fn ask(&mut self, command: Command, policy: &Policy) -> Reply {
        let view = self.lies().map(|it| view(&it.snapshot()));
        let request = Request {
            view: view.unwrap_or_default(),
            ..by(command)
        };
        self.run(&request, policy).0
    }
}

/// By somebody who knows nothing of it.
pub(super) fn by(command: Command) -> Request {
    Request {
        command,
        ..Request::sync()
    }
}

pub(super) fn view(snapshot: &Snapshot) -> View {
    View {
        epoch: snapshot.epoch,
        phase: snapshot.phase,
        remaining: snapshot.length,
        length: snapshot.length,
        trips: snapshot.trips,
        opened_by: snapshot.opened_by,
        cover: None,
        live: Live::default(),
    }
}

/// The rules, and a time that is set by hand.
pub(super) struct Hand {
    circuits: HashMap<&'static str, Shared>,
    now: u64,
}

impl Hand {
    pub(super) fn new() -> Self {
        Self {
            circuits: HashMap::new(),
            now: 1_800_000_000_000,
        }
    }
}

impl Place for Hand {
    fn run(&mut self, request: &Request, policy: &Policy) -> (Reply, Vec<Told>) {
        let applied = apply(self.circuits.get(CIRCUIT), request, policy, self.now);
        if let Some(state) = applied.state
            && applied.is_changed
        {
            self.circuits.insert(CIRCUIT, state);
        }
        (applied.reply, applied.told)
    }

    fn lies(&mut self) -> Option<Shared> {
        self.circuits.get(CIRCUIT).cloned()
    }

    fn lay(&mut self, state: &Shared) {
        self.circuits.insert(CIRCUIT, state.clone());
    }

    fn wait(&mut self, millis: u64) {
        self.now += millis;
    }
}

/// The script, and the time of the server.
pub(super) struct Real {
    twin: Twin,
}

impl Real {
    pub(super) fn on(url: &str) -> Self {
        Self {
            twin: Twin::connect(url),
        }
    }
}

impl Place for Real {
    fn run(&mut self, request: &Request, policy: &Policy) -> (Reply, Vec<Told>) {
        let reply = self.twin.run(CIRCUIT, request, policy);
        (reply, self.twin.hear(CIRCUIT))
    }

    fn lies(&mut self) -> Option<Shared> {
        self.twin.state(CIRCUIT)
    }

    fn lay(&mut self, state: &Shared) {
        self.twin.lay(CIRCUIT, state);
    }

    fn wait(&mut self, millis: u64) {
        thread::sleep(Duration::from_millis(millis));
    }
}
