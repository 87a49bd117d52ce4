//! What the law says in its corners, on a time that is set by hand.

mod clock;
mod counting;
mod live;
mod openings;
mod overrides;
mod probes;
mod restored;

use std::time::Duration;

use crate::policy::Policy;
use crate::rules::Outcome;
use crate::rules::fleet::Applied;
use crate::rules::fleet::Command;
use crate::rules::fleet::CoverKind;
use crate::rules::fleet::Delta;
use crate::rules::fleet::Flush;
use crate::rules::fleet::Force;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Reply;
use crate::rules::fleet::Request;
use crate::rules::fleet::Shared;
use crate::rules::fleet::Status;
use crate::rules::fleet::Told;
use crate::rules::fleet::View;
use crate::rules::fleet::apply;
use crate::verdict::Verdict;

const SECOND: u64 = 1_000;
const HOUR: u64 = 3_600 * SECOND;

/// A lease that lasts as long as any.
const LONG: u64 = 60 * SECOND;

/// A store with one circuit, and whoever knows all that is to be known of it.
struct Fleet {
    policy: Policy,
    state: Option<Shared>,
    now: u64,
    told: Vec<Told>,
}

impl Fleet {
    fn new(policy: Policy) -> Self {
        assert_eq!(policy.check(), Ok(()));
        Self {
            policy,
            state: None,
            now: 1_800_000_000_000,
            told: Vec::new(),
        }
    }

    fn ask(&mut self, command: Command) -> Reply {
        self.ask_as(1, command)
    }

    fn ask_as(&mut self, instance: u64, command: Command) -> Reply {
        let view = View {
            epoch: self.state.as_ref().map_or(0, |it| it.epoch),
            ..View::default()
        };
        self.send(&Request {
            command,
            view,
            instance,
            draw: 0,
            deadline: 0,
        })
    }

    /// What is not written is not there the next time.
    fn send(&mut self, request: &Request) -> Reply {
        let applied: Applied = apply(self.state.as_ref(), request, &self.policy, self.now);
        if applied.is_changed {
            self.state = applied.state;
        }
        self.told = applied.told;
        applied.reply
    }

    fn lies(&self) -> &Shared {
        self.state.as_ref().expect("a circuit")
    }

    /// A policy with a threshold has opened it.
    fn open(&mut self) {
        let threshold = self.policy.get_threshold().expect("a threshold");
        assert_eq!(self.ask(failures(threshold)).status, Status::Opened);
    }

    /// It is half-open, and the probe `token` is out.
    fn probe(&mut self, token: u64) {
        self.open();
        self.now = self.lies().until;
        assert_eq!(self.ask(acquire(token)).status, Status::Granted);
    }

    fn phase(&self) -> Phase {
        self.lies().phase
    }
}

fn policy() -> Policy {
    Policy::new().threshold(3).cooldown(Duration::from_secs(10))
}

fn failures(failures: u32) -> Command {
    Command::Flush(Flush {
        failures,
        ..Flush::default()
    })
}

fn calls(calls: u64, failures: u64) -> Command {
    calls_ago(0, calls, failures)
}

fn calls_ago(age: u64, calls: u64, failures: u64) -> Command {
    let slow = 0;
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

fn cover(kind: CoverKind, ttl: u64) -> Command {
    Command::Force(Force::Cover {
        kind,
        ttl,
        actor: "ann".to_owned(),
        why: String::new(),
    })
}
