//! What a developer writes: a client of the provider, and the one attribute.
//!
//! Nothing here knows of other processes. That the circuit is shared is said once, where the
//! registry is built (`worker.rs`).

use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use std::time::Instant;

use breakerbox::Rejected;
use breakerbox::circuit_breaker;
use tokio::io::AsyncBufReadExt;
use tokio::io::AsyncWriteExt;
use tokio::io::BufReader;
use tokio::net::TcpStream;

/// As many failures in a row, of all processes together, open the circuit.
pub(crate) const THRESHOLD: u32 = 5;

#[circuit_breaker(service = "stripe", threshold = THRESHOLD, cooldown = "1s")]
pub(crate) async fn charge(stripe: &mut Stripe) -> Result<(), ChargeError> {
    match stripe.post("/charges").await? {
        200 => Ok(()),
        status => Err(ChargeError::Status(status)),
    }
}

/// What can come of a charge that was not made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChargeError {
    /// The circuit is open: nothing left this process.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    #[error("stripe answered {0}")]
    Status(u16),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A connection to the provider, which is opened when it is needed.
#[derive(Debug)]
pub(crate) struct Stripe {
    address: SocketAddr,
    worker: usize,
    connection: Option<BufReader<TcpStream>>,
    /// How long the provider has taken for all requests so far.
    pub(crate) took: Duration,
}

impl Stripe {
    pub(crate) const fn new(address: SocketAddr, worker: usize) -> Self {
        Self {
            address,
            worker,
            connection: None,
            took: Duration::ZERO,
        }
    }

    async fn post(&mut self, path: &str) -> io::Result<u16> {
        let begun = Instant::now();
        let answer = self.exchange(path).await;
        self.took += begun.elapsed();
        if answer.is_err() {
            self.connection = None;
        }
        answer
    }

    async fn exchange(&mut self, path: &str) -> io::Result<u16> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => {
                let stream = TcpStream::connect(self.address).await?;
                stream.set_nodelay(true)?;
                none.insert(BufReader::new(stream))
            }
        };
        let request = format!("POST {path} {}\n", self.worker);
        connection.get_mut().write_all(request.as_bytes()).await?;
        let mut status = String::new();
        connection.read_line(&mut status).await?;
        status.trim().parse().map_err(io::Error::other)
    }
}
