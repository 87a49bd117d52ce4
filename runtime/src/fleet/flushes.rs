//! What one process has seen of a circuit and has not told yet.

use std::collections::BTreeMap;
use std::time::Duration;
use std::time::Instant;

use crate::breaker::Breaker;
use crate::member::Member;
use crate::member::Pending;
use crate::policy::Policy;
use crate::policy::Window;
use crate::rules::Sums;
use crate::rules::fleet::Delta;
use crate::rules::fleet::Flush;

/// No window holds so many buckets.
const KEPT: u64 = 16;

/// What has been told already.
#[derive(Debug, Default)]
pub(super) struct Flushes {
    /// The successes when it was told last, or when they came to matter.
    successes: u64,
    /// By the bucket of a time window.
    by_time: BTreeMap<u64, Sums>,
    /// The generation that had emptied it last: what was told before is not in it.
    emptied: u64,
    /// In a window of calls.
    by_calls: Sums,
    /// When successes alone were told last.
    told_at: Option<Instant>,
    /// Whether successes matter.
    pub(super) is_suspect: bool,
}

/// What there is to tell.
pub(super) struct Due {
    pub(super) flush: Flush,
    /// To be put back if it was not told.
    pub(super) pending: Pending,
    told: Told,
}

/// What will have been told with it.
enum Told {
    InARow(u64),
    ByTime(BTreeMap<u64, Sums>),
    ByCalls(Sums),
}

impl Flushes {
    /// Where successes come to matter, those before do not: they came before the failures that
    /// others have seen, and end no row of those.
    pub(super) fn suspect(&mut self, breaker: &Breaker, member: &Member, is_suspect: bool) {
        if is_suspect && !self.is_suspect {
            self.successes = breaker.successes();
            member.pending().success = false;
        }
        self.is_suspect = is_suspect;
    }

    /// Nothing before now is about the epoch that has begun.
    pub(super) fn forget(&mut self, breaker: &Breaker) {
        self.successes = breaker.successes();
        self.by_calls = breaker.ended_by_calls();
        self.emptied = breaker.emptied();
        self.by_time = by_bucket(&breaker.ended_by_time(breaker.tick()));
    }

    /// Takes what has come since. Nothing where nobody has to know.
    pub(super) fn due(&mut self, breaker: &Breaker, policy: &Policy) -> Option<Due> {
        let member = breaker.member()?;
        let is_suspect = member.known().is_suspect();
        let pending = std::mem::take(&mut *member.pending());
        let millis = |it: Duration| u64::try_from(it.as_nanos().div_ceil(1_000_000)).ok();
        let mut flush = Flush {
            at_least: millis(pending.at_least).unwrap_or(u64::MAX),
            exactly: pending.exactly.map(|it| millis(it).unwrap_or(u64::MAX)),
            ..Flush::default()
        };
        let emptied = breaker.emptied();
        if self.emptied != emptied {
            self.emptied = emptied;
            self.by_time.clear();
            self.by_calls = breaker.ended_before(emptied);
        }
        if !matches!(policy.get_window(), Some(Window::Calls(_))) {
            self.by_calls = Sums::default();
        }
        let told = match policy.get_window() {
            None => {
                let successes = breaker.successes();
                flush.success = pending.success || successes > self.successes;
                flush.failures = pending.failures;
                Told::InARow(successes)
            }
            Some(Window::Time(_)) => {
                let ended = breaker.ended_by_time(breaker.tick());
                for (age, bucket, sums) in &ended {
                    let told = self.by_time.get(bucket).copied().unwrap_or_default();
                    let age = millis(*age).unwrap_or(u64::MAX);
                    flush.deltas.extend(delta(age, *sums, told));
                }
                Told::ByTime(by_bucket(&ended))
            }
            Some(Window::Calls(_)) => {
                let recorded = breaker.ended_by_calls();
                flush.deltas.extend(delta(0, recorded, self.by_calls));
                Told::ByCalls(recorded)
            }
        };
        let failed = flush.failures > 0
            || flush.exactly.is_some()
            || flush.deltas.iter().any(|it| it.failures + it.slow > 0);
        let succeeded = flush.success || flush.deltas.iter().any(|it| it.calls > 0);
        if failed || is_suspect && succeeded && self.is_time(policy) {
            return Some(Due {
                flush,
                pending,
                told,
            });
        }
        member.pending().put_back(pending);
        None
    }

    /// It has been told, or nobody knows whether.
    pub(super) fn done(&mut self, due: Due) {
        self.told_at = Some(Instant::now());
        match due.told {
            Told::InARow(successes) => self.successes = successes,
            Told::ByTime(ended) => self.told_by_time(ended),
            Told::ByCalls(by_calls) => self.by_calls = by_calls,
        }
    }

    /// A thread whose ring is being turned is left out of what is read: it has told what it had
    /// told before.
    fn told_by_time(&mut self, ended: BTreeMap<u64, Sums>) {
        let Some((&newest, _)) = ended.last_key_value() else {
            return;
        };
        for (bucket, sums) in ended {
            let told = self.by_time.entry(bucket).or_default();
            told.calls = told.calls.max(sums.calls);
            told.failures = told.failures.max(sums.failures);
            told.slow = told.slow.max(sums.slow);
        }
        self.by_time.retain(|bucket, _| bucket + KEPT > newest);
    }

    /// Successes alone make a rate smaller, which is no haste.
    fn is_time(&self, policy: &Policy) -> bool {
        let each = match policy.get_window() {
            None | Some(Window::Calls(_)) => return true,
            Some(Window::Time(window)) => (window / 10).min(Duration::from_secs(1)),
        };
        self.told_at.is_none_or(|at| at.elapsed() >= each)
    }
}

fn by_bucket(ended: &[(Duration, u64, Sums)]) -> BTreeMap<u64, Sums> {
    ended
        .iter()
        .map(|(_, bucket, sums)| (*bucket, *sums))
        .collect()
}

fn delta(age: u64, now: Sums, told: Sums) -> Option<Delta> {
    let delta = Delta {
        age,
        calls: now.calls.saturating_sub(told.calls),
        failures: now.failures.saturating_sub(told.failures),
        slow: now.slow.saturating_sub(told.slow),
    };
    (delta.calls > 0).then_some(delta)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::member::Link;
    use crate::registry::Registry;
    use crate::sharing::WhenStoreIsLost;

    use super::*;

    const POLICY: Policy = Policy::new().failure_rate(0.5).min_calls(1_000);

    fn breaker(name: &str, policy: Policy) -> &'static Breaker {
        let registry = Registry::builder().declare_with(name, policy);
        let registry = registry.build().expect("a right set-up");
        let breaker = registry.breaker(name).expect("declared");
        let link = Arc::new(Link::new(1, WhenStoreIsLost::Local));
        breaker.join(&link).expect("it joins once");
        breaker
    }

    fn fail(breaker: &Breaker, times: u32) {
        for _ in 0..times {
            breaker.try_acquire().expect("a closed circuit").failure();
        }
    }

    /// Tells what is due, and says how many calls that are.
    fn tell(flushes: &mut Flushes, breaker: &Breaker) -> u64 {
        let due = flushes.due(breaker, &breaker.policy());
        due.map_or(0, |due| {
            let calls = due.flush.deltas.iter().map(|delta| delta.calls).sum();
            flushes.done(due);
            calls
        })
    }

    /// All that came before was taken off what came after: the others heard nothing more.
    #[test]
    fn calls_are_told_also_in_a_window_of_another_length() {
        let policy = POLICY.min_calls(90);
        let [one, other] = [100, 200].map(Window::Calls);
        let [minute, longer] = [60, 120].map(|it| Window::Time(Duration::from_secs(it)));
        for (name, windows) in [
            ("calls", [one, other, one]),
            ("time", [minute, longer, minute]),
            ("both", [one, minute, one]),
        ] {
            let breaker = breaker(name, policy.window(windows[0]));
            let mut flushes = Flushes::default();
            for (window, calls) in windows.into_iter().zip([50, 3, 2]) {
                let changed = breaker.update(|policy| policy.window(window));
                changed.expect("the numbers are good");
                fail(breaker, calls);
                assert_eq!(tell(&mut flushes, breaker), u64::from(calls), "{name}");
                assert_eq!(tell(&mut flushes, breaker), 0, "{name}");
            }
        }
    }

    #[test]
    fn calls_are_told_also_in_a_window_that_was_emptied_here() {
        let minute = Window::Time(Duration::from_secs(60));
        let breaker = breaker("emptied", POLICY.window(minute));
        let mut flushes = Flushes::default();
        fail(breaker, 50);
        assert_eq!(tell(&mut flushes, breaker), 50);
        breaker.reset();
        fail(breaker, 3);
        assert_eq!(tell(&mut flushes, breaker), 3);
        assert_eq!(tell(&mut flushes, breaker), 0);
    }
}
