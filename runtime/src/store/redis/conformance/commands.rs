//! What is told of a circuit, and asked for it.

use crate::rules::Outcome;
use crate::rules::fleet::Command;
use crate::rules::fleet::Flush;
use crate::verdict::Verdict;

/// A lease that no test outlives.
pub(super) const LONG: u64 = 30_000;

pub(super) fn failures(failures: u32) -> Command {
    Command::Flush(Flush {
        failures,
        ..Flush::default()
    })
}

pub(super) fn acquire(token: u64) -> Command {
    Command::Acquire { token, ttl: LONG }
}

pub(super) fn renew(token: u64) -> Command {
    Command::Renew { token, ttl: LONG }
}

pub(super) fn end(token: u64, verdict: Verdict) -> Command {
    let is_slow = false;
    Command::End {
        token: Some(token),
        outcome: Outcome { verdict, is_slow },
    }
}
