//! The service that all of them call, as bad as it is told to be.

use std::io;
use std::net::Ipv4Addr;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::time::Duration;

use tokio::io::AsyncBufReadExt;
use tokio::io::AsyncReadExt;
use tokio::io::AsyncWriteExt;
use tokio::io::BufStream;
use tokio::net::TcpListener;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::time;

use crate::circuits::CIRCUITS;
use crate::probes::Ended;
use crate::probes::Probes;

/// How it behaves towards the callers of one circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    Well,
    Failing,
    /// About every other call fails.
    Flaky,
    /// It answers, too late for some rule and in time for its callers.
    Slow,
    /// It does not answer.
    Hanging,
}

pub(crate) struct Service {
    address: SocketAddr,
    moods: Arc<Moods>,
    pub(crate) probes: Arc<Probes>,
    /// What serves runs until this is dropped.
    _runtime: Runtime,
}

type Moods = [Mutex<Mood>; CIRCUITS.len()];

impl Service {
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = Runtime::new()?;
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
        let address = listener.local_addr()?;
        let moods: Arc<Moods> = Arc::new(std::array::from_fn(|_| Mutex::new(Mood::Well)));
        let probes = Arc::new(Probes::default());
        let serving = (Arc::clone(&moods), Arc::clone(&probes));
        runtime.spawn(async move {
            let (moods, probes) = serving;
            loop {
                // One that is closed before it is accepted is no reason to stop.
                if let Ok((stream, _)) = listener.accept().await {
                    let _ = stream.set_nodelay(true);
                    let (moods, probes) = (Arc::clone(&moods), Arc::clone(&probes));
                    tokio::spawn(async move { serve(stream, &moods, &probes).await });
                }
            }
        });
        Ok(Self {
            address,
            moods,
            probes,
            _runtime: runtime,
        })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn set(&self, circuit: usize, mood: Mood) {
        *lock(&self.moods[circuit]) = mood;
    }
}

/// Answers one connection until its caller is gone.
async fn serve(stream: TcpStream, moods: &Moods, probes: &Probes) -> Option<()> {
    let mut stream = BufStream::new(stream);
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok().filter(|n| *n > 0)?;
        let mut words = line.split_whitespace();
        let seat = words.next()?.parse().ok()?;
        let circuit: usize = words.next()?.parse().ok()?;
        let generation: u64 = words.next()?.parse().ok()?;
        let probe = (generation != 0).then(|| probes.begin(circuit, seat, generation));
        let end = |how| {
            if let Some(probe) = probe {
                probes.end(probe, how);
            }
        };
        let mood = *lock(&moods[circuit]);
        let takes = match mood {
            Mood::Slow => 250..350,
            Mood::Hanging => 3_600_000..3_600_001,
            Mood::Well | Mood::Failing | Mood::Flaky => 0..4,
        };
        let takes = Duration::from_millis(fastrand::u64(takes));
        let mut nothing = [0];
        tokio::select! {
            // Whoever calls says nothing more before it is answered.
            _ = stream.read(&mut nothing) => {
                end(Ended::Gone);
                return None;
            }
            () = time::sleep(takes) => {}
        }
        let is_well = match mood {
            Mood::Failing | Mood::Hanging => false,
            Mood::Flaky => fastrand::bool(),
            Mood::Well | Mood::Slow => true,
        };
        // Before its caller can know.
        end(if is_well { Ended::Well } else { Ended::Badly });
        let answer: &[u8] = if is_well { b"ok\n" } else { b"no\n" };
        stream.write_all(answer).await.ok()?;
        stream.flush().await.ok()?;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
