//! The end of a registry.

use breakerbox::Policy;
use breakerbox::Registry;
use metrics_exporter_prometheus::PrometheusBuilder;

use crate::metrics::exposition::Exposition;
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
