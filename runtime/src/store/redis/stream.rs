//! Opens the socket: TCP, a Unix socket, or TLS over TCP.

use std::io;
use std::time::Duration;

use redis::io::tcp::socket2::SockRef;
use redis::io::tcp::socket2::TcpKeepalive;
use tokio::io::AsyncRead;
use tokio::io::AsyncWrite;
use tokio::net::TcpStream;

use crate::store::redis::address::Place;
use crate::store::redis::tls::Tls;

pub(super) trait Socket: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Socket for T {}

/// What was sent and is not acknowledged for so long is lost, and the connection with it.
#[cfg(any(target_os = "android", target_os = "linux"))]
const UNACKNOWLEDGED: Duration = Duration::from_secs(5);

const KEEPALIVE: Duration = Duration::from_secs(15);

pub(super) async fn open(place: &Place, tls: Option<&Tls>) -> io::Result<Box<dyn Socket>> {
    let (host, port) = match place {
        Place::Tcp { host, port } => (host, *port),
        Place::Unix(path) => return open_unix(path).await,
    };
    let stream = TcpStream::connect((host.as_str(), port)).await?;
    // Otherwise a command waits for the acknowledgement of the one before it.
    stream.set_nodelay(true)?;
    let socket = SockRef::from(&stream);
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE))?;
    #[cfg(any(target_os = "android", target_os = "linux"))]
    socket.set_tcp_user_timeout(Some(UNACKNOWLEDGED))?;
    match tls {
        Some(tls) => tls.wrap(host, stream).await,
        None => Ok(Box::new(stream)),
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
