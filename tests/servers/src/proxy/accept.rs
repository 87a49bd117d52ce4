//! The listener, which comes and goes.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::net::TcpSocket;
use tokio::net::TcpStream;

use crate::proxy::relay;
use crate::proxy::rules::Shared;

const PAUSE: Duration = Duration::from_millis(5);

/// Listens on the very address, also right after connections to it have ended.
pub(crate) async fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(1024)
}

/// Accepts connections for ever, except while it is told to refuse.
pub(crate) async fn serve(address: SocketAddr, listener: TcpListener, shared: Arc<Shared>) {
    let mut rules = shared.rules();
    let mut listener = Some(listener);
    loop {
        let refusing = rules.borrow_and_update().refusing;
        if refusing {
            listener = None;
        } else if listener.is_none() {
            listener = listen(address).await.ok();
        }
        shared.now_listens(listener.is_some());
        tokio::select! {
            changed = rules.changed() => if changed.is_err() { return },
            client = next(listener.as_ref()) => if let Ok(client) = client {
                shared.began();
                tokio::spawn(relay::relay(client, Arc::clone(&shared)));
            },
            // Somebody else had the port.
            () = tokio::time::sleep(PAUSE), if listener.is_none() && !refusing => {}
        }
    }
}

async fn next(listener: Option<&TcpListener>) -> io::Result<TcpStream> {
    match listener {
        Some(listener) => Ok(listener.accept().await?.0),
        None => std::future::pending().await,
    }
}
