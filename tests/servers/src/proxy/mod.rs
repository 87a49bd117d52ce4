//! A network between a client and a server that can be made bad while it is used.

mod accept;
mod queue;
mod relay;
mod rules;

use std::io;
use std::net::Ipv4Addr;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::sync::oneshot;

use crate::error::Error;
use crate::port;
use crate::wait::until;
use rules::Passage;
use rules::Shared;

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the client to the server: commands.
    Up,
    /// From the server to the client: answers and pushes.
    Down,
}

/// A proxy on a port of the loopback in front of one server.
///
/// It has a thread of its own, and ends all connections when it is dropped. What is asked
/// of it holds from then on, for connections that exist and for those to come, unless a
/// method says otherwise. [`heal`](Self::heal) ends everything that lasts.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

impl Proxy {
    /// A proxy in front of a server, with nothing wrong.
    ///
    /// # Errors
    ///
    /// If there is no port or no thread for it.
    pub fn start(server: SocketAddr) -> Result<Self, Error> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        // A fixed port: it is given up and taken again by `refuse` and `heal`.
        let listener = loop {
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port::free()?));
            match runtime.block_on(accept::listen(address)) {
                Ok(listener) => break listener,
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                Err(error) => return Err(error.into()),
            }
        };
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::new(server));
        let (leave, left) = oneshot::channel();
        let serve = accept::serve(address, listener, Arc::clone(&shared));
        let thread = thread::Builder::new().name("proxy".into()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = serve => {}
                    _ = left => {}
                }
            });
        })?;
        Ok(Self {
            address,
            shared,
            thread: Some((leave, thread)),
        })
    }

    /// Where its clients connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `redis://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    /// Lets bytes arrive so much later, in one direction. Their order and the throughput
    /// stay.
    pub fn delay(&self, direction: Direction, by: Duration) {
        self.shared
            .change(|rules| rules.delays[direction as usize].fixed = by);
    }

    /// Adds to the delay of each piece a random time below this, in one direction. A piece
    /// does not overtake another: it waits for it.
    pub fn jitter(&self, direction: Direction, below: Duration) {
        self.shared
            .change(|rules| rules.delays[direction as usize].jitter = below);
    }

    /// Holds everything back, as a network does that is cut: connections are accepted, and
    /// what is sent arrives after [`heal`](Self::heal), late but whole.
    pub fn hold(&self) {
        self.shared.change(|rules| rules.passage = Passage::Held);
    }

    /// Swallows everything, in both directions, also that a side has closed: connections are
    /// accepted and never answered. One that has lost anything, or began meanwhile, stays
    /// silent for ever, also after [`heal`](Self::heal).
    pub fn black_hole(&self) {
        self.shared
            .change(|rules| rules.passage = Passage::Swallowed);
    }

    /// Accepts no connection: a client is refused as if nobody listened. Those that exist
    /// stay. Returns once it is so.
    pub fn refuse(&self) {
        self.shared.change(|rules| rules.refusing = true);
        until("the proxy refuses", || {
            (!self.shared.listens()).then_some(())
        });
    }

    /// Closes every connection in order, as a server that ends.
    pub fn drop_connections(&self) {
        self.shared.change(|rules| rules.dropped += 1);
    }

    /// Resets every connection: clients get an error instead of an end.
    pub fn reset_connections(&self) {
        self.shared.change(|rules| {
            rules.dropped += 1;
            rules.reset = rules.dropped;
        });
    }

    /// Ends the half of every connection that exists on which the server speaks: its client
    /// sees the end, and may go on to send what the server reads and executes.
    pub fn half_close(&self) {
        self.shared.change(|rules| rules.half_closed += 1);
    }

    /// Closes one connection in the middle of something, once: the one that carries the last
    /// of the next so many bytes in this direction, all connections counted together.
    pub fn cut_after(&self, direction: Direction, bytes: u64) {
        self.shared.cut_after(direction, bytes);
    }

    /// Sends new connections to another server, as an address that moves. Those that exist
    /// stay where they are until they are dropped.
    pub fn switch_to(&self, server: SocketAddr) {
        self.shared.change(|rules| rules.server = server);
    }

    /// Ends delay, jitter, holding, swallowing, refusing and a cut that has not happened.
    /// Returns once connections are accepted.
    pub fn heal(&self) {
        self.shared.heal();
        until("the proxy accepts", || self.shared.listens().then_some(()));
    }

    /// How many connections it has accepted in all.
    pub fn accepted(&self) -> usize {
        self.shared.accepted()
    }

    /// How many of them there are now.
    pub fn live(&self) -> usize {
        self.shared.live()
    }

    /// How many bytes were lost in a black hole on their way in a direction, in all.
    pub fn swallowed(&self, direction: Direction) -> u64 {
        self.shared.swallowed(direction)
    }

    /// How many bytes it has passed on in a direction, in all.
    pub fn bytes(&self, direction: Direction) -> u64 {
        self.shared.bytes(direction)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if let Some((leave, thread)) = self.thread.take() {
            drop(leave);
            // A panic of the proxy has been printed, and this may be the drop of another.
            let _ = thread.join();
        }
    }
}
