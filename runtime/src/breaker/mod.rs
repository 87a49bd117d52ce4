//! The live breaker of one service: gate, counts and permits under one name.

mod call;
mod configured;
mod failure;
mod guard;
mod inside;
mod keys;
#[cfg(feature = "redis")]
mod live;
#[cfg(all(test, breakerbox_loom, feature = "test-util"))]
mod loom_tests;
mod overrides;
mod permit;
mod service;
mod settle;
#[cfg(feature = "redis")]
mod shared;
mod snapshot;
mod subscribe;
#[cfg(not(feature = "redis"))]
mod unshared;
mod waiting;
mod watch;

use std::fmt;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use once_cell::race::OnceBox;

use crate::cells::Mine;
use crate::cells::Tally;
use crate::clock::Tick;
use crate::event::By;
use crate::gate::Answer;
use crate::gate::Gate;
use crate::host::Host;
use crate::hot::Duties;
use crate::hot::Numbers;
#[cfg(feature = "redis")]
use crate::member::Member;
use crate::policy::Policy;
use crate::reason::Packed;
use crate::rejected::Rejected;
use crate::rejected::RejectedKind;
use crate::ring::Alone;
use crate::ring::Ended;
use crate::ring::Era;
use crate::ring::Total;
use crate::rules::Changes;
use crate::rules::Circuit;
use crate::rules::Sums;
use crate::rules::Ticket;
use crate::rules::Time;
use crate::settings::Layers;
use crate::state::State;
use crate::word::Phase;
use crate::word::Word;

pub use call::Acquire;
pub use call::Call;
pub use call::Wait;
pub use guard::Guard;
pub use keys::Keyed;
pub use overrides::Override;
pub use overrides::OverrideError;
pub use overrides::OverrideGuard;
pub use permit::Permit;
pub use snapshot::Calls;
pub use snapshot::Forced;
pub use snapshot::InWindow;
pub use snapshot::Snapshot;
pub use subscribe::Subscription;
pub use watch::WaitAndWatch;
pub use watch::Watch;

pub(crate) use configured::Held;
pub(crate) use service::Service;
#[cfg(feature = "redis")]
pub(crate) use shared::News;

use guard::Ending;
use guard::Stamp;
#[cfg(feature = "redis")]
use shared::Elsewhere;
#[cfg(feature = "redis")]
use shared::Leave;
#[cfg(not(feature = "redis"))]
use unshared::Elsewhere;
#[cfg(not(feature = "redis"))]
use unshared::Leave;
use waiting::Waiting;

/// The circuit breaker of one service.
///
/// A registry makes one for each service, once, and never replaces it: a reference
/// stays right for as long as the process lives. Get one with
/// [`breaker`](crate::breaker), or let the attribute do it.
///
/// ```
/// # use breakerbox::{Policy, Registry};
/// # let registry = Registry::builder().declare_with("stripe", Policy::new().threshold(1)).build().unwrap();
/// let stripe = registry.breaker("stripe").expect("declared above");
///
/// let permit = stripe.try_acquire()?;
/// // ... the call ...
/// permit.failure();
///
/// let rejected = stripe.try_acquire().unwrap_err();
/// assert!(rejected.retry_after().is_some());
/// # Ok::<(), breakerbox::Rejected>(())
/// ```
pub struct Breaker {
    gate: Gate,
    service: &'static Service,
    /// Which of several it is, where the service has one a key.
    key: Option<Arc<str>>,
    /// The ring of a key, once it is written: not every key needs one.
    ring: OnceBox<Alone>,
    seldom: OnceBox<Seldom>,
    /// When somebody asked for it last, where it is that of a key.
    used: AtomicU64,
}

/// Whether a call waits for leave to probe.
#[derive(Clone, Copy)]
enum Waits {
    /// It comes again, and is to find leave then.
    Not,
    /// It has waited, and is gone if it is not let in.
    #[cfg_attr(
        not(feature = "redis"),
        expect(dead_code, reason = "nobody has to be waited for")
    )]
    NoLonger,
    /// At most until the timeout strikes that is around it in its own stack.
    #[cfg_attr(
        not(feature = "redis"),
        expect(dead_code, reason = "nobody has to be waited for")
    )]
    Until(Option<Tick>),
}

/// What few breakers ever need.
#[derive(Default)]
struct Seldom {
    /// Who forced it last, and why.
    by: Mutex<Option<By>>,
    waiting: Waiting,
    /// Where several processes share the circuit.
    #[cfg(feature = "redis")]
    member: OnceBox<Member>,
}

impl Breaker {
    /// The breaker of a service that has no keys.
    pub(crate) fn new(name: &'static str, layers: Layers, host: Arc<Host>) -> Self {
        let service: &'static Service = Box::leak(Box::new(Service::new(name, layers, host)));
        let policy = service.numbers().policy;
        Self {
            gate: Gate::new(&policy, service.host.clock.now()),
            service,
            key: None,
            ring: OnceBox::new(),
            seldom: OnceBox::new(),
            used: AtomicU64::new(0),
        }
    }

    fn of_key(service: &'static Service, policy: &Policy, key: &str, now: Tick) -> Self {
        Self {
            gate: Gate::new(policy, service.host.clock.now()),
            service,
            key: Some(Arc::from(key)),
            ring: OnceBox::new(),
            seldom: OnceBox::new(),
            used: AtomicU64::new(now.0),
        }
    }

    /// The service.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.service.name
    }

    pub(crate) const fn service(&self) -> &'static Service {
        self.service
    }

    /// Where the circuit stands. Reading never changes it.
    #[must_use]
    pub fn state(&self) -> State {
        let view = self.gate.view();
        match view.word.phase() {
            Phase::Closed | Phase::Watched => State::Closed,
            Phase::Open => State::Open,
            Phase::HalfOpen | Phase::Leased => State::HalfOpen,
            // It ends by itself, and nobody may have come since.
            Phase::ForcedOpen | Phase::ForcedClosed | Phase::Shadow => {
                self.peek(self.service.host.clock.now()).0.state()
            }
        }
    }

    /// The numbers in force.
    pub fn policy(&self) -> Policy {
        self.service.numbers().policy
    }

    /// Asks for leave to make one call, now.
    ///
    /// # Errors
    ///
    /// [`Rejected`] while the circuit is open or forced open, in half-open while the probes
    /// are out, and in a ramp beyond its share.
    #[inline]
    pub fn try_acquire(&self) -> Result<Permit<'_>, Rejected> {
        let seen = self.gate.load();
        if seen.is_closed() {
            let duties = self.service.hot.duties();
            if duties.are_none() {
                self.service.cells.add(Tally::Admitted);
                let guard = Guard::admitted(self, seen, Stamp::UNTIMED);
                return Ok(Permit { guard });
            }
            return self.try_acquire_timed(seen, duties);
        }
        self.try_acquire_cold(Waits::Not)
    }

    /// The usual way in: the circuit is closed. Otherwise the guard is outside.
    #[inline]
    pub(crate) fn enter(&self) -> Guard<'_> {
        let seen = self.gate.load();
        if !seen.is_closed() {
            return Guard::outside(self);
        }
        let duties = self.service.hot.duties();
        if duties.are_none() {
            self.service.cells.add(Tally::Admitted);
            return Guard::admitted(self, seen, Stamp::UNTIMED);
        }
        match self.begin(seen, duties) {
            Stamp::OUTSIDE => Guard::outside(self),
            stamp => Guard::admitted(self, seen, stamp),
        }
    }

    #[inline(never)]
    fn try_acquire_timed(&self, seen: Word, duties: Duties) -> Result<Permit<'_>, Rejected> {
        match self.begin(seen, duties) {
            Stamp::OUTSIDE => self.try_acquire_cold(Waits::Not),
            stamp => {
                let guard = Guard::admitted(self, seen, stamp);
                Ok(Permit { guard })
            }
        }
    }

    /// The beginning of a call that has more to do than to pass.
    fn begin(&self, seen: Word, duties: Duties) -> Stamp {
        let mut stamp = Stamp::UNTIMED;
        let mine = self.service.cells.mine();
        if duties.is_timed() {
            let now = self.now(duties);
            if duties.hangs() && self.gate.is_time_to_look(now) {
                return Stamp::OUTSIDE;
            }
            stamp = if duties.starts() {
                self.count_start(mine, seen, now);
                Stamp::counted_at(now)
            } else {
                Stamp::at(now)
            };
        }
        mine.add(Tally::Admitted);
        stamp
    }

    #[inline]
    fn count_start(&self, mine: Mine<'_>, seen: Word, now: Tick) {
        if self.key.is_some() {
            return self.count_start_of_key(seen, now);
        }
        let generation = seen.generation();
        mine.write(|ring| {
            ring.started(generation, now, || self.era(generation));
        });
    }

    /// Counts in the ring that a call has ended.
    #[inline(always)]
    fn count_end(&self, mine: Mine<'_>, seen: Word, ended: Ended, now: Tick) {
        if self.key.is_some() {
            return self.count_end_of_key(seen, ended, now);
        }
        let generation = seen.generation();
        mine.write(|ring| {
            ring.ended(generation, ended, now, || self.era(generation));
        });
    }

    #[cold]
    #[inline(never)]
    fn count_start_of_key(&self, seen: Word, now: Tick) {
        let generation = seen.generation();
        let ring = self.ring.get_or_init(Box::default);
        ring.started(generation, now, || self.era(generation));
    }

    #[cold]
    #[inline(never)]
    fn count_end_of_key(&self, seen: Word, ended: Ended, now: Tick) {
        let generation = seen.generation();
        let ring = self.ring.get_or_init(Box::default);
        ring.ended(generation, ended, now, || self.era(generation));
    }

    /// Cheap, or exact where it has to be.
    #[inline]
    fn now(&self, duties: Duties) -> Tick {
        let clock = &self.service.host.clock;
        if duties.is_exact() {
            clock.now()
        } else {
            clock.coarse()
        }
    }

    /// What a ring that has to be turned is turned to.
    #[cold]
    fn era(&self, generation: u64) -> (Era, Time) {
        (self.gate.era(generation), self.service.numbers().time)
    }

    fn total(&self, numbers: &Numbers, era: Era, now: Tick) -> Total {
        if self.key.is_none() {
            return self.service.cells.total(era, numbers.time, now);
        }
        let alone = self.ring.get();
        alone.map_or_else(Total::default, |alone| alone.total(era, numbers.time, now))
    }

    /// The circuit at `now`, and what its window holds.
    fn peek(&self, now: Tick) -> (Circuit, Sums) {
        let numbers = self.service.numbers();
        self.gate
            .peek(&numbers, |era| self.total(&numbers, era, now), now)
    }

    #[cold]
    fn try_acquire_cold(&self, waits: Waits) -> Result<Permit<'_>, Rejected> {
        if let Some(rejected) = self.refuse_at_once() {
            return Err(rejected);
        }
        let now = self.service.host.clock.now();
        match self.leave(waits, |generation| inside::is_inside(self, generation)) {
            Leave::NotNeeded => self.try_acquire_here(now),
            Leave::Riding(seen) | Leave::Given(seen) => Ok(self.admitted(seen, now)),
            Leave::Asked(_) | Leave::Busy | Leave::TooLate => {
                Err(self.refuse(RejectedKind::ProbesBusy))
            }
        }
    }

    /// As the circuit alone decides.
    fn try_acquire_here(&self, now: Tick) -> Result<Permit<'_>, Rejected> {
        let seen = self.gate.load();
        let is_riding = matches!(seen.phase(), Phase::HalfOpen | Phase::Shadow)
            && inside::is_inside(self, seen.generation());
        if is_riding {
            let riding = Word::new(seen.generation(), Ticket::RIDING, Phase::HalfOpen);
            return Ok(self.admitted(riding, now));
        }
        let numbers = self.service.numbers();
        let totals = |era| self.total(&numbers, era, now);
        let (answer, changes) = self.gate.admit(&numbers, totals, self, now);
        drop(numbers);
        self.tell(&changes);
        match answer {
            Answer::Admitted(seen) => Ok(self.admitted(seen, now)),
            Answer::Spared(seen) => {
                self.service.would_reject.fetch_add(1, Relaxed);
                Ok(self.admitted(seen, now))
            }
            Answer::Open(until) => {
                self.service.cells.add(Tally::Rejected);
                let left = until.0.saturating_sub(now.0);
                let reason = self.gate.view().reason;
                Err(Rejected::open(self.service.label, reason, left))
            }
            Answer::ForcedOpen => Err(self.refuse(RejectedKind::ForcedOpen)),
            Answer::ProbesBusy => Err(self.refuse(RejectedKind::ProbesBusy)),
            Answer::Ramp => Err(self.refuse(RejectedKind::Ramp)),
        }
    }

    fn admitted(&self, seen: Word, now: Tick) -> Permit<'_> {
        let mine = self.service.cells.mine();
        mine.add(Tally::Admitted);
        let counts = matches!(seen.phase(), Phase::Closed | Phase::Watched)
            && self.service.hot.duties().starts();
        let stamp = if counts {
            self.count_start(mine, seen, now);
            Stamp::counted_at(now)
        } else {
            Stamp::at(now)
        };
        let guard = Guard::admitted(self, seen, stamp);
        Permit { guard }
    }

    /// The usual rejection: the end of the opening is known, and far. A cheap clock will do
    /// then, of which the exact one is never more than a little ahead.
    #[inline]
    fn refuse_at_once(&self) -> Option<Rejected> {
        let view = self.gate.view();
        let is_open = match view.word.phase() {
            Phase::Open => true,
            Phase::ForcedOpen => false,
            _ => return None,
        };
        let now = self.service.host.clock.beside(view.until);
        let left = view.until.0.saturating_sub(now.0);
        if left == 0 {
            return None;
        }
        if !is_open {
            return Some(self.refuse(RejectedKind::ForcedOpen));
        }
        self.service.cells.add(Tally::Rejected);
        Some(Rejected::open(self.service.label, view.reason, left))
    }

    /// For a time that nobody knows.
    #[cold]
    fn refuse(&self, kind: RejectedKind) -> Rejected {
        self.service.cells.add(Tally::Rejected);
        self.not_in(kind)
    }

    fn not_in(&self, kind: RejectedKind) -> Rejected {
        let reason = match kind {
            RejectedKind::ForcedOpen => Packed::NONE,
            _ => self.gate.view().reason,
        };
        Rejected::of_kind(self.service.label, kind, reason)
    }

    /// Counts changes, and wakes whoever publishes them. Says whether the circuit opened.
    fn tell(&self, changes: &Changes) -> bool {
        for change in changes.iter() {
            let by = if service::is_by_hand(change.reason) {
                self.by()
            } else {
                None
            };
            self.service.tell(*change, self.key.as_ref(), by);
        }
        self.wake_waiting(changes);
        self.share_changes(changes);
        changes.opened()
    }

    /// Who forced it last.
    fn by(&self) -> Option<By> {
        let by = self.seldom.get()?.by.lock();
        by.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn seldom(&self) -> &Seldom {
        self.seldom.get_or_init(Box::default)
    }

    fn wake_waiting(&self, changes: &Changes) {
        if let (Some(_), Some(seldom)) = (changes.iter().next(), self.seldom.get()) {
            seldom.waiting.wake_all();
        }
    }

    fn set_policy(&self, policy: Policy) {
        let now = self.service.host.clock.now();
        // The breaker of a key may be the one that is asked.
        let main = self.service.main().unwrap_or(self);
        let mut keys = Vec::new();
        let mut changes = Vec::new();
        self.service.renumber(policy, |before, numbers| {
            // No key comes now, and those to come have these numbers.
            keys = self.service.all_keys();
            let all = keys.iter().map(|key| &**key).chain([main]);
            changes = all
                .map(|breaker| breaker.gate.renumber(before, numbers, now))
                .collect();
        });
        let all = keys.iter().map(|key| &**key).chain([main]);
        for (breaker, changes) in all.zip(&changes) {
            breaker.tell(changes);
        }
        main.share_numbers();
    }
}

impl fmt::Debug for Breaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Breaker")
            .field("name", &self.service.name)
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}
