//! The metrics of the store that processes share their circuits through.

use std::thread;
use std::time::Duration;
use std::time::Instant;

use breakerbox::Clock;
use breakerbox::MemoryStore;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::SharedStore;
use breakerbox::State;
use breakerbox_servers::Server;

use super::Exporter;
use super::exposition::Exposition;

const OPS: [&str; 9] = [
    "sync",
    "flush",
    "acquire",
    "renew",
    "end",
    "force",
    "heartbeat",
    "journal",
    "numbers",
];
const REASONS: [&str; 6] = [
    "unavailable",
    "timed_out",
    "late",
    "full",
    "denied",
    "foreign",
];

fn registry(store: impl Into<SharedStore>) -> Registry {
    let policy = Policy::new().threshold(2);
    let builder = Registry::builder().declare_with("store", policy);
    builder
        .clock(Clock::system())
        .store(store)
        .build()
        .expect("a right set-up")
}

fn redis(url: &str) -> Registry {
    registry(breakerbox::Redis::new(url))
}

fn commands(scrape: &Exposition, op: &str) -> Option<f64> {
    scrape.value("breakerbox_store_commands_total", &[("op", op)])
}

#[track_caller]
fn eventually(registry: &Registry, is_so: impl Fn(&Exposition) -> bool) -> Exposition {
    let begun = Instant::now();
    loop {
        let scrape = Exporter::new().published(registry);
        if is_so(&scrape) {
            return scrape;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "it never came");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn every_series_of_a_store_that_nobody_reaches_is_there_before_the_first_call() {
    // Nobody listens at this port.
    let scrape = Exporter::new().published(&redis("redis://127.0.0.1:1"));
    for op in OPS {
        assert_eq!(commands(&scrape, op), Some(0.0), "{op}");
    }
    for reason in REASONS {
        let dropped = scrape.value("breakerbox_store_dropped_total", &[("reason", reason)]);
        assert_eq!(dropped, Some(0.0), "{reason}");
    }
    for name in [
        "breakerbox_store_up",
        "breakerbox_store_push_lag_seconds",
        "breakerbox_store_reconnects_total",
        "breakerbox_store_foreign_messages_total",
    ] {
        assert_eq!(scrape.value(name, &[]), Some(0.0), "{name}");
    }
    let service = [("service", "store")];
    let mismatch = scrape.value("breakerbox_config_mismatch", &service);
    assert_eq!(mismatch, Some(0.0));
}

#[test]
fn a_store_in_memory_is_up_and_has_no_connection() {
    let registry = registry(MemoryStore::new());
    let scrape = eventually(&registry, |scrape| {
        scrape.value("breakerbox_store_up", &[]) == Some(1.0)
    });
    assert_eq!(commands(&scrape, "sync"), None);
}

#[test]
fn without_a_store_there_is_nothing_to_see_of_one() {
    let registry = Registry::builder().declare("store").build();
    let scrape = Exporter::new().published(&registry.expect("a right set-up"));
    let of_store = |(name, _): &(&str, _)| name.contains("_store_") || name.contains("mismatch");
    assert_eq!(scrape.families().filter(of_store).count(), 0);
}

#[test]
fn what_a_process_says_and_hears_is_counted_and_so_is_each_loss() {
    let server = Server::start().expect("a server: run ./tests/run");
    let registry = redis(&server.url());
    eventually(&registry, |scrape| {
        scrape.value("breakerbox_store_up", &[]) == Some(1.0)
            && commands(scrape, "sync") >= Some(1.0)
            && commands(scrape, "numbers") >= Some(1.0)
    });
    let breaker = registry.breaker("store").expect("declared");
    for _ in 0..2 {
        breaker.try_acquire().expect("closed").failure();
    }
    assert_eq!(breaker.state(), State::Open);
    server.order(&["PUBLISH", "breakerbox:events", "not ours"]);
    eventually(&registry, |scrape| {
        let heard = scrape.value("breakerbox_store_push_lag_seconds", &[]);
        let foreign = scrape.value("breakerbox_store_foreign_messages_total", &[]);
        commands(scrape, "flush") >= Some(1.0) && heard > Some(0.0) && foreign == Some(1.0)
    });
    server.kill();
    eventually(&registry, |scrape| {
        scrape.value("breakerbox_store_up", &[]) == Some(0.0)
    });
    server.restart();
    eventually(&registry, |scrape| {
        let reconnects = scrape.value("breakerbox_store_reconnects_total", &[]);
        scrape.value("breakerbox_store_up", &[]) == Some(1.0) && reconnects >= Some(1.0)
    });
}

#[test]
fn every_family_of_a_store_is_explained_and_named_as_the_others_are() {
    let scrape = Exporter::new().published(&redis("redis://127.0.0.1:1"));
    let of_store = |(name, _): &(&str, _)| name.contains("_store_") || name.contains("mismatch");
    let mut found = 0;
    for (name, family) in scrape.families().filter(of_store) {
        let is_counter = family.kind.as_deref() == Some("counter");
        assert_eq!(is_counter, name.ends_with("_total"), "{name}");
        let help = family.help.as_deref().unwrap_or_default();
        assert!(help.ends_with('.'), "{name}: {help}");
        found += 1;
    }
    assert_eq!(found, 7);
}
