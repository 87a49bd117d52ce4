//! Opens the socket: TCP, a Unix socket, or TLS over TCP.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use redis::io::tcp::socket2::SockRef;
use redis::io::tcp::socket2::TcpKeepalive;
use tokio::io::AsyncRead;
use tokio::io::AsyncWrite;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::store::redis::address::Address;
use crate::store::redis::address::Place;
use crate::store::redis::names::Names;
use crate::store::redis::tls::Tls;

pub(super) trait Socket: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Socket for T {}

/// What was sent and is not acknowledged for so long is lost, and the connection with it.
#[cfg(any(target_os = "android", target_os = "linux"))]
const UNACKNOWLEDGED: Duration = Duration::from_secs(5);

/// Another address of the same host is tried after so long.
const HEAD_START: Duration = Duration::from_millis(100);

const KEEPALIVE: Duration = Duration::from_secs(15);

/// What all sockets of one process are opened with.
#[derive(Clone)]
pub(super) struct Dialer {
    tls: Option<Tls>,
    names: Names,
}

impl Dialer {
    pub(super) fn new(tls: Option<Tls>) -> Self {
        Self {
            tls,
            names: Names::default(),
        }
    }

    pub(super) async fn open(&self, address: &Address) -> io::Result<Box<dyn Socket>> {
        let (host, port) = match &address.place {
            Place::Tcp { host, port } => (host, *port),
            Place::Unix(path) => return open_unix(path).await,
        };
        let addresses = self.names.find(host, port).await?;
        let stream = connect(addresses.into_iter()).await?;
        // Otherwise a command waits for the acknowledgement of the one before it.
        stream.set_nodelay(true)?;
        let socket = SockRef::from(&stream);
        socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE))?;
        #[cfg(any(target_os = "android", target_os = "linux"))]
        socket.set_tcp_user_timeout(Some(UNACKNOWLEDGED))?;
        match self.tls.as_ref().filter(|_| address.tls) {
            Some(tls) => tls.wrap(host, stream).await,
            None => Ok(Box::new(stream)),
        }
    }
}

/// To the first of several addresses that lets one in: one that swallows everything is not to
/// take the time of the others.
async fn connect(mut addresses: impl Iterator<Item = SocketAddr>) -> io::Result<TcpStream> {
    let mut attempts = JoinSet::new();
    let mut cause = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    loop {
        let next = addresses.next();
        let has_next = next.is_some();
        if let Some(address) = next {
            attempts.spawn(TcpStream::connect(address));
        }
        tokio::select! {
            attempt = attempts.join_next() => match attempt {
                Some(Ok(Ok(stream))) => return Ok(stream),
                Some(Ok(Err(error))) => cause = error,
                Some(Err(_)) => {}
                None => return Err(cause),
            },
            () = tokio::time::sleep(HEAD_START), if has_next => {}
        }
    }
}

#[cfg(unix)]
async fn open_unix(path: &std::path::Path) -> io::Result<Box<dyn Socket>> {
    let stream = tokio::net::UnixStream::connect(path).await?;
    Ok(Box::new(stream))
}

#[cfg(not(unix))]
async fn open_unix(_: &std::path::Path) -> io::Result<Box<dyn Socket>> {
    Err(io::Error::other("there are no Unix sockets here"))
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;
    use tokio::net::TcpSocket;

    use super::*;

    /// One that is full takes in no more, and answers nothing.
    #[tokio::test]
    async fn an_address_that_swallows_everything_keeps_nobody_from_the_next_one() {
        let full = TcpSocket::new_v4().expect("a socket");
        full.bind("127.0.0.1:0".parse().expect("an address"))
            .expect("a port");
        let full = full.listen(1).expect("it listens");
        let silent = full.local_addr().expect("its number");
        let mut waiting = Vec::new();
        for _ in 0..8 {
            let connecting = TcpStream::connect(silent);
            let limit = Duration::from_millis(50);
            waiting.push(tokio::time::timeout(limit, connecting).await);
        }
        assert!(waiting.last().is_some_and(Result::is_err), "it is full");
        let good = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let good = good.local_addr().expect("its number");
        let opening = connect([silent, good].into_iter());
        // As long as a connection may take with all that belongs to it.
        let opened = tokio::time::timeout(Duration::from_secs(1), opening).await;
        let opened = opened.expect("in time").expect("a connection");
        assert_eq!(opened.peer_addr().ok(), Some(good));
    }

    #[tokio::test]
    async fn where_no_address_answers_it_is_said_why() {
        let gone = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = gone.local_addr().expect("its number");
        drop(gone);
        let error = connect([address, address].into_iter()).await;
        let error = error.expect_err("nobody listens");
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        let error = connect([].into_iter()).await.expect_err("no address");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
