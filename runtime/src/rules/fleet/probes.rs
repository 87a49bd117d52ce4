//! Leases: who may probe a half-open circuit, and what the probes decide.

use crate::reason::Reason;
use crate::rules::Outcome;
use crate::rules::fleet::CoverKind;
use crate::rules::fleet::Lease;
use crate::rules::fleet::Phase;
use crate::rules::fleet::motion::Asked;
use crate::rules::fleet::motion::Motion;
use crate::rules::fleet::motion::millis;
use crate::rules::fleet::request::Status;
use crate::rules::half_open;
use crate::rules::half_open::Decision;
use crate::rules::half_open::Vote;
use crate::verdict::Verdict;

impl Motion<'_> {
    pub(super) fn acquire(&mut self, token: u64, ttl: u64) -> Status {
        match self.state.cover.as_ref().map(|cover| cover.kind) {
            Some(CoverKind::ForcedOpen) => return Status::Refused,
            Some(CoverKind::ForcedClosed | CoverKind::Shadow) => return Status::Pass,
            None => {}
        }
        match self.state.phase {
            Phase::Closed => return Status::Pass,
            Phase::Open if self.now < self.state.until => {
                return Status::Wait(self.state.until - self.now);
            }
            Phase::Open => self.half_open(),
            Phase::HalfOpen => {}
        }
        self.notice();
        if let Some(reason) = self.hung_out() {
            return self.reopen(reason, Asked::default());
        }
        // The numbers may have changed in the middle of a round.
        match self.decide() {
            Decision::Undecided => {}
            Decision::Close(reason) => {
                self.close(reason);
                return Status::Pass;
            }
            Decision::Open(reason) => return self.reopen(reason, Asked::default()),
        }
        if self.extend(token, ttl) {
            return Status::Granted;
        }
        if self.free() == 0 {
            return Status::Full;
        }
        self.state.round.leases.push(Lease {
            token,
            started: self.now,
            expires: self.expiry(ttl),
            hung: false,
        });
        self.is_changed = true;
        Status::Granted
    }

    pub(super) fn renew(&mut self, token: u64, ttl: u64) -> Status {
        if !self.is_of_this_round() {
            return Status::Stale;
        }
        self.notice();
        match self.extend(token, ttl) {
            true => Status::Done,
            false => Status::Stale,
        }
    }

    /// The probe with `token` has ended, or a call that a probe has made itself.
    pub(super) fn end(&mut self, token: Option<u64>, outcome: Outcome) -> Status {
        if !self.is_of_this_round() {
            return Status::Stale;
        }
        self.notice();
        let leases = &mut self.state.round.leases;
        let ended = token.and_then(|token| {
            let at = leases.iter().position(|lease| lease.token == token)?;
            Some(leases.remove(at))
        });
        if ended.is_none() && token.is_some() {
            return Status::Stale;
        }
        self.is_changed |= ended.is_some();
        let asked = asked(outcome.verdict);
        let by_share = self.policy.get_probe_failure_rate().is_some();
        let decision = match (half_open::vote(self.policy, outcome), ended) {
            (Vote::Ban, _) => Decision::Open(Reason::OpenFor),
            // Also of a call that rides along: it is the service that failed.
            (Vote::Against(reason), _) if !by_share => Decision::Open(reason),
            (Vote::Against(_), Some(lease)) => {
                self.voted(lease);
                self.state.round.failures += 1;
                self.decide()
            }
            (Vote::For, Some(lease)) => {
                self.voted(lease);
                self.state.round.successes += 1;
                self.decide()
            }
            (Vote::None, Some(_)) => self.hung_out().map_or(Decision::Undecided, Decision::Open),
            (Vote::Against(_) | Vote::For | Vote::None, None) => Decision::Undecided,
        };
        match decision {
            Decision::Undecided => Status::Done,
            Decision::Close(reason) => {
                self.close(reason);
                Status::Closed
            }
            Decision::Open(reason) => {
                self.open(reason, asked);
                Status::Opened
            }
        }
    }

    fn is_of_this_round(&self) -> bool {
        self.state.phase == Phase::HalfOpen
            && self.state.cover.is_none()
            && self.request.view.epoch == self.state.epoch
    }

    fn reopen(&mut self, reason: Reason, asked: Asked) -> Status {
        self.open(reason, asked);
        Status::Wait(self.state.length)
    }

    /// Takes the places of those whose process is gone, and of those that are too old. At
    /// exactly `probe_timeout`, and at its expiry, a place is free.
    fn notice(&mut self) {
        let timeout = millis(self.policy.get_probe_timeout());
        let now = self.now;
        let round = &mut self.state.round;
        let before = round.leases.len();
        round.leases.retain(|lease| lease.expires > now);
        self.is_changed |= round.leases.len() != before;
        for lease in &mut round.leases {
            if !lease.hung && now - lease.started >= timeout {
                lease.hung = true;
                round.hung += 1;
                self.is_changed = true;
            }
        }
    }

    fn extend(&mut self, token: u64, ttl: u64) -> bool {
        let expires = self.expiry(ttl);
        let leases = &mut self.state.round.leases;
        let Some(lease) = leases.iter_mut().find(|lease| lease.token == token) else {
            return false;
        };
        lease.expires = expires;
        self.is_changed = true;
        true
    }

    fn expiry(&self, ttl: u64) -> u64 {
        self.now.saturating_add(ttl.clamp(1, Lease::LONGEST))
    }

    fn free(&self) -> u32 {
        let round = &self.state.round;
        let live = round.leases.iter().filter(|lease| !lease.hung).count();
        let live = u32::try_from(live).unwrap_or(u32::MAX);
        let voted = round.successes.saturating_add(round.failures);
        let at_a_time = self.policy.get_probe_concurrency().saturating_sub(live);
        let in_all = self.policy.get_probes().saturating_sub(voted);
        at_a_time.min(in_all.saturating_sub(live))
    }

    /// One that hung and voted after all.
    const fn voted(&mut self, lease: Lease) {
        if lease.hung {
            self.state.round.hung -= 1;
        }
    }

    fn decide(&self) -> Decision {
        let round = &self.state.round;
        half_open::decide(self.policy, round.successes, round.failures)
    }

    fn hung_out(&self) -> Option<Reason> {
        let hung = self.state.round.hung;
        (hung >= self.policy.get_probes().max(2)).then_some(Reason::ProbesHung { hung })
    }
}

fn asked(verdict: Verdict) -> Asked {
    match verdict {
        Verdict::RetryAfter(at_least) => Asked {
            at_least: millis(at_least),
            exactly: None,
        },
        Verdict::OpenFor(exactly) => Asked {
            at_least: 0,
            exactly: Some(millis(exactly)),
        },
        Verdict::Success | Verdict::Failure | Verdict::Ignore => Asked::default(),
    }
}
