//! The page that Prometheus scrapes, over HTTP.

use std::io::Read;
use std::io::Write;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::thread;

use axum::Router;
use axum::routing::get;
use metrics_exporter_prometheus::PrometheusBuilder;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::runtime;

use crate::eventually::DEADLINE;
use crate::eventually::eventually;
use crate::exposition::Exposition;

/// A page on a loopback port.
#[derive(Clone, Copy)]
pub(crate) struct Page(SocketAddr);

impl Page {
    /// Installs the exporter as the recorder of the process, and serves its page.
    pub(crate) fn install(builder: PrometheusBuilder) -> Self {
        let recorder = builder.build_recorder();
        let page = Self::serve(recorder.handle());
        metrics::set_global_recorder(recorder).expect("the first recorder of the process");
        page
    }

    pub(crate) fn serve(handle: PrometheusHandle) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("as tokio wants it");
        let address = listener.local_addr().expect("it is bound");
        thread::spawn(move || {
            let runtime = runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
                let page = Router::new().route("/metrics", get(async move || handle.render()));
                axum::serve(listener, page)
                    .await
                    .expect("it serves for ever");
            });
        });
        Self(address)
    }

    #[track_caller]
    pub(crate) fn scrape(self) -> Exposition {
        let mut stream = TcpStream::connect(self.0).expect("the page is served");
        stream.set_read_timeout(Some(DEADLINE)).expect("a timeout");
        let request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (head, text) = answer.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        Exposition::parse(text).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"))
    }

    /// Scrapes until the page shows what is asked for. Nobody publishes meanwhile but the
    /// background.
    #[track_caller]
    pub(crate) fn shows(self, what: &str, wanted: impl Fn(&Exposition) -> bool) -> Exposition {
        eventually(what, || Some(self.scrape()).filter(|scrape| wanted(scrape)))
    }
}
