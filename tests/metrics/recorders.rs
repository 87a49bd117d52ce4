//! Recorders that come late, forget, or panic.

use std::panic;
use std::panic::AssertUnwindSafe;

use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::State;
use metrics::Counter;
use metrics::Gauge;
use metrics::Histogram;
use metrics::Key;
use metrics::KeyName;
use metrics::Metadata;
use metrics::Recorder;
use metrics::SharedString;
use metrics::Unit;

use super::Exporter;
use crate::observers::listening;

fn called(service: &str, times: u32) -> Registry {
    let registry = Registry::builder().declare(service).build();
    let registry = registry.expect("a good name");
    call(&registry, service, times);
    registry
}

fn call(registry: &Registry, service: &str, times: u32) {
    let breaker = registry.breaker(service).expect("declared");
    for _ in 0..times {
        breaker.try_acquire().expect("closed").success();
    }
}

/// B201
#[test]
fn a_recorder_that_comes_late_gets_every_count_in_full() {
    let registry = called("late recorder", 5);
    registry.publish_metrics();
    let scrape = Exporter::new().published(&registry);
    assert_eq!(scrape.calls("late recorder", "success"), Some(5.0));
}

#[test]
fn publishing_without_any_recorder_is_harmless() {
    let registry = called("no recorder", 1);
    for _ in 0..3 {
        registry.publish_metrics();
    }
    registry.close();
    call(&registry, "no recorder", 1);
}

/// Panics at everything, without a report.
struct Bomb;

impl Recorder for Bomb {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
        panic::resume_unwind(Box::new("the recorder"))
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        panic::resume_unwind(Box::new("the recorder"))
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        panic::resume_unwind(Box::new("the recorder"))
    }
}

/// B135
#[test]
fn a_recorder_that_panics_harms_neither_calls_nor_other_recorders() {
    let policy = Policy::new().threshold(1);
    let registry = Registry::builder().declare_with("bomb", policy).build();
    let registry = registry.unwrap();
    let breaker = registry.breaker("bomb").unwrap();
    breaker.try_acquire().unwrap().success();
    let _ = panic::catch_unwind(AssertUnwindSafe(|| {
        metrics::with_local_recorder(&Bomb, || registry.publish_metrics());
    }));

    breaker.try_acquire().unwrap().failure();
    assert!(breaker.try_acquire().is_err());
    let scrape = Exporter::new().published(&registry);
    assert_eq!(scrape.states("bomb"), [State::Open.label()]);
    assert_eq!(scrape.calls("bomb", "success"), Some(1.0));
    assert_eq!(scrape.calls("bomb", "rejected"), Some(1.0));
}

/// B135: the last thing that a process does is often to close.
#[test]
fn a_recorder_that_panics_does_not_keep_a_registry_from_closing() {
    let policy = Policy::new().threshold(1);
    let builder = Registry::builder().declare_with("bomb at the end", policy);
    let (builder, heard) = listening(builder.publishes_metrics());
    let registry = builder.build().unwrap();
    let breaker = registry.breaker("bomb at the end").unwrap();
    breaker.try_acquire().unwrap().failure();
    let closed = panic::catch_unwind(AssertUnwindSafe(|| {
        metrics::with_local_recorder(&Bomb, || registry.close());
    }));

    assert!(closed.is_ok(), "the recorder's panic came out of `close()`");
    assert_eq!(heard.to_the_end().len(), 1);
}
