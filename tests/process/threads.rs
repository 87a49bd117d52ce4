//! The threads of registries, counted.
#![cfg(target_os = "linux")]

use std::fs;

use breakerbox::Policy;
use breakerbox::Registry;

use crate::alone::alone;
use crate::eventually::eventually;

/// The threads of this process that registries have started.
fn threads() -> usize {
    let tasks = fs::read_dir("/proc/self/task").expect("Linux has it");
    tasks
        .filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok())
        .filter(|name| name.starts_with("breakerbox"))
        .count()
}

fn busy(n: usize) -> Registry {
    let policy = Policy::new().threshold(1);
    let registry = Registry::builder()
        .declare_with(format!("service {n}"), policy)
        .publishes_metrics()
        .on_event(|_| {})
        .on_event(|_| {})
        .build()
        .expect("nothing is wrong");
    let breaker = registry.breaker(&format!("service {n}")).expect("declared");
    breaker.try_acquire().expect("closed").failure();
    registry
}

#[test]
fn threads_end_with_their_registry() {
    alone(|| {
        let registries: Vec<_> = (0..20).map(busy).collect();
        eventually("all run", || (threads() == 60).then_some(()));
        drop(registries);
        eventually("all have ended", || (threads() == 0).then_some(()));
    });
}

#[test]
fn threads_end_when_their_registry_is_closed() {
    alone(|| {
        let registries: Vec<_> = (0..5).map(busy).collect();
        for registry in &registries {
            registry.close();
        }
        eventually("all have ended", || (threads() == 0).then_some(()));
        drop(registries);
    });
}

#[test]
fn a_private_registry_without_listeners_or_metrics_starts_no_thread() {
    alone(|| {
        let registry = Registry::builder().declare("still").build().unwrap();
        registry
            .breaker("still")
            .unwrap()
            .try_acquire()
            .unwrap()
            .failure();
        registry.publish_metrics();
        assert_eq!(threads(), 0);
    });
}
