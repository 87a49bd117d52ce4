//! What a key costs in memory.
//!
//! A process of its own, because the allocator counts for all threads.

use std::alloc::System;
use std::time::Duration;

use breakerbox::Breaker;
use breakerbox::ManualClock;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::State;
use breakerbox::Verdict;
use breakerbox::Window;
use stats_alloc::INSTRUMENTED_SYSTEM;
use stats_alloc::Region;
use stats_alloc::StatsAlloc;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The table of the keys has just grown for so many, and costs most a key.
const KEYS: usize = 15_000;

/// What a key may cost at most.
const MOST: usize = 512;

/// Bytes on the heap for each key that has made a call, its name among them.
fn bytes_a_key(policy: Policy, verdict: Verdict, state: State) -> usize {
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
        permit.expect("it is admitted").record(verdict);
        assert_eq!(key.state(), state);
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
    let rate = Policy::new().failure_rate(0.5);
    let counted = rate.window(Window::Calls(100));
    let minute = rate.window(Window::Time(60 * second)).slow_call(second);
    let closed = |policy| bytes_a_key(policy, Verdict::Success, State::Closed);
    let open = |policy: Policy| bytes_a_key(policy.min_calls(1), Verdict::Failure, State::Open);
    for (what, bytes) in [
        ("failures in a row", closed(Policy::new())),
        ("a window of 100 calls", closed(counted)),
        ("a time window with slow calls", closed(minute)),
        ("a window of 100 calls, open", open(counted)),
        ("a time window with slow calls, open", open(minute)),
    ] {
        println!("{what}: {bytes} bytes a key");
        assert!(bytes <= MOST, "{what}: {bytes} bytes a key");
    }
}
