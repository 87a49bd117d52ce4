//! What is on its way in one direction, and when it is due.

use tokio::io::AsyncReadExt;
use tokio::net::tcp::ReadHalf;
use tokio::sync::mpsc;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::proxy::Direction;
use crate::proxy::rules::Rules;

const PIECE: usize = 16 * 1024;

/// So many pieces may be on their way before the sender has to wait.
pub(crate) const PIECES: usize = 1024;

/// Bytes, or with none the end, and when they arrive.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) due: Instant,
    pub(crate) bytes: Vec<u8>,
}

/// Reads to the end, and sends every piece on its way.
pub(crate) async fn fill(
    direction: Direction,
    mut from: ReadHalf<'_>,
    pieces: mpsc::Sender<Piece>,
    rules: watch::Receiver<Rules>,
) {
    loop {
        let mut bytes = Vec::with_capacity(PIECE);
        // A reset is an end that takes its time as others do, or is swallowed.
        let ends = !matches!(from.read_buf(&mut bytes).await, Ok(1..));
        let delay = rules.borrow().delays[direction as usize].next();
        let due = Instant::now() + delay;
        let gone = pieces.send(Piece { due, bytes }).await.is_err();
        if ends || gone {
            return;
        }
    }
}
