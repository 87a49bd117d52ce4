//! Ports of the loopback that nobody has.

use std::io;
use std::net::Ipv4Addr;
use std::net::TcpListener;

/// Below those that Linux, BSD and macOS hand out for outgoing connections: a client that
/// tries again and again to reach a server that is down may be given the very port as its
/// own, and then talks to itself while the server cannot come back.
const PORTS: std::ops::Range<u16> = 10_000..32_000;

/// A port that was free a moment ago. Somebody may be faster: whoever starts a server on it
/// tries another one then.
pub(crate) fn free() -> io::Result<u16> {
    let mut last = io::Error::from(io::ErrorKind::AddrInUse);
    for _ in 0..100 {
        let port = fastrand::u16(PORTS);
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(_) => return Ok(port),
            Err(error) => last = error,
        }
    }
    Err(last)
}
