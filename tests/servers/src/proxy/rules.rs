//! What holds at the moment, and what has been counted.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use tokio::sync::watch;

use crate::proxy::Direction;

/// What is done to connections. The numbers only grow: a connection compares them with
/// those of its beginning.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) server: SocketAddr,
    pub(crate) passage: Passage,
    pub(crate) refusing: bool,
    /// By direction.
    pub(crate) delays: [Delay; 2],
    /// How often all connections were dropped.
    pub(crate) dropped: u64,
    /// The last such time that was a reset.
    pub(crate) reset: u64,
    pub(crate) half_closed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passage {
    Free,
    Held,
    Swallowed,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delay {
    pub(crate) fixed: Duration,
    pub(crate) jitter: Duration,
}

impl Delay {
    pub(crate) fn next(self) -> Duration {
        self.fixed + self.jitter.mul_f64(fastrand::f64())
    }
}

/// Between the proxy's thread and everybody else.
#[derive(Debug)]
pub(crate) struct Shared {
    rules: watch::Sender<Rules>,
    /// What is left until the cut, by direction.
    left: Mutex<[Option<u64>; 2]>,
    listens: AtomicBool,
    accepted: AtomicUsize,
    live: AtomicUsize,
    bytes: [AtomicU64; 2],
    swallowed: [AtomicU64; 2],
}

impl Shared {
    pub(crate) fn new(server: SocketAddr) -> Self {
        let rules = Rules {
            server,
            passage: Passage::Free,
            refusing: false,
            delays: [Delay::default(); 2],
            dropped: 0,
            reset: 0,
            half_closed: 0,
        };
        Self {
            rules: watch::Sender::new(rules),
            left: Mutex::new([None; 2]),
            listens: AtomicBool::new(true),
            accepted: AtomicUsize::new(0),
            live: AtomicUsize::new(0),
            bytes: [AtomicU64::new(0), AtomicU64::new(0)],
            swallowed: [AtomicU64::new(0), AtomicU64::new(0)],
        }
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut Rules)) {
        self.rules.send_modify(change);
    }

    pub(crate) fn rules(&self) -> watch::Receiver<Rules> {
        self.rules.subscribe()
    }

    pub(crate) fn heal(&self) {
        *self.left() = [None; 2];
        self.change(|rules| {
            rules.passage = Passage::Free;
            rules.refusing = false;
            rules.delays = [Delay::default(); 2];
        });
    }

    pub(crate) fn cut_after(&self, direction: Direction, bytes: u64) {
        self.left()[direction as usize] = Some(bytes);
    }

    /// How many of so many bytes may pass. Fewer than all, or `true`: cut after them.
    pub(crate) fn admit(&self, direction: Direction, bytes: usize) -> (usize, bool) {
        let mut left = self.left();
        let left = &mut left[direction as usize];
        match *left {
            Some(few) if few <= bytes as u64 => {
                *left = None;
                (usize::try_from(few).unwrap_or(bytes), true)
            }
            Some(many) => {
                *left = Some(many - bytes as u64);
                (bytes, false)
            }
            None => (bytes, false),
        }
    }

    pub(crate) fn passed(&self, direction: Direction, bytes: usize) {
        self.bytes[direction as usize].fetch_add(bytes as u64, SeqCst);
    }

    pub(crate) fn bytes(&self, direction: Direction) -> u64 {
        self.bytes[direction as usize].load(SeqCst)
    }

    pub(crate) fn lost(&self, direction: Direction, bytes: usize) {
        self.swallowed[direction as usize].fetch_add(bytes as u64, SeqCst);
    }

    pub(crate) fn swallowed(&self, direction: Direction) -> u64 {
        self.swallowed[direction as usize].load(SeqCst)
    }

    pub(crate) fn listens(&self) -> bool {
        self.listens.load(SeqCst)
    }

    pub(crate) fn now_listens(&self, listens: bool) {
        self.listens.store(listens, SeqCst);
    }

    pub(crate) fn began(&self) {
        self.accepted.fetch_add(1, SeqCst);
        self.live.fetch_add(1, SeqCst);
    }

    pub(crate) fn ended(&self) {
        self.live.fetch_sub(1, SeqCst);
    }

    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(SeqCst)
    }

    pub(crate) fn live(&self) -> usize {
        self.live.load(SeqCst)
    }

    fn left(&self) -> MutexGuard<'_, [Option<u64>; 2]> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
