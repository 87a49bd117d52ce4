//! Faults that are put around the law, to see that the search finds them.

use crate::policy::Policy;
use crate::rules::fleet::Applied;
use crate::rules::fleet::Command;
use crate::rules::fleet::Lease;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Request;
use crate::rules::fleet::Shared;
use crate::rules::fleet::apply;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seeded {
    Nothing,
    /// The end of a probe counts whatever has become of its epoch and its lease.
    EndUnchecked,
    LeasesForEver,
    /// Epochs are counted, and begin anew where the store has lost them.
    EpochsCounted,
    /// The last process does not hear what others do, on a connection that lives.
    MessageLost,
    /// A half-open circuit is put back as it was, and its places are taken for free.
    HalfOpenPutBack,
    /// An answer is believed whatever was heard since the store was asked.
    AnswerCertain,
    /// An answer is believed if nothing was heard since that was news.
    CertainWithoutNews,
    DeadlineIgnored,
    /// A flush counts in whatever epoch it finds.
    FlushUnchecked,
}

impl Seeded {
    /// One step of the law, with the fault around it.
    pub(super) fn apply(
        self,
        before: Option<&Shared>,
        request: &Request,
        policy: &Policy,
        now: u64,
    ) -> Applied {
        let mut before = before.cloned();
        let mut request = request.clone();
        match (self, &mut before, &mut request.command) {
            (Self::EndUnchecked, Some(before), Command::End { token, .. }) => {
                request.view.epoch = before.epoch;
                let leases = &mut before.round.leases;
                if let Some(token) = *token
                    && leases
                        .iter()
                        .all(|it| it.token != token || it.expires <= now)
                {
                    leases.retain(|it| it.token != token);
                    leases.push(Lease {
                        token,
                        started: now,
                        expires: now + 1,
                        hung: false,
                    });
                }
            }
            (Self::LeasesForEver, Some(before), _) => {
                for lease in &mut before.round.leases {
                    lease.expires = lease.expires.max(now + 1);
                }
            }
            (Self::HalfOpenPutBack, before, _) => {
                let known = before.as_ref().map_or(0, |it| it.epoch);
                if request.view.epoch > known && request.view.phase == Phase::HalfOpen {
                    *before = Some(Shared {
                        epoch: request.view.epoch,
                        phase: Phase::HalfOpen,
                        ..Shared::default()
                    });
                }
            }
            (Self::DeadlineIgnored, ..) => request.deadline = 0,
            (Self::FlushUnchecked, _, Command::Flush(_)) => request.view.epoch = 0,
            _ => {}
        }
        let mut applied = apply(before.as_ref(), &request, policy, now);
        if self == Self::EpochsCounted {
            let known = before.map_or(0, |it| it.epoch).max(request.view.epoch);
            count(&mut applied, known);
        }
        applied
    }
}

/// Epochs that were made of the time become the ones after `known`.
fn count(applied: &mut Applied, known: u64) {
    let mut last = known;
    let mut made = known;
    let mut next = |epoch: &mut u64| {
        if *epoch > made {
            made = *epoch;
            last += 1;
        }
        if *epoch > known {
            *epoch = last;
        }
    };
    for told in &mut applied.told {
        next(&mut told.snapshot.epoch);
    }
    next(&mut applied.reply.snapshot.epoch);
    if let Some(state) = &mut applied.state {
        state.epoch = applied.reply.snapshot.epoch;
    }
}
