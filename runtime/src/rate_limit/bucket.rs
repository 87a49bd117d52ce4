//! The bucket of tokens: `governor` on the registry's clock.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::AcqRel;
use std::sync::atomic::Ordering::Acquire;

use governor::Quota;
use governor::clock;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::NotKeyed;
use governor::state::StateStore;

use crate::clock::Tick;
use crate::clock::nanos;
use crate::host::Host;
use crate::policy::RatePolicy;

/// A bucket that gets one token an interval, until it is full.
#[derive(Debug)]
pub(super) struct Bucket {
    limiter: governor::RateLimiter<NotKeyed, FullAt, Time, NoOpMiddleware<Nanos>>,
    full_at: FullAt,
    began: Tick,
    /// How long one token takes.
    interval: u64,
    /// How long all but one take: a bucket that is full by then has a token now.
    headroom: u64,
}

/// When the bucket will be full if nobody takes a token, in nanoseconds since it began. Each
/// token that is taken puts it off by an interval. Beside `governor`, which changes it, those
/// look at it who want to know how long they would wait.
#[derive(Clone, Debug, Default)]
struct FullAt(Arc<AtomicU64>);

/// The clock of the registry, as `governor` reads it.
#[derive(Debug)]
struct Time(Arc<Host>);

/// `governor` adds to instants without looking: here time ends, 292 years after the clock
/// began, and a bucket still fits behind it.
const END_OF_TIME: u64 = u64::MAX / 2;

impl Bucket {
    /// A full one, by numbers that have been checked.
    pub(super) fn new(policy: &RatePolicy, host: Arc<Host>) -> Self {
        let burst = NonZeroU32::new(policy.get_burst()).expect("the policy was checked");
        let quota = Quota::with_period(policy.get_interval()).expect("the policy was checked");
        let interval = nanos(policy.get_interval());
        let full_at = FullAt::default();
        let time = Time(host);
        Self {
            began: Tick(time.read()),
            interval,
            headroom: interval.saturating_mul(u64::from(burst.get() - 1)),
            limiter: governor::RateLimiter::new(quota.allow_burst(burst), full_at.clone(), time),
            full_at,
        }
    }

    /// The time, as the bucket has it.
    pub(super) fn now(&self) -> Tick {
        Tick(self.limiter.clock().read())
    }

    /// Takes a token if there is one now.
    #[inline]
    pub(super) fn take(&self) -> bool {
        self.limiter.check().is_ok()
    }

    /// The first instant, from `now` on, at which there is a token after so many others have
    /// taken theirs as soon as they could.
    pub(super) fn due(&self, ahead: usize, now: Tick) -> Tick {
        let passed = nanos(now.since(self.began));
        let full_at = self.full_at.0.load(Acquire).max(passed);
        let ahead = u64::try_from(ahead).unwrap_or(u64::MAX);
        let due = full_at
            .saturating_add(self.interval.saturating_mul(ahead))
            .saturating_sub(self.headroom);
        Tick(self.began.0.saturating_add(due.max(passed)))
    }
}

impl Time {
    fn read(&self) -> u64 {
        self.0.clock.now().0.min(END_OF_TIME)
    }
}

impl clock::Clock for Time {
    type Instant = Nanos;

    #[inline]
    fn now(&self) -> Nanos {
        self.read().into()
    }
}

impl StateStore for FullAt {
    type Key = NotKeyed;

    #[inline]
    fn measure_and_replace<T, F, E>(&self, _key: &NotKeyed, decide: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let mut seen = self.0.load(Acquire);
        loop {
            let (answer, next) = decide(Some(seen.into()))?;
            match self
                .0
                .compare_exchange_weak(seen, next.into(), AcqRel, Acquire)
            {
                Ok(_) => return Ok(answer),
                Err(actual) => seen = actual,
            }
        }
    }
}

#[cfg(all(test, feature = "test-util"))]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clock::ManualClock;

    const NANO: Duration = Duration::from_nanos(1);
    const SECOND: Duration = Duration::from_secs(1);

    fn bucket(policy: RatePolicy, time: &ManualClock) -> Bucket {
        policy.check().expect("a policy of a test");
        Bucket::new(&policy, Arc::new(Host::with_clock(time.clock())))
    }

    /// A bucket that begins at any time, whose interval may not come out even.
    fn random(random: &mut fastrand::Rng) -> (RatePolicy, ManualClock, Bucket) {
        let per = Duration::from_nanos(random.u64(1_000..3_000));
        let policy = RatePolicy::new(random.u32(1..20), per).burst(random.u32(1..8));
        let time = ManualClock::new();
        time.advance(NANO * random.u32(..10_000));
        let bucket = bucket(policy, &time);
        (policy, time, bucket)
    }

    /// The level in nanoseconds, poured in as time passes.
    struct Naive {
        level: u64,
        interval: u64,
        full: u64,
    }

    impl Naive {
        fn pass(&mut self, nanos: u64) {
            self.level = (self.level + nanos).min(self.full);
        }

        fn take(&mut self) -> bool {
            let has_one = self.level >= self.interval;
            if has_one {
                self.level -= self.interval;
            }
            has_one
        }
    }

    #[test]
    fn tokens_are_those_of_a_bucket_that_is_filled_drop_by_drop() {
        for seed in 0..200 {
            let rng = &mut fastrand::Rng::with_seed(seed);
            let (policy, time, bucket) = random(rng);
            let interval = nanos(policy.get_interval());
            let full = interval * u64::from(policy.get_burst());
            let mut naive = Naive {
                level: full,
                interval,
                full,
            };
            for _ in 0..200 {
                let pause = rng.u64(..interval * 2);
                time.advance(Duration::from_nanos(pause));
                naive.pass(pause);
                for _ in 0..rng.u32(..4) {
                    assert_eq!(bucket.take(), naive.take(), "seed {seed}");
                }
            }
        }
    }

    #[test]
    fn a_token_is_there_when_the_bucket_says_so_and_not_a_nanosecond_before() {
        for seed in 0..500 {
            let rng = &mut fastrand::Rng::with_seed(seed);
            let (policy, time, bucket) = random(rng);
            for _ in 0..rng.u32(..10) {
                bucket.take();
                time.advance(policy.get_interval().mul_f64(rng.f64()));
            }
            let ahead = rng.usize(..12);
            let due = bucket.due(ahead, bucket.now());
            for _ in 0..ahead {
                let now = bucket.now();
                time.advance(bucket.due(0, now).since(now));
                assert!(bucket.take());
            }
            let left = due.since(bucket.now());
            if !left.is_zero() {
                time.advance(left - NANO);
                assert!(!bucket.take(), "seed {seed}");
                time.advance(NANO);
            }
            assert!(bucket.take(), "seed {seed}");
        }
    }

    #[test]
    fn at_the_end_of_time_a_bucket_is_used_up_and_nothing_overflows() {
        let time = ManualClock::new();
        let longest = RatePolicy::new(1, RatePolicy::MAX_FILL);
        let bucket = bucket(longest, &time);
        assert!(bucket.take());
        time.advance(Duration::MAX);
        assert!(bucket.take());
        assert!(!bucket.take());
        assert!(bucket.due(0, bucket.now()) > bucket.now());
        assert!(bucket.due(usize::MAX, Tick(u64::MAX)) <= Tick(u64::MAX));
    }

    #[test]
    fn a_bucket_that_is_made_later_is_full_as_well() {
        let time = ManualClock::new();
        time.advance(SECOND);
        let bucket = bucket(RatePolicy::new(2, SECOND), &time);
        time.advance(SECOND);
        assert_eq!(bucket.due(0, bucket.now()), bucket.now());
        assert_eq!(bucket.due(1, bucket.now()), bucket.now());
        assert!(bucket.take() && bucket.take() && !bucket.take());
        assert_eq!(bucket.due(0, bucket.now()).since(bucket.now()), SECOND / 2);
    }
}
