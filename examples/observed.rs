//! What Prometheus sees: a service with a `/metrics` endpoint, scraped by itself
//! before the first call, while the circuit is open, and after it has closed.
//!
//! `cargo run --release --example observed`

use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use breakerbox::Event;
use breakerbox::Registry;
use breakerbox::circuit_breaker;
use metrics_exporter_prometheus::PrometheusBuilder;
use tokio::net::TcpListener;

static MAIL_IS_DOWN: AtomicBool = AtomicBool::new(true);

#[circuit_breaker(service = "mail", threshold = 2, cooldown = "200ms")]
async fn send(_to: &str) -> std::io::Result<()> {
    if MAIL_IS_DOWN.load(Relaxed) {
        return Err(std::io::Error::other("no answer"));
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let recorder = PrometheusBuilder::new().install_recorder()?;
    let registry = Registry::builder()
        .on_event(|event| {
            if let Event::Transition(moved) = event {
                println!(
                    "event: {} from {} to {} because of {}",
                    moved.service, moved.from, moved.to, moved.reason
                );
            }
        })
        .install()?;

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let metrics = get(move || {
        // The background publishes once a second; this makes every scrape exact.
        breakerbox::publish_metrics();
        std::future::ready(recorder.render())
    });
    tokio::spawn(axum::serve(listener, Router::new().route("/metrics", metrics)).into_future());

    scrape("before the first call", address).await?;

    for _ in 0..5 {
        if let Err(error) = send("ada@example.com").await {
            println!("{error}");
        }
    }
    scrape("while the circuit is open", address).await?;

    MAIL_IS_DOWN.store(false, Relaxed);
    tokio::time::sleep(Duration::from_millis(200)).await;
    send("ada@example.com").await?;
    scrape("after the probe", address).await?;

    registry.close();
    Ok(())
}

/// Asks the endpoint as Prometheus does, and shows the lines of the circuit.
async fn scrape(when: &str, address: SocketAddr) -> Result<(), Box<dyn std::error::Error>> {
    let text = reqwest::get(format!("http://{address}/metrics"))
        .await?
        .text()
        .await?;
    println!("\n{when}:");
    for line in text.lines() {
        let is_shown = line.starts_with("breakerbox_state")
            || line.starts_with("breakerbox_open_until")
            || (line.starts_with("breakerbox_calls_total") && !line.ends_with(" 0"));
        if is_shown {
            println!("  {line}");
        }
    }
    println!();
    Ok(())
}
