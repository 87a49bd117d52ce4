//! How long calls take beside what they call, and how much of that is the machine's fault.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use crate::worker::say;

/// How often it is looked whether this process runs.
const TICK: Duration = Duration::from_millis(5);

/// Beside its body a call may take as long as it may wait for leave to probe, and this. Whoever
/// waits for Redis waits for 250 ms at least, and up to seconds.
const SLACK: Duration = Duration::from_millis(180);

pub(super) struct Delays(Arc<Measured>);

struct Measured {
    began: Instant,
    /// For so long in all this process did not run when it wanted to, in nanoseconds.
    lost: AtomicU64,
    /// When it last ran, since it began.
    ran_at: AtomicU64,
    calls: AtomicU64,
    slowest: AtomicU64,
}

/// A call that goes on.
pub(super) struct Running {
    began: Instant,
    lost: Duration,
}

impl Delays {
    pub(super) fn start() -> Self {
        let measured = Arc::new(Measured {
            began: Instant::now(),
            lost: AtomicU64::new(0),
            ran_at: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            slowest: AtomicU64::new(0),
        });
        let own = Arc::clone(&measured);
        thread::spawn(move || {
            loop {
                thread::sleep(TICK);
                own.lost.store(nanos(own.lost()), Relaxed);
                own.ran_at.store(nanos(own.began.elapsed()), Relaxed);
            }
        });
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
        let lost = self.0.lost().saturating_sub(call.lost);
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
    fn lost(&self) -> Duration {
        let now = self.began.elapsed();
        let ran_at = Duration::from_nanos(self.ran_at.load(Relaxed));
        let missing = now.saturating_sub(ran_at).saturating_sub(TICK);
        Duration::from_nanos(self.lost.load(Relaxed)) + missing
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
