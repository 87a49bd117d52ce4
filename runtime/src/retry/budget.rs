//! How many calls to one service may be made again.
//!
//! Retries are load on a service that has trouble already, and where each of several
//! services in a row makes three attempts, the last one sees a multiple of its usual calls.
//! A share of the calls bounds that whatever the number of attempts is: at `0.2` a service
//! that fails altogether sees six calls for five, not fifteen.
//!
//! The share is of the last ten seconds, as in Finagle and linkerd. Those also let ten
//! retries a second through whatever the share is, which below fifty calls a second leaves
//! nothing of a budget of one in five. Here it is one retry in ten seconds, so that a quiet
//! service may be tried again at all.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::clock::Tick;

/// The buckets of the ring, of one second each. What is in one leaves with it: the calls and
/// the retries of the nine seconds before this one, and of as much of this as has passed.
const BUCKETS: usize = 10;
const BUCKET_NANOS: u64 = 1_000_000_000;

/// So many retries are always allowed.
const FLOOR: u64 = 1;

/// What the functions of one service have called and made again in the last ten seconds.
///
/// A call is one addition to an atomic; only a retry, which is about to wait anyway, takes the
/// lock. A call that comes at the same instant may be seen by it or not. Everything is
/// `Relaxed`: a count orders nothing, and the lock orders the retries.
#[derive(Debug, Default)]
pub(super) struct Budget {
    calls: [Calls; BUCKETS],
    retries: Mutex<[Bucket; BUCKETS]>,
}

/// A [`Bucket`] in one word.
#[derive(Debug, Default)]
struct Calls(AtomicU64);

/// So many in one second.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    second: u64,
    count: u64,
}

impl Bucket {
    /// Above these bits a word has room for the seconds to the end of time; half a billion
    /// calls in one second are as good as more.
    const COUNT_BITS: u32 = 29;
    const MOST: u64 = (1 << Self::COUNT_BITS) - 1;

    /// Whether it has not left for one who looks back from `second`. One who is late sees what
    /// others did after the instant that he has in mind, too.
    const fn is_seen_from(self, second: u64) -> bool {
        self.second + BUCKETS as u64 > second
    }

    const fn seen_from(self, second: u64) -> u64 {
        if self.is_seen_from(second) {
            self.count
        } else {
            0
        }
    }

    /// With one more in `second`; what was in it ten seconds ago or more has left. One who is
    /// so late that it has moved on meanwhile counts in it as it is now.
    const fn and_one(self, second: u64) -> Self {
        if self.second < second {
            return Self { second, count: 1 };
        }
        let count = if self.count < Self::MOST {
            self.count + 1
        } else {
            self.count
        };
        Self { count, ..self }
    }

    const fn packed(self) -> u64 {
        self.second << Self::COUNT_BITS | self.count
    }

    const fn unpacked(word: u64) -> Self {
        Self {
            second: word >> Self::COUNT_BITS,
            count: word & Self::MOST,
        }
    }
}

const fn second_of(now: Tick) -> u64 {
    now.0 / BUCKET_NANOS
}

#[allow(clippy::cast_possible_truncation)]
const fn index_of(second: u64) -> usize {
    (second % BUCKETS as u64) as usize
}

impl Budget {
    /// A call begins.
    pub(super) fn deposit(&self, now: Tick) {
        let second = second_of(now);
        let Calls(word) = &self.calls[index_of(second)];
        let mut seen = word.load(Relaxed);
        loop {
            let next = Bucket::unpacked(seen).and_one(second).packed();
            match word.compare_exchange_weak(seen, next, Relaxed, Relaxed) {
                Ok(_) => return,
                Err(actual) => seen = actual,
            }
        }
    }

    /// Whether a call may be made again where this share of them may; it is counted then.
    pub(super) fn withdraw(&self, now: Tick, share: f64) -> bool {
        let second = second_of(now);
        let mut buckets = self.retries.lock().unwrap_or_else(PoisonError::into_inner);
        let retries: u64 = buckets.iter().map(|it| it.seen_from(second)).sum();
        let calls = self.calls.iter().map(|it| it.seen_from(second)).sum();
        if retries >= FLOOR && !is_within(share, retries + 1, calls) {
            return false;
        }
        let bucket = &mut buckets[index_of(second)];
        *bucket = bucket.and_one(second);
        true
    }
}

impl Calls {
    fn seen_from(&self, second: u64) -> u64 {
        Bucket::unpacked(self.0.load(Relaxed)).seen_from(second)
    }
}

/// Compared as a quotient, so that 3 of 30 are a tenth. Not a number is no share.
#[allow(clippy::cast_precision_loss)]
fn is_within(share: f64, retries: u64, calls: u64) -> bool {
    retries as f64 / calls as f64 <= share
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    use super::*;

    const fn at(millis: u64) -> Tick {
        Tick(millis * 1_000_000)
    }

    fn after(calls: usize, now: Tick) -> Budget {
        let budget = Budget::default();
        for _ in 0..calls {
            budget.deposit(now);
        }
        budget
    }

    fn allowed(budget: &Budget, now: Tick, share: f64) -> usize {
        (0..10_000)
            .take_while(|_| budget.withdraw(now, share))
            .count()
    }

    #[test]
    fn a_share_of_the_calls_may_be_made_again() {
        assert_eq!(allowed(&after(100, at(0)), at(0), 0.2), 20);
        assert_eq!(allowed(&after(30, at(0)), at(0), 0.1), 3);
        assert_eq!(allowed(&after(29, at(0)), at(0), 0.1), 2);
        assert_eq!(allowed(&after(7, at(0)), at(0), 1.0), 7);
    }

    #[test]
    fn one_in_ten_seconds_may_be_made_again_whatever_the_share() {
        for calls in [0, 1, 9] {
            let budget = after(calls, at(0));
            assert_eq!(allowed(&budget, at(0), 0.1), 1);
            assert_eq!(allowed(&budget, at(9_999), 0.1), 0);
            assert_eq!(allowed(&budget, at(10_000), 0.1), 1);
        }
    }

    #[test]
    fn the_one_retry_of_a_quiet_service_is_no_addition_to_its_share() {
        assert_eq!(allowed(&after(10, at(0)), at(0), 0.1), 1);
        assert_eq!(allowed(&after(20, at(0)), at(0), 0.1), 2);
    }

    #[test]
    fn calls_and_retries_leave_after_ten_seconds() {
        let budget = after(100, at(500));
        assert_eq!(allowed(&budget, at(500), 0.1), 10);
        // They are in the bucket of the second 0, and leave with it.
        assert_eq!(allowed(&budget, at(9_999), 0.1), 0);
        for _ in 0..50 {
            budget.deposit(at(9_999));
        }
        assert_eq!(allowed(&budget, at(9_999), 0.1), 5);
        assert_eq!(allowed(&budget, at(10_000), 0.1), 0);
        for _ in 0..20 {
            budget.deposit(at(10_000));
        }
        assert_eq!(allowed(&budget, at(10_000), 0.1), 2);
        // Only the twenty are left then.
        assert_eq!(allowed(&budget, at(19_000), 0.1), 0);
        assert_eq!(allowed(&budget, at(19_000), 0.5), 8);
    }

    #[test]
    fn a_bucket_that_comes_again_is_empty() {
        let budget = after(1_000, at(0));
        assert_eq!(allowed(&budget, at(0), 0.5), 500);
        budget.deposit(at(10_000));
        assert_eq!(allowed(&budget, at(10_000), 1.0), 1);
        budget.deposit(at(1_000_000));
        assert_eq!(allowed(&budget, at(1_000_000), 1.0), 1);
    }

    #[test]
    fn one_who_is_late_wipes_nothing_out_and_sees_what_came_after() {
        let budget = after(10, at(20_000));
        budget.deposit(at(10_000));
        assert!(budget.withdraw(at(20_000), 0.2));
        assert!(budget.withdraw(at(10_000), 0.2));
        assert!(!budget.withdraw(at(10_000), 0.2));
        assert!(!budget.withdraw(at(20_000), 0.2));
        assert_eq!(allowed(&budget, at(20_000), 1.0), 9);
    }

    #[test]
    fn a_bucket_holds_the_most_and_no_more() {
        let most = Bucket {
            second: u64::MAX / BUCKET_NANOS,
            count: Bucket::MOST,
        };
        let word = most.and_one(most.second).packed();
        assert_eq!(Bucket::unpacked(word).seen_from(most.second), Bucket::MOST);
        assert_eq!(Bucket::unpacked(word).second, most.second);
    }

    #[test]
    fn functions_with_shares_of_their_own_draw_on_one_budget() {
        let budget = after(100, at(0));
        assert_eq!(allowed(&budget, at(0), 0.1), 10);
        assert_eq!(allowed(&budget, at(0), 0.3), 20);
        assert_eq!(allowed(&budget, at(0), 0.1), 0);
    }

    #[test]
    fn time_may_come_to_its_end() {
        let end = Tick(u64::MAX);
        let budget = after(10, end);
        assert_eq!(allowed(&budget, end, 0.5), 5);
    }

    #[test]
    fn a_share_that_is_no_number_allows_the_one() {
        assert_eq!(allowed(&after(100, at(0)), at(0), f64::NAN), 1);
    }

    #[test]
    fn threads_together_get_exactly_the_share() {
        const THREADS: usize = 8;
        const CALLS: usize = 5_000;
        let budget = Budget::default();
        let barrier = Barrier::new(THREADS);
        let granted = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for call in 0..CALLS {
                        // All seconds of the ring, so that buckets are also emptied at once.
                        budget.deposit(at((call as u64 % 10) * 1_000));
                    }
                    barrier.wait();
                    for _ in 0..CALLS {
                        if budget.withdraw(at(9_000), 0.25) {
                            granted.fetch_add(1, Relaxed);
                        }
                    }
                });
            }
        });
        assert_eq!(granted.into_inner(), THREADS * CALLS / 4);
    }

    /// However calls and retries mix, at no time are there more retries than the share.
    #[test]
    fn threads_that_call_and_retry_at_once_never_exceed_the_share() {
        const THREADS: usize = 4;
        const CALLS: usize = 20_000;
        let budget = Budget::default();
        let granted = AtomicUsize::new(0);
        let begun = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for _ in 0..CALLS {
                        begun.fetch_add(1, Relaxed);
                        budget.deposit(at(0));
                        if budget.withdraw(at(0), 0.1) {
                            let granted = granted.fetch_add(1, Relaxed) + 1;
                            let most = (begun.load(Relaxed) / 10).max(1);
                            assert!(granted <= most, "{granted} of {begun:?}");
                        }
                    }
                });
            }
        });
        assert_eq!(granted.into_inner(), THREADS * CALLS / 10);
    }
}
