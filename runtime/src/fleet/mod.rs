//! Keeps the circuits of one process in step with those of all others, through a store.
//!
//! It has a thread and a runtime of its own, so that no runtime of a caller matters, of which
//! there may be many and short-lived ones; and no call ever waits for anything here, but one
//! that would be rejected otherwise.

mod budget;
mod crew;
mod ears;
mod flushes;
#[cfg(test)]
mod model;

use std::io;
use std::panic::RefUnwindSafe;
use std::panic::UnwindSafe;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tokio::runtime;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::oneshot;
use tokio::sync::watch;
use tokio::task;
use tokio::task::JoinSet;
use tokio::task::LocalSet;

use crate::breaker::Breaker;
use crate::member::Link;
use crate::sharing::WhenStoreIsLost;
#[cfg(feature = "metrics")]
use crate::store::Counts;
use crate::store::Entry;
use crate::store::JOURNAL;
use crate::store::Store;
use crate::store::StoreError;

use crew::Crew;
use crew::LOOKS_AT_ONCE;
use ears::Ears;

pub(crate) use ears::Heard;

/// How long the end of a process waits for what is still to be told.
const LAST_WORDS: Duration = Duration::from_millis(500);

pub(crate) struct Fleet {
    link: Arc<Link>,
    ears: Arc<Ears>,
    orders: UnboundedSender<Order>,
    #[cfg(feature = "metrics")]
    counts: Option<Arc<Counts>>,
    closing: watch::Sender<bool>,
    closed: Mutex<mpsc::Receiver<()>>,
}

/// Something to do on the thread.
enum Order {
    Join(&'static Breaker),
    Journal {
        circuit: String,
        answer: oneshot::Sender<Read>,
    },
}

/// A journal, or why there is none.
pub(crate) type Read = Result<Vec<Entry>, StoreError>;

/// What a panic may have passed is only asked and told things here, and is never half changed.
impl UnwindSafe for Fleet {}
impl RefUnwindSafe for Fleet {}

impl Fleet {
    /// Starts the thread, which ends when this is dropped. `tell` hears when the store is
    /// found and lost.
    pub(crate) fn start(
        store: Arc<dyn Store>,
        when_lost: WhenStoreIsLost,
        tell: impl Fn(Heard) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let link = Arc::new(Link::new(fastrand::u64(1..), when_lost));
        let (orders, ordered) = unbounded_channel();
        #[cfg(feature = "metrics")]
        let counts = store.counts();
        let (closing, is_closing) = watch::channel(false);
        let (close, closed) = mpsc::channel();
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let ears = Arc::new(Ears::new(Arc::clone(&link), Box::new(tell)));
        let known = Arc::clone(&ears);
        thread::Builder::new()
            .name("breakerbox-store".to_owned())
            .spawn(move || {
                // Whoever waits for an answer must not wait for ever, whatever happens here.
                let _gone = Gone(Arc::clone(&ears));
                let work = keep(store, ears, ordered, is_closing);
                LocalSet::new().block_on(&runtime, work);
                let _ = close.send(());
            })?;
        Ok(Self {
            link,
            ears: known,
            orders,
            #[cfg(feature = "metrics")]
            counts,
            closing,
            closed: Mutex::new(closed),
        })
    }

    /// From now on the circuit is shared.
    pub(crate) fn join(&self, breaker: &'static Breaker) {
        if breaker.join(&self.link).is_some() {
            // Before anything of it can be told.
            self.ears.know(breaker);
            let _ = self.orders.send(Order::Join(breaker));
        }
    }

    /// Asks the store for all that it has kept of what happened to a circuit. Nobody answers
    /// where the thread has ended.
    pub(crate) fn journal(&self, circuit: String) -> oneshot::Receiver<Read> {
        let (answer, answered) = oneshot::channel();
        let _ = self.orders.send(Order::Journal { circuit, answer });
        answered
    }

    /// Whether the store is there.
    #[cfg(feature = "metrics")]
    pub(crate) fn is_up(&self) -> bool {
        self.link.is_up()
    }

    /// What the connection to the store has done, where it has one.
    #[cfg(feature = "metrics")]
    pub(crate) fn counts(&self) -> Option<&Counts> {
        self.counts.as_deref()
    }

    /// Gives leases back and tells what is still to be told, for a moment at most.
    pub(crate) fn close(&self) {
        let _ = self.closing.send(true);
        let closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = closed.recv_timeout(LAST_WORDS);
    }
}

/// Says on its way out that nobody is heard any more.
struct Gone(Arc<Ears>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.leave();
    }
}

async fn keep(
    store: Arc<dyn Store>,
    ears: Arc<Ears>,
    mut ordered: UnboundedReceiver<Order>,
    is_closing: watch::Receiver<bool>,
) {
    store.start(Arc::clone(&ears) as Arc<_>);
    let looks = Arc::new(Semaphore::new(LOOKS_AT_ONCE));
    let mut crews = JoinSet::new();
    let mut closing = is_closing.clone();
    loop {
        tokio::select! {
            // Whoever joined before the end has something to say still.
            biased;
            order = ordered.recv() => match order {
                Some(Order::Join(breaker)) => {
                    if let Some(crew) = Crew::new(breaker, &store, &ears, &looks) {
                        crews.spawn_local(crew.run(is_closing.clone()));
                    }
                }
                Some(Order::Journal { circuit, answer }) => {
                    let store = Arc::clone(&store);
                    task::spawn_local(async move {
                        let _ = answer.send(store.journal(&circuit, JOURNAL).await);
                    });
                }
                None => break,
            },
            _ = closing.wait_for(|closes| *closes) => break,
        }
    }
    while crews.join_next().await.is_some() {}
}
