//! The way to the service.

use std::net::SocketAddr;
use std::time::Duration;

use breakerbox::Breaker;
use breakerbox::State;
use tokio::io::AsyncBufReadExt;
use tokio::io::AsyncReadExt;
use tokio::io::AsyncWriteExt;
use tokio::io::BufStream;
use tokio::net::TcpStream;
use tokio::time;

use crate::circuits::CIRCUITS;

/// The service did not do it.
#[derive(Debug)]
pub(super) struct Failed;

/// One call at a time, on a connection that is kept for as long as its calls are answered.
pub(super) struct Client {
    service: SocketAddr,
    seat: usize,
    circuit: usize,
    stream: Option<BufStream<TcpStream>>,
}

/// So long it is waited until the service has noticed that nobody waits for it.
const PARTING: Duration = Duration::from_secs(2);

impl Client {
    pub(super) const fn new(service: SocketAddr, seat: usize, circuit: usize) -> Self {
        Self {
            service,
            seat,
            circuit,
            stream: None,
        }
    }

    pub(super) fn circuit(&self) -> usize {
        self.circuit
    }

    /// Asks the service for something. Tells it whether this is a probe, and of which
    /// generation: who is let in by a circuit that is half-open is one.
    pub(super) async fn ask(&mut self, breaker: &Breaker) -> Result<(), Failed> {
        let seen = breaker.snapshot();
        let probe = match seen.state {
            State::HalfOpen => seen.generation,
            _ => 0,
        };
        // Not put back by a call that is dropped or fails.
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => BufStream::new(TcpStream::connect(self.service).await.map_err(failed)?),
        };
        let line = format!("{} {} {probe}\n", self.seat, self.circuit);
        stream.write_all(line.as_bytes()).await.map_err(failed)?;
        stream.flush().await.map_err(failed)?;
        let mut answer = String::new();
        let patience = CIRCUITS[self.circuit].patience;
        match time::timeout(patience, stream.read_line(&mut answer)).await {
            Ok(Ok(1..)) => {
                self.stream = Some(stream);
                (answer == "ok\n").then_some(()).ok_or(Failed)
            }
            Ok(_) => Err(Failed),
            Err(_) => {
                // The place of a probe is not free before its service has let go of it.
                let _ = stream.shutdown().await;
                let mut rest = Vec::new();
                let _ = time::timeout(PARTING, stream.read_to_end(&mut rest)).await;
                Err(Failed)
            }
        }
    }
}

fn failed(_: std::io::Error) -> Failed {
    Failed
}
