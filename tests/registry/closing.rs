//! The end of a registry.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::OnceLock;
use std::sync::mpsc;

use breakerbox::Event;
use breakerbox::Policy;
use breakerbox::Registry;
use metrics_exporter_prometheus::PrometheusBuilder;

use crate::metrics::exposition::Exposition;
use crate::observers::eventually::DEADLINE;
use crate::observers::listening;

fn policy() -> Policy {
    Policy::new().threshold(1)
}

#[test]
fn closing_waits_until_the_last_event_is_heard() {
    let (builder, heard) = listening(Registry::builder().declare_with("closing", policy()));
    let registry = builder.build().unwrap();
    registry
        .breaker("closing")
        .unwrap()
        .try_acquire()
        .unwrap()
        .failure();
    registry.close();
    assert_eq!(heard.by_now().len(), 1);
}

#[test]
fn closing_publishes_the_last_counts_of_a_registry_that_publishes() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let registry = Registry::builder()
        .publishes_metrics()
        .declare_with("closing with metrics", policy())
        .build()
        .unwrap();
    let breaker = registry.breaker("closing with metrics").unwrap();
    breaker.try_acquire().unwrap().failure();
    metrics::with_local_recorder(&recorder, || registry.close());
    let scrape = Exposition::parse(&recorder.handle().render()).unwrap();
    assert_eq!(scrape.calls("closing with metrics", "failure"), Some(1.0));
    assert_eq!(scrape.states("closing with metrics"), ["open"]);
}

#[test]
fn a_closed_registry_goes_on_guarding_and_can_be_read_and_published() {
    let registry = Registry::builder()
        .declare_with("closed", policy())
        .build()
        .unwrap();
    registry.close();
    let breaker = registry.breaker("closed").unwrap();
    breaker.try_acquire().unwrap().failure();
    assert!(breaker.try_acquire().is_err());
    let recorder = PrometheusBuilder::new().build_recorder();
    metrics::with_local_recorder(&recorder, || registry.publish_metrics());
    let scrape = Exposition::parse(&recorder.handle().render()).unwrap();
    assert_eq!(scrape.states("closed"), ["open"]);
}

/// It waited a second for itself, in which nobody else could be waited for.
#[test]
fn a_listener_may_close_its_registry_and_hears_what_was_told_before() {
    let own: Arc<OnceLock<Registry>> = Arc::default();
    let seen = Arc::clone(&own);
    let (hears, heard) = mpsc::channel();
    let (goes_on, blocked) = mpsc::channel::<()>();
    let blocked = Mutex::new(blocked);
    let registry = Registry::builder()
        .on_event(move |event| {
            if let Event::Transition(transition) = event {
                seen.wait().close();
                hears.send(transition.generation).unwrap();
            }
        })
        // Another that does not come back harms neither it nor the end.
        .on_event(move |_| {
            let blocked = blocked.lock().unwrap();
            let _ = blocked.recv();
        })
        .declare_with("closed from within", policy())
        .build()
        .unwrap();
    let breaker = registry.breaker("closed from within").unwrap();
    breaker.try_acquire().unwrap().failure();
    assert!(own.set(registry).is_ok());
    assert_eq!(heard.recv_timeout(DEADLINE), Ok(1));
    // Its thread ends, and hangs up.
    let end = heard.recv_timeout(DEADLINE);
    assert_eq!(end, Err(mpsc::RecvTimeoutError::Disconnected));
    drop(goes_on);
}
