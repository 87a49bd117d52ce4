//! Calls that go on while something happens to the store.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::thread;
use std::thread::JoinHandle;
use std::time::Duration;
use std::time::Instant;

use breakerbox::Breaker;
use breakerbox::Error;

use super::fleet::Process;

/// So long a call takes that waits for a store; without that it takes less than a microsecond,
/// but where the machine is busy.
const WAITED: Duration = Duration::from_millis(100);

/// A thread that makes one guarded call after the other, all of which succeed.
pub(super) struct Traffic {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Seen>,
}

#[derive(Default)]
struct Seen {
    calls: usize,
    rejected: usize,
    waited: usize,
}

impl Traffic {
    /// Calls of another service of the process, whose circuit is closed.
    pub(super) fn beside(process: &Process) -> Self {
        Self::through(process.registry.breaker("other").expect("declared"))
    }

    pub(super) fn through(breaker: &'static Breaker) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stops = Arc::clone(&stop);
        let (begun, begins) = mpsc::channel();
        let thread = thread::spawn(move || {
            let mut seen = Seen::default();
            while !stops.load(Relaxed) {
                let begin = Instant::now();
                let out = breaker.call_blocking(|| Ok::<_, ()>(()));
                seen.waited += usize::from(begin.elapsed() > WAITED);
                seen.rejected += usize::from(matches!(out, Err(Error::Rejected(_))));
                seen.calls += 1;
                // Nobody listens any more after the first.
                let _ = begun.send(());
                thread::sleep(Duration::from_millis(1));
            }
            seen
        });
        begins.recv().expect("the first call ends");
        Self { stop, thread }
    }

    /// No call was rejected, and none has waited: the scheduler may have let one of a hundred
    /// wait, which a store would have done to each.
    #[track_caller]
    pub(super) fn went_well(self) {
        self.stop.store(true, Relaxed);
        let seen = self.thread.join().expect("no call panics");
        assert_eq!(seen.rejected, 0, "of {} calls", seen.calls);
        let few = 2 + seen.calls / 100;
        assert!(
            seen.waited <= few,
            "{} of {} waited",
            seen.waited,
            seen.calls
        );
    }
}
