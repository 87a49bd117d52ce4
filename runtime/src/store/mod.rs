//! Where the circuits lie that several processes share.
//!
//! A store does one command at a time on a circuit, by [`apply`](crate::rules::fleet::apply)
//! or a twin of it, and tells everybody what came of it. It knows nothing of calls.

mod memory;
mod name;
mod noted;
mod redis;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::policy::Policy;
use crate::rules::fleet::Reply;
use crate::rules::fleet::Request;
use crate::rules::fleet::Told;

pub use memory::MemoryStore;
pub(crate) use noted::Note;
pub use redis::AddressError;
#[cfg(any(test, feature = "metrics"))]
pub(crate) use redis::Counts;
pub use redis::Redis;

/// A store that circuits can be shared through: [`Redis`], or a [`MemoryStore`].
#[derive(Clone)]
pub struct SharedStore(Kind);

#[derive(Clone)]
enum Kind {
    Memory(MemoryStore),
    Redis(Box<Redis>),
}

impl SharedStore {
    /// Judges what is said about it. It connects to nothing yet.
    pub(crate) fn open(self, seed: Option<u64>) -> Result<Arc<dyn Store>, AddressError> {
        Ok(match self.0 {
            Kind::Memory(store) => Arc::new(store),
            Kind::Redis(redis) => Arc::new(match seed {
                Some(seed) => redis.seed(seed).open()?,
                None => redis.open()?,
            }),
        })
    }
}

impl From<MemoryStore> for SharedStore {
    fn from(store: MemoryStore) -> Self {
        Self(Kind::Memory(store))
    }
}

impl From<Redis> for SharedStore {
    fn from(redis: Redis) -> Self {
        Self(Kind::Redis(Box::new(redis)))
    }
}

impl fmt::Debug for SharedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedStore").finish_non_exhaustive()
    }
}

/// A store that circuits are shared through.
pub(crate) trait Store: Send + Sync {
    /// Connects, and stays connected until it is dropped. Called once, on the thread and
    /// runtime where all futures of the store are polled; `listener` hears from there, too.
    fn start(&self, listener: Arc<dyn Listener>);

    /// Does one command on a circuit, within so long or never. The store sets the deadline of
    /// the request.
    fn submit<'a>(
        &'a self,
        circuit: &'a str,
        request: Request,
        policy: &'a Policy,
        within: Duration,
    ) -> Submission<'a>;

    /// Whether its connection can fall behind: then no answer proves that all messages before
    /// it have come, and circuits are asked for again and again.
    fn polls(&self) -> Option<Duration>;

    /// The last that has happened to a circuit, newest first and at most `limit`; the store
    /// keeps [`JOURNAL`] of each.
    fn journal<'a>(&'a self, circuit: &'a str, limit: usize) -> Journal<'a>;

    /// Notes by which numbers this process goes, and gives all that processes go by which share
    /// the circuit, as they have said lately.
    fn compare<'a>(&'a self, circuit: &'a str, note: &'a Note) -> Comparison<'a>;

    /// What its connection has done so far, where it has one.
    #[cfg(any(test, feature = "metrics"))]
    fn counts(&self) -> Option<Arc<Counts>> {
        None
    }
}

/// A store keeps so many entries of each circuit.
pub(crate) const JOURNAL: usize = 100;

/// Numbers, to come.
pub(crate) type Comparison<'a> =
    Pin<Box<dyn Future<Output = Result<Vec<String>, StoreError>> + Send + 'a>>;

/// Entries of a journal, to come.
pub(crate) type Journal<'a> =
    Pin<Box<dyn Future<Output = Result<Vec<Entry>, StoreError>> + Send + 'a>>;

/// What everybody was told of a circuit. The journal has those that say that it has moved or
/// was put back.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) told: Told,
    /// What the process is called whose command it was.
    pub(crate) origin: Arc<str>,
}

/// The answer to a command, to come.
pub(crate) type Submission<'a> =
    Pin<Box<dyn Future<Output = Result<Reply, StoreError>> + Send + 'a>>;

/// Who hears of what happens. Called one at a time, and must not block.
pub(crate) trait Listener: Send + Sync {
    /// It is connected and messages come: circuits are to be asked for now.
    fn up(&self);

    /// It is not connected any more, or not yet.
    fn down(&self, cause: &StoreError);

    /// A circuit has moved, as told by the store; in the order of its epochs. `origin` is what
    /// the process is called whose command it was.
    fn told(&self, circuit: &str, told: &Told, origin: &Arc<str>);

    /// Some process has begun to go by other numbers, or has stopped.
    fn renumbered(&self, circuit: &str);
}

/// Why a store did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoreError {
    /// There is no connection, or there is none any more. Whether it was done is not known.
    Unavailable(Arc<str>),
    /// No answer in time. Whether it was done is not known.
    TimedOut,
    /// It would have been done too late, and was not.
    Late,
    /// It has no room, or does not let itself be written to. Nothing was done.
    Full(Arc<str>),
    /// Whoever connects may not do this. Nothing was done.
    Denied(Arc<str>),
    /// What lies there is not ours, or of a version to come. Nothing was done.
    Foreign(Arc<str>),
}

impl StoreError {
    /// Whether only this circuit suffers from it, and others may do well.
    pub(crate) const fn is_about_one_circuit(&self) -> bool {
        match self {
            Self::Unavailable(_) | Self::TimedOut | Self::Late => false,
            Self::Full(_) | Self::Denied(_) | Self::Foreign(_) => true,
        }
    }

    /// The kind as metrics label it.
    pub(crate) const fn label(&self) -> &'static str {
        match self {
            Self::Unavailable(_) => "unavailable",
            Self::TimedOut => "timed_out",
            Self::Late => "late",
            Self::Full(_) => "full",
            Self::Denied(_) => "denied",
            Self::Foreign(_) => "foreign",
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(why) => write!(f, "no connection: {why}"),
            Self::TimedOut => f.write_str("no answer in time"),
            Self::Late => f.write_str("it came too late to be done"),
            Self::Full(why) => write!(f, "it has no room: {why}"),
            Self::Denied(why) => write!(f, "it does not allow that: {why}"),
            Self::Foreign(why) => write!(f, "something else lies there: {why}"),
        }
    }
}
