//! One connection, from its beginning to its end.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

use tokio::io::AsyncReadExt;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::net::tcp::WriteHalf;
use tokio::sync::mpsc;
use tokio::sync::watch;
use tokio::time::sleep_until;

use crate::proxy::Direction;
use crate::proxy::queue;
use crate::proxy::queue::Piece;
use crate::proxy::rules::Passage;
use crate::proxy::rules::Rules;
use crate::proxy::rules::Shared;

/// Carries bytes between a client and the server until one of them, or the proxy, ends it.
pub(crate) async fn relay(mut client: TcpStream, shared: Arc<Shared>) {
    let rules = shared.rules();
    let began = Began {
        dropped: rules.borrow().dropped,
        half_closed: rules.borrow().half_closed,
    };
    tokio::select! {
        // An end is an end, whoever brought it about.
        _ = carry(&mut client, began, &shared, rules.clone()) => {}
        () = grown(rules.clone(), |rules| rules.dropped > began.dropped) => {}
    }
    if rules.borrow().reset > began.dropped {
        // Where it is closed already there is nothing to reset.
        let _ = client.set_zero_linger();
    }
    drop(client);
    shared.ended();
}

/// The numbers of the rules when a connection began.
#[derive(Clone, Copy, Debug)]
struct Began {
    dropped: u64,
    half_closed: u64,
}

async fn carry(
    client: &mut TcpStream,
    began: Began,
    shared: &Shared,
    mut rules: watch::Receiver<Rules>,
) -> io::Result<()> {
    if opened(&mut rules).await == Passage::Swallowed {
        let mut bytes = [0; 4096];
        loop {
            match client.read(&mut bytes).await? {
                0 => return Ok(()),
                lost => shared.lost(Direction::Up, lost),
            }
        }
    }
    let address = rules.borrow().server;
    let mut server = TcpStream::connect(address).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;

    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.split();
    let (sent, commands) = mpsc::channel(queue::PIECES);
    let (answered, answers) = mpsc::channel(queue::PIECES);
    let silent = AtomicBool::new(false);
    let way = |direction, to, pieces| Way {
        direction,
        to,
        pieces,
        next: None,
        rules: rules.clone(),
        shared,
        silent: &silent,
    };
    let up = way(Direction::Up, to_server, commands);
    let down = way(Direction::Down, to_client, answers);
    let carried = async { tokio::try_join!(up.carry(began), down.carry(began)).map(drop) };
    let filled = async {
        tokio::join!(
            queue::fill(Direction::Up, from_client, sent, rules.clone()),
            queue::fill(Direction::Down, from_server, answered, rules.clone()),
        );
        std::future::pending().await
    };
    tokio::select! {
        ended = carried => ended,
        never = filled => never,
    }
}

/// One direction of one connection.
struct Way<'a> {
    direction: Direction,
    to: WriteHalf<'a>,
    pieces: mpsc::Receiver<Piece>,
    /// A piece that has not arrived.
    next: Option<Piece>,
    rules: watch::Receiver<Rules>,
    shared: &'a Shared,
    /// The connection has lost something, and so says nothing any more.
    silent: &'a AtomicBool,
}

impl Way<'_> {
    /// Until its end has arrived. An error ends the other direction, too.
    async fn carry(mut self, began: Began) -> io::Result<()> {
        let mut speaks = true;
        let closes = grown(self.rules.clone(), move |rules| {
            rules.half_closed > began.half_closed
        });
        tokio::pin!(closes);
        loop {
            let arrived = tokio::select! {
                biased;
                () = &mut closes, if speaks && self.direction == Direction::Down => None,
                arrived = self.arrived() => Some(arrived),
            };
            match arrived {
                None => {
                    self.to.shutdown().await?;
                    speaks = false;
                }
                Some(None) => return Ok(()),
                Some(Some((piece, passage))) => {
                    if passage == Passage::Swallowed {
                        self.silent.store(true, SeqCst);
                    }
                    if self.silent.load(SeqCst) {
                        if piece.is_empty() {
                            return self.ended_in_silence();
                        }
                        self.shared.lost(self.direction, piece.len());
                    } else if piece.is_empty() {
                        return self.to.shutdown().await;
                    } else if speaks {
                        self.pass(&piece).await?;
                    }
                }
            }
        }
    }

    /// The next piece, once it is due and nothing holds it back. Dropped meanwhile, it
    /// forgets nothing.
    async fn arrived(&mut self) -> Option<(Vec<u8>, Passage)> {
        if self.next.is_none() {
            self.next = self.pieces.recv().await;
        }
        sleep_until(self.next.as_ref()?.due).await;
        let passage = opened(&mut self.rules).await;
        Some((self.next.take()?.bytes, passage))
    }

    async fn pass(&mut self, piece: &[u8]) -> io::Result<()> {
        let (few, cut) = self.shared.admit(self.direction, piece.len());
        // Whoever has received them finds them counted.
        self.shared.passed(self.direction, few);
        self.to.write_all(&piece[..few]).await?;
        if cut {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        Ok(())
    }

    /// A client that left is gone. That the server left, its client never hears.
    fn ended_in_silence(&self) -> io::Result<()> {
        match self.direction {
            Direction::Up => Err(io::ErrorKind::ConnectionAborted.into()),
            Direction::Down => Ok(()),
        }
    }
}

/// Waits until nothing is held back, and returns what becomes of what passes.
async fn opened(rules: &mut watch::Receiver<Rules>) -> Passage {
    match rules.wait_for(|rules| rules.passage != Passage::Held).await {
        Ok(rules) => rules.passage,
        // The proxy is going.
        Err(_) => Passage::Swallowed,
    }
}

async fn grown(mut rules: watch::Receiver<Rules>, has: impl FnMut(&Rules) -> bool) {
    // Without a proxy nothing will.
    let _ = rules.wait_for(has).await;
}
