//! What a key costs in memory.
//!
//! A process of its own, because the allocator counts for all threads.

use std::alloc::System;
use std::time::Duration;

use breakerbox::Breaker;
use breakerbox::ManualClock;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::Window;
use stats_alloc::INSTRUMENTED_SYSTEM;
use stats_alloc::Region;
use stats_alloc::StatsAlloc;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const KEYS: usize = 10_000;

/// Bytes on the heap for each key that has made a call, its name among them.
fn bytes_a_key(policy: Policy) -> usize {
    let clock = ManualClock::new();
    let registry = Registry::builder()
        .clock(clock.clock())
        .declare_with("memory", policy.max_keys(1_000_000))
        .build();
    let registry = registry.expect("the numbers are good");
    let service: &'static Breaker = registry.breaker("memory").expect("it is declared");
    let call = |key: usize| {
        let key = service.key(&format!("tenant-{key:06}"));
        let permit = key.try_acquire();
        permit.expect("it is admitted").success();
    };
    call(KEYS);
    let region = Region::new(ALLOCATOR);
    (0..KEYS).for_each(call);
    let change = region.change();
    assert_eq!(service.snapshot().keys as usize, KEYS + 1);
    (change.bytes_allocated - change.bytes_deallocated) / KEYS
}

/// Failures in a row need least; a window has to remember more.
#[test]
fn a_key_stays_small() {
    let second = Duration::from_secs(1);
    let minute = Policy::new()
        .window(Window::Time(60 * second))
        .failure_rate(0.5);
    let counted = Policy::new().window(Window::Calls(100)).failure_rate(0.5);
    for (what, policy, most) in [
        ("failures in a row", Policy::new(), 512),
        ("a window of 100 calls", counted, 640),
        ("a time window", minute, 768),
        (
            "a time window with slow calls",
            minute.slow_call(second),
            768,
        ),
    ] {
        let bytes = bytes_a_key(policy);
        println!("{what}: {bytes} bytes a key");
        assert!(bytes <= most, "{what}: {bytes} bytes a key");
    }
}
