//! The threads of a private registry end with it.

use std::sync::mpsc;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::mpsc::TryRecvError;

use breakerbox::Policy;
use breakerbox::Registry;

use super::eventually::DEADLINE;
use super::listening;

#[test]
fn dropping_a_registry_ends_its_listeners() {
    let (held, ended) = mpsc::channel::<()>();
    let builder = Registry::builder().on_event(move |_| {
        let _ = &held;
    });
    let registry = builder.build().unwrap();
    let second = registry.clone();
    drop(registry);
    // One that is still held keeps them.
    assert_eq!(ended.try_recv(), Err(TryRecvError::Empty));
    drop(second);
    let waited = ended.recv_timeout(DEADLINE);
    assert_eq!(waited, Err(RecvTimeoutError::Disconnected));
}

#[test]
fn a_breaker_outlives_its_registry_and_keeps_guarding() {
    let policy = Policy::new().threshold(1);
    let (builder, heard) = listening(Registry::builder().declare_with("orphan", policy));
    let registry = builder.build().unwrap();
    let breaker = registry.breaker("orphan").unwrap();
    drop(registry);
    heard.to_the_end();
    breaker.try_acquire().unwrap().failure();
    assert!(breaker.try_acquire().is_err());
}

#[test]
fn closing_twice_is_closing_once() {
    let policy = Policy::new().threshold(1);
    let (builder, heard) = listening(Registry::builder().declare_with("twice", policy));
    let registry = builder.build().unwrap();
    registry.close();
    heard.to_the_end();
    registry.close();
    // Calls are guarded as before, and nobody is told.
    let breaker = registry.breaker("twice").unwrap();
    breaker.try_acquire().unwrap().failure();
    assert!(breaker.try_acquire().is_err());
    registry.publish_metrics();
}
