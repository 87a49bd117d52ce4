//! Waiting until a time has come, by whatever clock.

use std::pin::Pin;
use std::time::Duration;

use futures_timer::Delay;
use tokio::runtime::Handle;
use tokio::task;

/// Ready when a time has passed.
pub(crate) type Sleep = Pin<Box<dyn Future<Output = ()> + Send + Sync>>;

/// By the timer of the tokio runtime that the caller is in, which has it at hand; elsewhere
/// without any runtime.
pub(super) fn in_runtime(duration: Duration) -> Sleep {
    match Handle::try_current() {
        // It is also over for a task that has spent all its budget, as one that is never kept
        // waiting does at each turn.
        Ok(_) => Box::pin(task::unconstrained(tokio::time::sleep(duration))),
        Err(_) => Box::pin(Delay::new(duration)),
    }
}

/// By the clock of the system, also where a test has paused tokio's.
pub(super) fn by_system(duration: Duration) -> Sleep {
    if is_paused() {
        Box::pin(Delay::new(duration))
    } else {
        in_runtime(duration)
    }
}

/// Whether a test has its hand in tokio's time, which then lies apart from the system's.
#[cfg(feature = "test-util")]
fn is_paused() -> bool {
    let before = std::time::Instant::now();
    let tokio = tokio::time::Instant::now().into_std();
    tokio < before || std::time::Instant::now() < tokio
}

#[cfg(not(feature = "test-util"))]
const fn is_paused() -> bool {
    false
}
