//! What the window holds, and the shares of it.

use breakerbox::Window;

use super::Call;
use super::End;
use super::Fault;
use super::Law;
use super::Logged;
use super::Mode;
use super::Said;
use crate::scenarios::seen::Held;

impl Law {
    /// What the window holds now, if there is one.
    pub(super) fn window(&self) -> Option<Held> {
        self.numbers.window?;
        let held = self.calls_in_window();
        let count = |of: fn(&End) -> bool| held.iter().filter(|end| of(end)).count() as u64;
        Some(Held {
            calls: held.len() as u64,
            failures: count(|end| end.said == Said::Failure),
            slow: count(|end| end.is_slow),
            hung: self.hanging() as u64,
        })
    }

    /// The outcomes of the closed circuit since it was emptied, youngest first.
    pub(super) fn outcomes(&self) -> impl Iterator<Item = &End> {
        let log = self.log.iter().rev();
        log.take_while(|logged| !matches!(logged, Logged::Emptied))
            .filter_map(|logged| match logged {
                Logged::Ended(call) => self.calls[*call].end.as_ref(),
                _ => None,
            })
            .filter(|end| end.counts)
    }

    fn calls_in_window(&self) -> Vec<&End> {
        match self.numbers.window {
            Some(Window::Calls(calls)) => {
                let more = usize::from(self.goes_wrong(Fault::WindowHoldsOneMore));
                self.outcomes().take(calls as usize + more).collect()
            }
            // An outcome leaves with its bucket, ten of which are a window.
            Some(Window::Time(_)) => {
                let more = u128::from(self.goes_wrong(Fault::WindowHoldsElevenBuckets));
                let is_held = |end: &&End| self.buckets_ago(end.at) < 10 + more;
                self.outcomes().filter(is_held).collect()
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn buckets_ago(&self, at: std::time::Duration) -> u128 {
        self.numbers.bucket(self.now) - self.numbers.bucket(at)
    }

    /// The calls of the present period that have not ended and hang: all of the bucket
    /// in which they began was older than `slow_call` when this bucket began. They are
    /// looked for in time windows with the slow rule.
    fn hanging(&self) -> usize {
        let (Some(Window::Time(_)), Some(_), Some(slow_call)) = (
            self.numbers.window,
            self.numbers.slow_call_rate(),
            self.numbers.slow_call,
        ) else {
            return 0;
        };
        if !matches!(self.present().beneath, Mode::Closed { .. })
            || self.goes_wrong(Fault::NobodyHangs)
        {
            return 0;
        }
        // bucket <= now - 1 - ceil(slow_call / width)
        let mut age = 1 + slow_call.as_nanos().div_ceil(self.numbers.width());
        if self.goes_wrong(Fault::HangsOneBucketEarly) {
            age -= 1;
        }
        let hangs = |call: &&Call| {
            (call.end.is_none() || self.goes_wrong(Fault::HangsForEver))
                && self.buckets_ago(call.began) >= age
        };
        self.calls_of_now().filter(hangs).count()
    }

    /// The failure rate of what a window holds: none below `min_calls` and without that
    /// rule.
    pub(super) fn failure_rate(&self, held: &Held) -> Option<f64> {
        self.numbers.failure_rate?;
        self.share(held.failures, held.calls)
    }

    pub(super) fn slow_call_rate(&self, held: &Held) -> Option<f64> {
        self.numbers.slow_call_rate()?;
        self.share(held.slow + held.hung, held.calls + held.hung)
    }

    #[allow(clippy::cast_precision_loss)]
    fn share(&self, part: u64, calls: u64) -> Option<f64> {
        let mut enough = self.numbers.min_calls() as u64;
        if self.goes_wrong(Fault::MinCallsOneLess) {
            enough -= 1;
        }
        (calls > 0 && calls >= enough).then(|| part as f64 / calls as f64)
    }
}
