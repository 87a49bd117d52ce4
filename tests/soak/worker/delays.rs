//! How long calls take beside what they call, and how much of that is the machine's fault.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use crate::worker::say;

/// So many threads look whether this process runs: one may be on a processor that does, while
/// calls are on another that stands still.
const TICKERS: usize = 4;

/// How often they look.
const TICK: Duration = Duration::from_millis(5);

/// Beside its body a call may take as long as it may wait for leave to probe, and this. Whoever
/// waits for Redis waits for 250 ms at least, and up to seconds.
const SLACK: Duration = Duration::from_millis(180);

pub(super) struct Delays(Arc<Measured>);

struct Measured {
    began: Instant,
    tickers: [Ticker; TICKERS],
    calls: AtomicU64,
    slowest: AtomicU64,
}

#[derive(Default)]
struct Ticker {
    /// For so long in all it did not run when it wanted to, in nanoseconds.
    lost: AtomicU64,
    /// When it last ran, since all began.
    ran_at: AtomicU64,
}

/// A call that goes on.
pub(super) struct Running {
    began: Instant,
    lost: [Duration; TICKERS],
}

impl Delays {
    pub(super) fn start() -> Self {
        let measured = Arc::new(Measured {
            began: Instant::now(),
            tickers: Default::default(),
            calls: AtomicU64::new(0),
            slowest: AtomicU64::new(0),
        });
        for at in 0..TICKERS {
            let own = Arc::clone(&measured);
            thread::spawn(move || {
                let ticker = &own.tickers[at];
                loop {
                    thread::sleep(TICK);
                    let now = own.began.elapsed();
                    ticker.lost.store(nanos(ticker.lost(now)), Relaxed);
                    ticker.ran_at.store(nanos(now), Relaxed);
                }
            });
        }
        Self(measured)
    }

    pub(super) fn begin(&self) -> Running {
        Running {
            began: Instant::now(),
            lost: self.0.lost(),
        }
    }

    /// The call has ended, and its body took so long.
    pub(super) fn end(&self, call: &Running, body: Duration, wait: Duration, name: &str) {
        let beside = call.began.elapsed().saturating_sub(body);
        let lost = self.0.lost().into_iter().zip(call.lost);
        let lost = lost.map(|(now, then)| now.saturating_sub(then));
        let lost = lost.max().unwrap_or_default();
        self.0.calls.fetch_add(1, Relaxed);
        self.0
            .slowest
            .fetch_max(nanos(beside.saturating_sub(lost)), Relaxed);
        // Each of several threads may have waited for the machine one after the other.
        if beside > wait + SLACK + 3 * lost {
            say(&format!(
                "slow {name} took {beside:?} beside its body, and the machine {lost:?}"
            ));
        }
    }

    pub(super) fn calls(&self) -> u64 {
        self.0.calls.load(Relaxed)
    }

    pub(super) fn slowest(&self) -> Duration {
        Duration::from_nanos(self.0.slowest.load(Relaxed))
    }
}

impl Measured {
    fn lost(&self) -> [Duration; TICKERS] {
        let now = self.began.elapsed();
        std::array::from_fn(|at| self.tickers[at].lost(now))
    }
}

impl Ticker {
    fn lost(&self, now: Duration) -> Duration {
        let ran_at = Duration::from_nanos(self.ran_at.load(Relaxed));
        let missing = now.saturating_sub(ran_at).saturating_sub(TICK);
        Duration::from_nanos(self.lost.load(Relaxed)) + missing
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
