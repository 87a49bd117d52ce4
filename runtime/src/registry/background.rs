//! The background thread of a registry: publishes once a second and on every
//! transition.
//!
//! It is a plain thread and not a task, so that the caller's runtime, of which a
//! process may have many and short-lived ones, never matters.

use std::io;
use std::panic;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::Weak;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use crate::registry::Inner;
use crate::registry::Registry;

const PERIOD: Duration = Duration::from_secs(1);

/// Transitions closer together than this are published together.
const PAUSE: Duration = Duration::from_millis(10);

/// Starts the thread. It ends when the registry is closed or gone.
pub(super) fn spawn(inner: &Arc<Inner>) -> io::Result<()> {
    let host = Arc::clone(&inner.host);
    let registry = Arc::downgrade(inner);
    thread::Builder::new()
        .name("breakerbox".to_owned())
        .spawn(move || {
            host.bell.listen();
            let mut due = Instant::now();
            loop {
                let now = Instant::now();
                if host.bell.answer() || now >= due {
                    if work(&registry).is_none() {
                        return;
                    }
                    due = now + PERIOD;
                    thread::sleep(PAUSE);
                }
                thread::park_timeout(due.saturating_duration_since(Instant::now()));
            }
        })?;
    Ok(())
}

/// One round. Nothing where the registry is closed or gone.
fn work(registry: &Weak<Inner>) -> Option<()> {
    let inner = registry.upgrade()?;
    if inner.closed.load(SeqCst) {
        return None;
    }
    let registry = Registry { inner };
    // A recorder that panics must not end the thread.
    let _ = panic::catch_unwind(AssertUnwindSafe(|| registry.report()));
    Some(())
}
