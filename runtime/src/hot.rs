//! What calls need to know of a policy without asking for it: copies in atomics.

use std::sync::atomic::Ordering::Relaxed;

use crate::clock::nanos;
use crate::policy::OnCancel;
use crate::policy::Policy;
use crate::policy::Window;
use crate::rules::Time;
use crate::sync::AtomicU32;
use crate::sync::AtomicU64;
use crate::verdict::Verdict;

/// Below this a coarse clock, which may be some milliseconds behind, would tell too little.
const FINE: u64 = 200_000_000;

#[derive(Debug)]
pub(crate) struct Hot {
    duties: AtomicU32,
    /// Those among them that no policy asks for.
    kept: AtomicU32,
    threshold: AtomicU32,
    /// A success of this age or older has more to do than others, in nanoseconds.
    apart_at: AtomicU64,
    /// A call of this age or older is slow, in nanoseconds.
    slow_at: AtomicU64,
    /// A call dropped at this age or older is a failure, in nanoseconds.
    cancel_fails_at: AtomicU64,
}

/// What a call has to do besides passing. Most have nothing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Duties(u32);

impl Duties {
    /// It remembers when it began.
    const TIMED: u32 = 1;
    /// Its times have to be exact.
    const EXACT: u32 = 2;
    /// It is counted when it begins.
    const STARTS: u32 = 4;
    /// Calls that hang are looked for as time goes on.
    const HANGS: u32 = 8;
    /// Its outcome is counted by time.
    const BY_TIME: u32 = 16;
    /// Its outcome is counted among the last so many.
    const BY_CALLS: u32 = 32;
    /// It is measured how long it takes.
    #[cfg(feature = "metrics")]
    const MEASURED: u32 = 64;

    pub(crate) fn of(policy: &Policy) -> Self {
        let slow = policy.get_slow_call().map(nanos);
        let mut duties = 0;
        let mut add = |duty, is_due: bool| {
            if is_due {
                duties |= duty;
            }
        };
        let by_time = match policy.get_window() {
            Some(Window::Time(window)) => Some(nanos(window)),
            Some(Window::Calls(_)) | None => None,
        };
        let hangs = by_time.is_some() && policy.get_slow_call_rate().is_some();
        let starts = hangs || policy.get_ramp().is_some();
        let dropped = matches!(policy.get_on_cancel(), OnCancel::After(_));
        add(Self::STARTS, starts);
        add(Self::HANGS, hangs);
        add(Self::BY_TIME, by_time.is_some());
        add(
            Self::BY_CALLS,
            by_time.is_none() && policy.get_window().is_some(),
        );
        add(Self::TIMED, starts || dropped || slow.is_some());
        let fine = |nanos: Option<u64>| nanos.is_some_and(|nanos| nanos < FINE);
        add(
            Self::EXACT,
            fine(by_time) || fine(slow.map(|slow| slow.saturating_mul(2))),
        );
        Self(duties)
    }

    const fn has(self, duty: u32) -> bool {
        self.0 & duty != 0
    }

    #[inline]
    pub(crate) const fn are_none(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(crate) const fn is_timed(self) -> bool {
        self.has(Self::TIMED)
    }

    #[inline]
    pub(crate) const fn is_exact(self) -> bool {
        self.has(Self::EXACT)
    }

    #[inline]
    pub(crate) const fn starts(self) -> bool {
        self.has(Self::STARTS)
    }

    #[inline]
    pub(crate) const fn hangs(self) -> bool {
        self.has(Self::HANGS)
    }

    #[inline]
    pub(crate) const fn by_time(self) -> bool {
        self.has(Self::BY_TIME)
    }

    #[inline]
    pub(crate) const fn by_calls(self) -> bool {
        self.has(Self::BY_CALLS)
    }

    #[cfg(feature = "metrics")]
    pub(crate) const fn is_measured(self) -> bool {
        self.has(Self::MEASURED)
    }

    /// Whether outcomes are counted in a window.
    #[inline]
    pub(crate) const fn has_window(self) -> bool {
        self.has(Self::BY_TIME | Self::BY_CALLS)
    }
}

/// An age that no call has.
const NEVER: u64 = u64::MAX;

impl Hot {
    pub(crate) fn new(policy: &Policy) -> Self {
        let hot = Self {
            duties: AtomicU32::new(0),
            kept: AtomicU32::new(0),
            threshold: AtomicU32::new(0),
            apart_at: AtomicU64::new(0),
            slow_at: AtomicU64::new(0),
            cancel_fails_at: AtomicU64::new(0),
        };
        hot.set(policy);
        hot
    }

    pub(crate) fn set(&self, policy: &Policy) {
        // Strictly longer.
        let beyond = |limit| nanos(limit).saturating_add(1);
        self.threshold
            .store(policy.get_threshold().unwrap_or(u32::MAX), Relaxed);
        let kept = self.kept.load(Relaxed);
        let slow_at = policy.get_slow_call().map_or(NEVER, beyond);
        self.slow_at.store(slow_at, Relaxed);
        let apart_at = if kept == 0 { slow_at } else { 0 };
        self.apart_at.store(apart_at, Relaxed);
        let cancel_fails_at = match policy.get_on_cancel() {
            OnCancel::Ignore => NEVER,
            OnCancel::Failure => 0,
            OnCancel::After(limit) => beyond(limit),
        };
        self.cancel_fails_at.store(cancel_fails_at, Relaxed);
        self.duties.store(Duties::of(policy).0 | kept, Relaxed);
    }

    /// From now on it is measured how long calls take, whatever the policy. Exactly: a coarse
    /// clock would see most calls end as they begin.
    #[cfg(feature = "metrics")]
    pub(crate) fn measure(&self, policy: &Policy) {
        let kept = Duties::MEASURED | Duties::TIMED | Duties::EXACT;
        self.kept.store(kept, Relaxed);
        self.set(policy);
    }

    #[inline]
    pub(crate) fn duties(&self) -> Duties {
        Duties(self.duties.load(Relaxed))
    }

    /// The failures in a row that open a circuit without a window.
    #[inline]
    pub(crate) fn threshold(&self) -> u32 {
        self.threshold.load(Relaxed)
    }

    /// Whether a success of this age has more to do than others: it is slow, or measured.
    #[inline]
    pub(crate) fn is_apart(&self, age: u64) -> bool {
        age >= self.apart_at.load(Relaxed)
    }

    pub(crate) fn is_slow(&self, age: u64) -> bool {
        age >= self.slow_at.load(Relaxed)
    }

    /// What a call counts as that was dropped after `age`.
    pub(crate) fn cancelled(&self, age: u64) -> Verdict {
        match self.cancel_fails_at.load(Relaxed) {
            NEVER => Verdict::Ignore,
            fails_at if age >= fails_at => Verdict::Failure,
            _ => Verdict::Ignore,
        }
    }
}

/// The numbers of a service, whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    pub(crate) policy: Policy,
    pub(crate) seed: u64,
    pub(crate) time: Time,
    pub(crate) duties: Duties,
}

impl Numbers {
    pub(crate) fn new(policy: Policy, seed: u64) -> Self {
        Self {
            policy,
            seed,
            time: Time::of(&policy),
            duties: Duties::of(&policy),
        }
    }
}

#[cfg(all(test, feature = "metrics", not(breakerbox_loom)))]
mod tests {
    use std::time::Duration;

    use super::*;

    const SLOW: Policy = Policy::new().slow_call(Duration::from_secs(5));

    #[test]
    fn calls_that_are_measured_are_timed_exactly_and_set_apart_whatever_the_policy() {
        let hot = Hot::new(&SLOW);
        assert!(hot.duties().is_timed() && !hot.duties().is_exact());
        assert!(!hot.is_apart(0) && !hot.duties().is_measured());
        hot.measure(&SLOW);
        for policy in [SLOW, Policy::new()] {
            hot.set(&policy);
            let duties = hot.duties();
            assert!(duties.is_measured() && duties.is_timed() && duties.is_exact());
            assert!(hot.is_apart(0) && !hot.is_slow(0));
        }
    }

    #[test]
    fn a_success_is_set_apart_where_it_is_slow_and_not_before() {
        let hot = Hot::new(&SLOW);
        assert!(!hot.is_apart(5_000_000_000) && hot.is_apart(5_000_000_001));
        hot.set(&Policy::new());
        assert!(!hot.is_apart(5_000_000_001));
    }
}
