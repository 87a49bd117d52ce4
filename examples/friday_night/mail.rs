//! The e-mail service: a second HTTP server, healthy all night.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use axum::Router;
use axum::routing::post;
use tokio::net::TcpListener;

/// Opens the service; it counts the e-mails it sends.
pub(crate) async fn open() -> io::Result<(SocketAddr, Arc<AtomicUsize>)> {
    let sent = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&sent);
    let send = async move || {
        // A number for the report: nothing else hangs on it.
        counter.fetch_add(1, Relaxed);
    };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let router = Router::new().route("/send", post(send));
    tokio::spawn(async { axum::serve(listener, router).await });
    Ok((address, sent))
}
