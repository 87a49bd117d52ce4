//! Reading the configuration again when one of its files has changed.

use std::fmt;
use std::sync::Arc;
use std::sync::PoisonError;
use std::sync::Weak;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Duration;

use notify::Config;
use notify::PollWatcher;
use notify::RecursiveMode;
use notify::Watcher as _;

use crate::event::Warning;
use crate::registry::Inner;

/// How often it looks.
const PERIOD: Duration = Duration::from_secs(1);

/// How long a file has to stay as it is: it may be read while it is still being written.
const SETTLED: Duration = Duration::from_millis(50);

/// How often it waits for that, before it takes what there is.
const ROUNDS: usize = 20;

/// Looks until it is dropped.
pub(super) struct Watcher {
    _polls: PollWatcher,
}

impl Inner {
    pub(super) fn watch(self: &Arc<Self>) {
        let paths = self.reading().paths();
        let watched = Arc::downgrade(self);
        let look = move |_| look(&watched);
        let config = Config::default()
            .with_poll_interval(PERIOD)
            .with_compare_contents(true);
        let watcher = PollWatcher::new(look, config).and_then(|mut polls| {
            for path in &paths {
                polls.watch(path, RecursiveMode::NonRecursive)?;
            }
            Ok(Watcher { _polls: polls })
        });
        match watcher {
            Err(error) => self.warn(Warning::NotWatched(error.to_string())),
            Ok(watcher) => {
                *self.watcher.lock().unwrap_or_else(PoisonError::into_inner) = Some(watcher);
                // What was written between the first reading and now.
                self.reload_if_changed();
            }
        }
    }

    pub(super) fn stop_watching(&self) {
        let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        drop(watcher.take());
    }

    fn reload_if_changed(&self) {
        let sources = self.reading().sources();
        let mut seen = sources.load();
        if self.reading().has_read(&seen) {
            return;
        }
        // Nobody waits for this: whoever wants to reload does so meanwhile.
        for _ in 0..ROUNDS {
            thread::sleep(SETTLED);
            let again = sources.load();
            if again == seen {
                break;
            }
            seen = again;
        }
        let mut reading = self.reading();
        let loaded = sources.load();
        if reading.has_read(&loaded) {
            return;
        }
        if let Err(error) = self.take_over(&mut reading, loaded) {
            self.warn(Warning::Configuration(error));
        }
    }
}

/// Something about the files may be different.
fn look(watched: &Weak<Inner>) {
    if let Some(inner) = watched.upgrade()
        && !inner.closed.load(SeqCst)
    {
        inner.reload_if_changed();
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watcher").finish_non_exhaustive()
    }
}
