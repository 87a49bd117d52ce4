//! Listeners, each on a thread of its own: one that panics or blocks harms nobody.

use std::fmt;
use std::io;
use std::panic;
use std::panic::AssertUnwindSafe;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::mpsc;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::mpsc::SyncSender;
use std::thread;
use std::thread::ThreadId;
use std::time::Duration;
use std::time::Instant;

use crate::event::Event;

/// What a listener may be behind; events beyond are lost to it. A gap in the
/// generations tells.
const QUEUE: usize = 1_024;

/// How long closing waits for the last events to be heard.
const PATIENCE: Duration = Duration::from_secs(1);

pub(super) type Listen = Box<dyn Fn(&Event) + Send>;

#[derive(Default)]
pub(super) struct Listeners {
    all: Mutex<Vec<Listener>>,
}

pub(super) struct Listener {
    queue: SyncSender<Event>,
    /// Hangs up when the listener's thread has ended.
    ended: Receiver<()>,
    thread: ThreadId,
}

impl Listener {
    fn start(listen: Listen) -> io::Result<Self> {
        let (queue, events) = mpsc::sync_channel::<Event>(QUEUE);
        let (running, ended) = mpsc::channel::<()>();
        let thread = thread::Builder::new()
            .name("breakerbox-listener".to_owned())
            .spawn(move || {
                let _running = running;
                for event in events {
                    // Its panic has been reported by the panic hook; the next event
                    // finds it as if nothing had happened.
                    let _ = panic::catch_unwind(AssertUnwindSafe(|| listen(&event)));
                }
            })?;
        Ok(Self {
            queue,
            ended,
            thread: thread.thread().id(),
        })
    }
}

impl Listeners {
    /// Starts the threads of more listeners: all of them or none. They hear nothing yet.
    pub(super) fn start_all(all: Vec<Listen>) -> io::Result<Vec<Listener>> {
        let started = all.into_iter().map(Listener::start);
        started.collect()
    }

    pub(super) fn add_all(&self, started: Vec<Listener>) {
        self.lock().extend(started);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Never waits: a listener with a full queue does not hear this one.
    pub(super) fn tell(&self, event: &Event) {
        for listener in self.lock().iter() {
            let _ = listener.queue.try_send(event.clone());
        }
    }

    /// Says goodbye, and waits a moment until all has been heard. A listener that closes
    /// its own registry does not wait for itself, and hears the rest afterwards.
    pub(super) fn close(&self) {
        let all = std::mem::take(&mut *self.lock());
        let deadline = Instant::now() + PATIENCE;
        let here = thread::current().id();
        let others = all.into_iter().filter(|listener| listener.thread != here);
        for Listener { queue, ended, .. } in others {
            drop(queue);
            let left = deadline.saturating_duration_since(Instant::now());
            match ended.recv_timeout(left) {
                Ok(()) | Err(RecvTimeoutError::Disconnected) => {}
                // It blocks; the others have had the same chance.
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Listener>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Listeners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listeners")
            .field("number", &self.lock().len())
            .finish()
    }
}
