//! The store against real servers, and what can happen to them.

mod clocks;
mod clusters;
mod fake;
mod logins;
mod losses;
mod messages;
mod nodes;
mod old;
mod patience;
mod refusals;
mod rights;
mod scripted;
mod sentinels;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;

use crate::policy::Policy;
use crate::rules::fleet::Command;
use crate::rules::fleet::CoverKind;
use crate::rules::fleet::Flush;
use crate::rules::fleet::Force;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Reply;
use crate::rules::fleet::Request;
use crate::rules::fleet::Told;
use crate::store::Listener;
use crate::store::Store;
use crate::store::StoreError;
use crate::store::redis::Counts;
use crate::store::redis::Redis;
use crate::store::redis::RedisStore;

/// Longer than anything takes that works.
const LIMIT: Duration = Duration::from_secs(30);

/// As long as a command is ever waited for.
const WITHIN: Duration = Duration::from_millis(250);

const POLICY: Policy = Policy::new();

/// One of the processes of a fleet, as far as the store knows.
struct Process {
    store: RedisStore,
    heard: UnboundedReceiver<Heard>,
    counts: Arc<Counts>,
}

#[derive(Debug)]
enum Heard {
    Up,
    Down(StoreError),
    Told(String, Box<Told>),
    Renumbered(String),
}

struct Sender(UnboundedSender<Heard>);

impl Listener for Sender {
    fn up(&self) {
        let _ = self.0.send(Heard::Up);
    }

    fn down(&self, cause: &StoreError) {
        let _ = self.0.send(Heard::Down(cause.clone()));
    }

    fn told(&self, circuit: &str, told: &Told, _origin: &Arc<str>) {
        let _ = self
            .0
            .send(Heard::Told(circuit.to_owned(), Box::new(told.clone())));
    }

    fn renumbered(&self, circuit: &str) {
        let _ = self.0.send(Heard::Renumbered(circuit.to_owned()));
    }
}

/// A process, which connects.
fn start(redis: &Redis) -> Process {
    let store = redis.open().expect("an address that can be used");
    let (sender, heard) = mpsc::unbounded_channel();
    store.start(Arc::new(Sender(sender)));
    let counts = store.counts().expect("its counts");
    Process {
        store,
        heard,
        counts,
    }
}

/// The same, once it is connected.
async fn connected(redis: &Redis) -> Process {
    let mut process = start(redis);
    process.up().await;
    process
}

impl Process {
    async fn next(&mut self) -> Heard {
        let heard = tokio::time::timeout(LIMIT, self.heard.recv()).await;
        heard.expect("something happens").expect("it goes on")
    }

    /// Waits until it is connected, whatever it hears before.
    async fn up(&mut self) {
        while !matches!(self.next().await, Heard::Up) {}
    }

    /// The next thing it hears is that it is connected no more.
    async fn down(&mut self) -> StoreError {
        loop {
            match self.next().await {
                Heard::Down(cause) => return cause,
                Heard::Told(..) | Heard::Renumbered(_) => {}
                Heard::Up => panic!("it is up once more"),
            }
        }
    }

    /// The next message.
    async fn told(&mut self) -> (String, Told) {
        match self.next().await {
            Heard::Told(circuit, told) => (circuit, *told),
            other => panic!("no message, but {other:?}"),
        }
    }

    /// The circuit of the next message, which is that somebody goes by other numbers.
    async fn renumbered(&mut self) -> String {
        match self.next().await {
            Heard::Renumbered(circuit) => circuit,
            other => panic!("no such message, but {other:?}"),
        }
    }

    async fn submit(&self, circuit: &str, command: Command) -> Result<Reply, StoreError> {
        self.submit_within(circuit, command, WITHIN).await
    }

    async fn submit_within(
        &self,
        circuit: &str,
        command: Command,
        within: Duration,
    ) -> Result<Reply, StoreError> {
        let request = Request {
            command,
            instance: 7,
            ..Request::sync()
        };
        self.store.submit(circuit, request, &POLICY, within).await
    }

    async fn sync(&self, circuit: &str) -> Result<Reply, StoreError> {
        self.submit(circuit, Command::Sync).await
    }

    /// As many failures in a row as open it.
    async fn trip(&self, circuit: &str) -> Result<Reply, StoreError> {
        self.submit(circuit, failures(5)).await
    }

    async fn is_open(&self, circuit: &str) -> bool {
        let reply = self.sync(circuit).await;
        reply.expect("an answer").snapshot.phase == Phase::Open
    }

    /// How many commands of this kind were sent.
    fn sent(&self, kind: &str) -> u64 {
        let mut sent = self.counts.commands();
        sent.find(|(label, _)| *label == kind).expect("a kind").1
    }

    /// How often its heart has beaten.
    fn beats(&self) -> u64 {
        self.sent("heartbeat")
    }

    fn dropped(&self, reason: &str) -> u64 {
        let mut dropped = self.counts.dropped();
        let found = dropped.find(|(label, _)| *label == reason);
        found.expect("a reason").1
    }
}

fn failures(failures: u32) -> Command {
    Command::Flush(Flush {
        failures,
        ..Flush::default()
    })
}

fn force_open() -> Command {
    Command::Force(Force::Cover {
        kind: CoverKind::ForcedOpen,
        ttl: 60_000,
        actor: "ann".to_owned(),
        why: "maintenance".to_owned(),
    })
}

/// Asks until it is so.
async fn eventually<F: Future<Output = bool>>(what: &str, mut ask: impl FnMut() -> F) {
    let begun = Instant::now();
    while !ask().await {
        assert!(begun.elapsed() < LIMIT, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
