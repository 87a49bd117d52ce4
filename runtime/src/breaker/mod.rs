//! The live breaker of one service: gate, counts and permits under one name.

mod call;
mod failure;
mod guard;
mod inside;
mod permit;
mod snapshot;
mod watch;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::SystemTime;

use crate::cells::Cells;
use crate::cells::Sum;
use crate::cells::Tally;
use crate::event::Transition;
use crate::gate::Gate;
use crate::host::Host;
use crate::policy::Policy;
use crate::reason::Reason;
use crate::rejected::Rejected;
use crate::rules::Admission;
use crate::rules::Change;
use crate::rules::Settled;
use crate::state::State;
use crate::verdict::Verdict;
use crate::word::Word;

pub use call::Acquire;
pub use call::Call;
pub use call::Wait;
pub use guard::Guard;
pub use permit::Permit;
pub use snapshot::Calls;
pub use snapshot::Snapshot;
pub use watch::WaitAndWatch;
pub use watch::Watch;

use failure::LastFailure;
use guard::Ending;
use guard::Stamp;

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
    name: &'static str,
    gate: Gate,
    cells: Cells,
    /// By the index of [`Reason::MOVES`].
    transitions: [AtomicU64; Reason::MOVES.len()],
    last_failure: LastFailure,
    host: Arc<Host>,
}

impl Breaker {
    pub(crate) fn new(name: &'static str, policy: Policy, host: Arc<Host>) -> Self {
        Self {
            name,
            gate: Gate::new(policy),
            cells: Cells::new(),
            transitions: Default::default(),
            last_failure: LastFailure::default(),
            host,
        }
    }

    /// The service.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Where the circuit stands. Reading never changes it.
    #[must_use]
    pub fn state(&self) -> State {
        self.gate.load().state()
    }

    /// The numbers in force.
    pub fn policy(&self) -> Policy {
        self.gate.policy()
    }

    /// Asks for leave to make one call, now.
    ///
    /// # Errors
    ///
    /// [`Rejected`] while the circuit is open, and in half-open while the probes
    /// are out.
    #[inline]
    pub fn try_acquire(&self) -> Result<Permit<'_>, Rejected> {
        let seen = self.gate.load();
        if seen.is_closed() {
            let guard = self.admit_closed(seen);
            return Ok(Permit { guard });
        }
        self.try_acquire_cold()
    }

    /// The usual way in: the circuit is closed. Otherwise the guard is outside.
    #[inline]
    pub(crate) fn enter(&self) -> Guard<'_> {
        let seen = self.gate.load();
        if seen.is_closed() {
            self.admit_closed(seen)
        } else {
            Guard::outside(self)
        }
    }

    /// A count in a cell of this thread, and no more.
    #[inline]
    fn admit_closed(&self, seen: Word) -> Guard<'_> {
        self.cells.add(Tally::Admitted);
        let stamp = if self.gate.times_calls() {
            self.stamp()
        } else {
            Stamp::UNTIMED
        };
        Guard::admitted(self, seen, stamp)
    }

    /// Kept out of line: most breakers never read the clock on entry.
    #[cold]
    fn stamp(&self) -> Stamp {
        Stamp::at(self.host.clock.now())
    }

    #[cold]
    fn try_acquire_cold(&self) -> Result<Permit<'_>, Rejected> {
        let now = self.host.clock.now();
        if let Some(opening) = self.gate.opening(now) {
            self.cells.add(Tally::Rejected);
            let left = opening.until.since(now);
            return Err(Rejected::open(self.name, opening.reason, left));
        }
        let seen = self.gate.load();
        let (admission, change) =
            if seen.state() == State::HalfOpen && inside::is_inside(self, seen.generation()) {
                (Ok(seen.riding()), None)
            } else {
                self.gate.admit(now)
            };
        self.tell(change);
        match admission {
            Ok(seen) => {
                self.cells.add(Tally::Admitted);
                let guard = Guard::admitted(self, seen, Stamp::at(now));
                Ok(Permit { guard })
            }
            Err(refused) => {
                self.cells.add(Tally::Rejected);
                Err(match refused {
                    Admission::Open(opening) => {
                        let left = opening.until.since(now);
                        Rejected::open(self.name, opening.reason, left)
                    }
                    Admission::ProbesBusy | Admission::Admitted(_) => self.probes_busy(),
                })
            }
        }
    }

    #[inline]
    fn probes_busy(&self) -> Rejected {
        Rejected::probes_busy(self.name, self.gate.view().1.reason)
    }

    /// The end of a call, in all cases but a success with nothing to reset. Says whether
    /// it opened the circuit.
    #[cold]
    fn settle(&self, seen: Word, stamp: Stamp, ending: Ending) -> bool {
        let now = self.host.clock.now();
        let verdict = match ending {
            Ending::Recorded(verdict) => verdict,
            Ending::Panicked => Verdict::Failure,
            Ending::Cancelled => self.gate.cancelled(stamp.age(now)),
        };
        let (settled, change) = self.gate.settle(seen, verdict, now);
        self.cells.add(match (settled, ending) {
            (Settled::Late, _) => Tally::Late,
            (Settled::Counted, Ending::Panicked) => Tally::Panicked,
            (Settled::Counted, Ending::Cancelled) => Tally::Cancelled,
            (Settled::Counted, Ending::Recorded(verdict)) => match verdict {
                Verdict::Success => Tally::Success,
                Verdict::Ignore => Tally::Ignored,
                Verdict::Failure | Verdict::RetryAfter(_) | Verdict::OpenFor(_) => Tally::Failure,
            },
        });
        self.tell(change);
        change.is_some_and(|change| change.to == State::Open)
    }

    /// Counts a change, and wakes whoever publishes it.
    fn tell(&self, change: Option<Change>) {
        if let Some(change) = change {
            self.transitions[change.reason.index(change.from)].fetch_add(1, Relaxed);
            self.host.bell.ring();
        }
    }

    pub(crate) fn set_policy(&self, policy: Policy) {
        self.gate.set_policy(policy);
    }

    pub(crate) fn counts(&self) -> Sum {
        self.cells.sum()
    }

    /// How often the circuit moved in the way of [`Reason::MOVES`] at `index`.
    #[cfg(feature = "metrics")]
    pub(crate) fn transitions(&self, index: usize) -> u64 {
        self.transitions[index].load(Relaxed)
    }

    /// The state and, where the circuit is open, when that ends.
    #[cfg(feature = "metrics")]
    pub(crate) fn state_and_end(&self) -> (State, Option<SystemTime>) {
        let (word, opening) = self.gate.view();
        let end = (word.state() == State::Open).then(|| {
            let now = self.host.clock.now();
            let wall = SystemTime::now();
            // The end of time is beyond what some systems can tell.
            wall.checked_add(opening.until.since(now))
                .and_then(|end| end.checked_sub(now.since(opening.until)))
                .unwrap_or(wall)
        });
        (word.state(), end)
    }

    /// The transitions since the last call, oldest first.
    pub(crate) fn take_transitions(&self) -> Vec<Transition> {
        let notes = self.gate.take_notes();
        let now = self.host.clock.now();
        let wall = SystemTime::now();
        notes
            .into_iter()
            .map(|change| Transition {
                service: self.name,
                from: change.from,
                to: change.to,
                reason: change.reason,
                at: wall.checked_sub(now.since(change.at)).unwrap_or(wall),
                open_for: change.until.map(|until| until.since(change.at)),
                generation: change.generation,
            })
            .collect()
    }
}

impl fmt::Debug for Breaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Breaker")
            .field("name", &self.name)
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}
