//! One breaker a key, under one service: `key = tenant`.
//!
//! They share the numbers, the counts and the notes of their service, and have a circuit
//! each. There are at most `max_keys`; where there is no room, those go that nobody has used
//! for a while and that are closed, and where none can go, further keys share one breaker.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::fmt;
use std::hash::Hash;
use std::hash::Hasher;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::PoisonError;
use std::sync::RwLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use crate::breaker::Breaker;
use crate::breaker::Service;
use crate::clock::Tick;
use crate::hot::Numbers;
use crate::name;
use crate::policy::Window;
use crate::state::State;
use crate::word::Phase;

/// The key of the breaker that all keys beyond the limit share.
const OVERFLOW: &str = "breakerbox:overflow";

/// The longest key that is kept as it is, in bytes.
const LONGEST: usize = 128;

/// Whoever has not come for so long, or for a longer window, has left.
const IDLE: Duration = Duration::from_secs(60);

/// How long a search for idle keys that found none is not repeated.
const PAUSE: Duration = Duration::from_secs(1);

pub(super) struct Keys {
    /// The breaker of the whole service.
    main: &'static Breaker,
    known: RwLock<HashSet<Known>>,
    overflow: OnceLock<Arc<Breaker>>,
    /// When room is looked for again.
    look_at: AtomicU64,
}

/// The breaker of a key, which is found by the key that it has.
struct Known(Arc<Breaker>);

/// The breaker of one key, which lives while somebody holds it, and until it makes room for
/// another.
///
/// It is given out by [`Breaker::key`], and is used as the [`Breaker`] it stands for.
#[derive(Clone)]
pub struct Keyed(Which);

#[derive(Clone)]
enum Which {
    Own(Arc<Breaker>),
    /// Somebody has forced the whole service.
    Service(&'static Breaker),
}

impl Deref for Keyed {
    type Target = Breaker;

    #[inline]
    fn deref(&self) -> &Breaker {
        match &self.0 {
            Which::Own(breaker) => breaker,
            Which::Service(breaker) => breaker,
        }
    }
}

impl fmt::Debug for Keyed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Keyed").field(&**self).finish()
    }
}

impl Breaker {
    /// The breaker of one key of this service: a tenant, a region, a merchant.
    ///
    /// Each key has a circuit of its own, with the numbers of the service; the calls of all
    /// keys are counted together. There are at most `max_keys`: beyond, keys that nobody has
    /// used for a minute (or for a longer window) make room if they are closed, and are
    /// forgotten with what they have counted; where none can, further keys share one breaker.
    /// Of a key longer than 128 bytes the beginning counts.
    ///
    /// While somebody has forced the whole service open or closed, this is its breaker.
    ///
    /// ```
    /// # let registry = breakerbox::Registry::builder().declare("ledger").build().unwrap();
    /// # let ledger = registry.breaker("ledger").unwrap();
    /// let acme = ledger.key("acme");
    /// acme.try_acquire()?.success();
    /// assert_eq!(ledger.snapshot().calls.success, 1);
    /// # Ok::<(), breakerbox::Rejected>(())
    /// ```
    pub fn key(&'static self, key: &str) -> Keyed {
        if matches!(
            self.gate.load().phase(),
            Phase::ForcedOpen | Phase::ForcedClosed
        ) && matches!(self.state(), State::ForcedOpen | State::ForcedClosed)
        {
            return Keyed(Which::Service(self));
        }
        Keyed(Which::Own(
            self.service.key(self, name::beginning(key, LONGEST)),
        ))
    }

    /// Threads that come for one key at one time would write to one place, so only so often.
    fn touch(&self, now: Tick) {
        let used = Tick(self.used.load(Relaxed));
        if now.since(used) >= Duration::from_secs(1) {
            self.used.store(now.0, Relaxed);
        }
    }

    /// Whether it is closed, and nothing that has not ended lies over it. The word says so at
    /// once, but of a ramp or an override that are over and that nobody has come to end.
    fn is_at_rest(&self, numbers: &Numbers, now: Tick) -> bool {
        let phase = self.gate.load().phase();
        match phase {
            Phase::Closed => true,
            Phase::Open | Phase::HalfOpen | Phase::Leased => false,
            Phase::Watched | Phase::ForcedOpen | Phase::ForcedClosed | Phase::Shadow => {
                let totals = |era| self.total(numbers, era, now);
                let (circuit, _) = self.gate.peek(numbers, totals, now);
                circuit.rests(&numbers.policy, now)
            }
        }
    }

    /// The keys that have a breaker now, each with it, in no order. The one that the keys
    /// beyond `max_keys` share is `breakerbox:overflow`.
    #[must_use]
    pub fn keys(&self) -> Vec<(Arc<str>, Keyed)> {
        let all = self.service.all_keys().into_iter();
        all.filter_map(|breaker| Some((breaker.key.clone()?, Keyed(Which::Own(breaker)))))
            .collect()
    }
}

impl Keys {
    fn of(main: &'static Breaker) -> Self {
        Self {
            main,
            known: RwLock::default(),
            overflow: OnceLock::new(),
            look_at: AtomicU64::new(0),
        }
    }
}

impl Service {
    /// The breaker of the whole service, where that has keys.
    pub(super) fn main(&self) -> Option<&'static Breaker> {
        Some(self.keys.get()?.main)
    }

    fn key(&'static self, main: &'static Breaker, key: &str) -> Arc<Breaker> {
        let now = self.host.clock.coarse();
        let keys = self.keys.get_or_init(|| Box::new(Keys::of(main)));
        let known = keys.known.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(Known(breaker)) = known.get(key) {
            breaker.touch(now);
            return Arc::clone(breaker);
        }
        drop(known);
        self.new_key(keys, key, now)
    }

    #[cold]
    fn new_key(&'static self, keys: &Keys, key: &str, now: Tick) -> Arc<Breaker> {
        // Held until the key is in the list of those that hear of other numbers.
        let numbers = self.numbers();
        let policy = numbers.policy;
        let most = policy.get_max_keys() as usize;
        let mut known = keys.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(Known(breaker)) = known.get(key) {
            return Arc::clone(breaker);
        }
        if known.len() >= most && now.0 >= keys.look_at.load(Relaxed) {
            let window = match policy.get_window() {
                Some(Window::Time(window)) => window.max(IDLE),
                Some(Window::Calls(_)) | None => IDLE,
            };
            known.retain(|it| !it.is_idle(&numbers, window, now));
            keys.look_at.store((now + PAUSE).0, Relaxed);
        }
        if known.len() >= most {
            drop(known);
            let overflow = keys
                .overflow
                .get_or_init(|| Arc::new(Breaker::of_key(self, &policy, OVERFLOW, now)));
            return Arc::clone(overflow);
        }
        let breaker = Arc::new(Breaker::of_key(self, &policy, key, now));
        known.insert(Known(Arc::clone(&breaker)));
        breaker
    }

    pub(super) fn all_keys(&self) -> Vec<Arc<Breaker>> {
        let Some(keys) = self.keys.get() else {
            return Vec::new();
        };
        let known = keys.known.read().unwrap_or_else(PoisonError::into_inner);
        let own = known.iter().map(|Known(breaker)| breaker);
        own.chain(keys.overflow.get()).cloned().collect()
    }

    /// How many keys have a circuit that does not admit all calls.
    pub(super) fn open_keys(&self) -> u64 {
        let all = self.all_keys();
        let open = all.iter().filter(|breaker| match breaker.state() {
            State::Closed | State::ForcedClosed | State::Shadow => false,
            State::Open | State::HalfOpen | State::ForcedOpen => true,
        });
        open.count() as u64
    }
}

impl Known {
    fn key(&self) -> &str {
        self.0.key.as_deref().unwrap_or_default()
    }

    /// Nobody holds it, nobody came of late, and it admits all calls. It is looked at under the
    /// lock under which it is given out.
    fn is_idle(&self, numbers: &Numbers, window: Duration, now: Tick) -> bool {
        let Self(breaker) = self;
        Arc::strong_count(breaker) == 1
            && now.since(Tick(breaker.used.load(Relaxed))) >= window
            && breaker.is_at_rest(numbers, now)
    }
}

impl Borrow<str> for Known {
    fn borrow(&self) -> &str {
        self.key()
    }
}

impl Hash for Known {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl PartialEq for Known {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Known {}
