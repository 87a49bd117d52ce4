//! The background thread of a registry: publishes once a second and on every
//! transition.
//!
//! It is a plain thread and not a task, so that the caller's runtime, of which a
//! process may have many and short-lived ones, never matters.

use std::io;
use std::sync::Arc;
use std::sync::Weak;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use crate::registry::Inner;
use crate::registry::Registry;
use crate::registry::Report;

const PERIOD: Duration = Duration::from_secs(1);

/// How soon a recorder that is installed late has its descriptions.
const DESCRIPTION_PERIOD: Duration = Duration::from_secs(60);

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
            let mut description_due = due;
            loop {
                let now = Instant::now();
                let is_due = now >= due;
                if host.bell.answer() || is_due {
                    let report = if now >= description_due {
                        description_due = now + DESCRIPTION_PERIOD;
                        Report::Described
                    } else if is_due {
                        Report::All
                    } else {
                        Report::Moved
                    };
                    if work(&registry, report).is_none() {
                        return;
                    }
                    if is_due {
                        due = now + PERIOD;
                    }
                    thread::sleep(PAUSE);
                }
                thread::park_timeout(due.saturating_duration_since(Instant::now()));
            }
        })?;
    Ok(())
}

/// One round. Nothing where the registry is closed or gone.
fn work(registry: &Weak<Inner>, report: Report) -> Option<()> {
    let inner = registry.upgrade()?;
    if inner.closed.load(SeqCst) {
        return None;
    }
    Registry { inner }.report(report);
    Some(())
}
