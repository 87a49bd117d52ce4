//! A circuit while one command moves it.

use crate::policy::Policy;
use crate::policy::Window;
use crate::reason::Reason;
use crate::rules::Sums;
use crate::rules::fleet::Applied;
use crate::rules::fleet::Lease;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Shared;
use crate::rules::fleet::request::Command;
use crate::rules::fleet::request::Reply;
use crate::rules::fleet::request::Request;
use crate::rules::fleet::request::Status;
use crate::rules::fleet::request::Told;
use crate::rules::fleet::request::What;
use crate::rules::fleet::shared::Round;
use crate::state::State;

pub(super) struct Motion<'r> {
    pub(super) state: Shared,
    pub(super) request: &'r Request,
    pub(super) policy: &'r Policy,
    pub(super) now: u64,
    pub(super) is_changed: bool,
    pub(super) sums: Sums,
    told: Vec<Told>,
}

/// What an outcome asks of the opening that it begins.
#[derive(Clone, Copy, Default)]
pub(super) struct Asked {
    pub(super) at_least: u64,
    pub(super) exactly: Option<u64>,
}

impl Request {
    /// After so long none of the leases is left that a half-open circuit may have given.
    pub(super) fn longest_lease(&self) -> u64 {
        match self.command {
            Command::Acquire { ttl, .. } | Command::Renew { ttl, .. } => {
                ttl.clamp(1, Lease::LONGEST)
            }
            _ => LEASE,
        }
    }
}

/// How long leases are that nobody says otherwise about, in milliseconds.
pub(super) const LEASE: u64 = 2_000;

/// The whole milliseconds that hold a duration. Beyond a hundred years it makes no difference.
pub(crate) fn millis(duration: std::time::Duration) -> u64 {
    let millis = duration.as_nanos().div_ceil(1_000_000);
    u64::try_from(millis).unwrap_or(u64::MAX).min(FOREVER)
}

/// No length of time is longer, in milliseconds: so all sums of times stay exact in doubles,
/// the only numbers that the script has.
pub(super) const FOREVER: u64 = 100 * 366 * 24 * 3_600_000;

impl<'r> Motion<'r> {
    pub(super) fn begin(
        before: Option<&Shared>,
        request: &'r Request,
        policy: &'r Policy,
        now: u64,
    ) -> Self {
        let mut state = before.cloned().unwrap_or_default();
        state.mend(now);
        // What is only mended anew each time would end as far from now as ever.
        let is_changed = before.is_some_and(|before| *before != state);
        Self {
            state,
            request,
            policy,
            now,
            is_changed,
            sums: Sums::default(),
            told: Vec::new(),
        }
    }

    pub(super) fn finish(self, status: Status) -> Applied {
        let reply = Reply {
            status,
            now: self.now,
            snapshot: self.state.snapshot(),
            sums: self.sums,
            live: match self.request.command {
                Command::Sync => Some(self.state.live.text.clone()),
                _ => None,
            },
        };
        Applied {
            // What nobody has written anything to is not there.
            state: (self.is_changed || self.state.epoch > 0 || self.state.live.id > 0)
                .then_some(self.state),
            is_changed: self.is_changed,
            reply,
            told: self.told,
        }
    }

    pub(super) fn tell(&mut self, what: What) {
        self.told.push(Told {
            what,
            snapshot: self.state.snapshot(),
            now: self.now,
            instance: self.request.instance,
            live: None,
        });
    }

    /// The numbers of the service have changed.
    pub(super) fn tell_live(&mut self) {
        self.told.push(Told {
            what: What::Renumbered,
            snapshot: self.state.snapshot(),
            now: self.now,
            instance: self.request.instance,
            live: Some(self.state.live.text.clone()),
        });
    }

    /// All that was counted is forgotten.
    fn forget(&mut self) {
        self.state.failures = 0;
        self.state.slots = Vec::new();
        self.state.suspect_since = 0;
        self.state.told_at = 0;
        self.state.reporters = Vec::new();
    }

    pub(super) fn next_epoch(&mut self) {
        self.state.epoch = (self.state.epoch + 1).max(self.now);
        self.is_changed = true;
    }

    /// Beneath what somebody may have laid over it, the circuit moves by a rule.
    fn move_to(&mut self, phase: Phase, reason: Reason) {
        let from = self.state.state();
        self.next_epoch();
        self.forget();
        self.state.round = Round::default();
        self.state.phase = phase;
        self.tell(What::Moved {
            from,
            to: self.state.state(),
            reason,
        });
    }

    pub(super) fn open(&mut self, reason: Reason, asked: Asked) {
        let ramp = self.policy.get_ramp().map_or(0, millis);
        let is_over = self.now >= self.state.closed_at.saturating_add(ramp);
        if self.state.phase == Phase::Closed && is_over {
            self.state.trips = 0;
        }
        self.state.trips = self.state.trips.saturating_add(1);
        self.state.opened_by = Some(reason);
        self.state.length = self.length(asked);
        self.state.until = self.now.saturating_add(self.state.length);
        self.move_to(Phase::Open, reason);
    }

    pub(super) fn close(&mut self, reason: Reason) {
        if self.policy.get_ramp().is_none() {
            self.state.trips = 0;
        }
        self.state.until = 0;
        self.state.length = 0;
        self.state.closed_at = self.now;
        self.move_to(Phase::Closed, reason);
    }

    pub(super) fn half_open(&mut self) {
        self.state.until = 0;
        self.state.length = 0;
        self.move_to(Phase::HalfOpen, Reason::CooldownOver);
    }

    /// How long an opening lasts that begins now.
    fn length(&self, asked: Asked) -> u64 {
        let longest = millis(self.policy.get_max_open_for());
        if let Some(exactly) = asked.exactly {
            return exactly.min(longest).max(1);
        }
        self.cooldown().max(asked.at_least.min(longest)).max(1)
    }

    /// `cooldown * backoff^(trips - 1)`, up to `max_cooldown`, then the jitter. Multiplied one
    /// by one, so that every machine comes to the same.
    fn cooldown(&self) -> u64 {
        let longest = float(millis(self.policy.get_max_cooldown()));
        let backoff = self.policy.get_backoff();
        let mut grown = float(millis(self.policy.get_cooldown()));
        if backoff > 1.0 {
            for _ in 1..self.state.trips {
                if grown >= longest {
                    break;
                }
                grown *= backoff;
            }
        }
        let grown = grown.min(longest).floor();
        let drawn = f64::from(self.request.draw) / 4_294_967_296.0;
        whole(grown + (grown * self.policy.get_jitter() * drawn).floor())
    }

    /// The circuit is closed, and all is forgotten.
    pub(super) fn start_afresh(&mut self) {
        self.next_epoch();
        self.forget();
        self.state.round = Round::default();
        self.state.phase = Phase::Closed;
        self.state.until = 0;
        self.state.length = 0;
        self.state.trips = 0;
        self.state.closed_at = 0;
    }

    /// The calls that are out are about an epoch that is over: no probe has a place any more.
    pub(super) fn leave_epoch(&mut self) {
        self.next_epoch();
        self.state.round = Round::default();
    }

    /// The state as everybody sees it has changed by hand.
    pub(super) fn tell_by_hand(&mut self, from: State, reason: Reason) {
        let to = self.state.state();
        self.tell(What::Moved { from, to, reason });
    }
}

/// The width of the buckets into which a window is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    Millis(u64),
    Calls(u64),
}

impl Width {
    /// A window has so many buckets.
    pub(crate) const BUCKETS: u64 = 10;

    /// None without a window.
    pub(crate) fn of(policy: &Policy) -> Option<Self> {
        let cut = |whole: u64| whole.div_ceil(Self::BUCKETS).max(1);
        Some(match policy.get_window()? {
            Window::Time(window) => Self::Millis(cut(millis(window))),
            Window::Calls(calls) => Self::Calls(cut(u64::from(calls))),
        })
    }
}

/// Exact below 2^53, which is far beyond all times that occur.
#[allow(clippy::cast_precision_loss)]
pub(super) const fn float(whole: u64) -> f64 {
    whole as f64
}

/// A whole number that is not negative, as an integer; saturating.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
const fn whole(float: f64) -> u64 {
    float as u64
}
