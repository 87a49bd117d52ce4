//! Every transition is heard once, in order, with its numbers.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;
use std::time::SystemTime;

use breakerbox::Breaker;
use breakerbox::Policy;
use breakerbox::Reason;
use breakerbox::Registry;
use breakerbox::State;
use breakerbox::Verdict;
use tokio::time::advance;

use super::Heard;
use super::eventually::eventually;
use super::listening;

const COOLDOWN: Duration = Duration::from_secs(60);

fn observed(service: &str, policy: Policy) -> (Registry, &'static Breaker, Heard) {
    let builder = Registry::builder().declare_with(service, policy);
    let (builder, heard) = listening(builder);
    let registry = builder.build().expect("a good policy");
    let breaker = registry.breaker(service).expect("declared above");
    (registry, breaker, heard)
}

/// K5, K7
#[tokio::test(start_paused = true)]
async fn a_listener_hears_each_move_of_a_life_with_its_rule_and_its_numbers() {
    let policy = Policy::new().threshold(2).cooldown(COOLDOWN).probes(2);
    let (registry, breaker, heard) = observed("observed", policy.max_open_for(3 * COOLDOWN));
    let permit = || breaker.try_acquire().unwrap();

    permit().failure();
    permit().failure();
    // Later rejections and late outcomes are no transitions.
    assert!(breaker.try_acquire().is_err());
    advance(COOLDOWN).await;
    permit().failure();
    advance(COOLDOWN).await;
    permit().record(Verdict::OpenFor(2 * COOLDOWN));
    advance(2 * COOLDOWN).await;
    permit().success();
    permit().success();
    permit().failure();
    permit().record(Verdict::RetryAfter(100 * COOLDOWN));
    registry.close();

    let threshold = Reason::Threshold {
        failures: 2,
        threshold: 2,
    };
    let cooled = (State::Open, State::HalfOpen, Reason::CooldownOver, None);
    let opens = |from, reason, times: u32| (from, State::Open, reason, Some(COOLDOWN * times));
    let closes = Reason::ProbesSucceeded { successes: 2 };
    let expected = [
        opens(State::Closed, threshold, 1),
        cooled,
        opens(State::HalfOpen, Reason::ProbeFailed, 1),
        cooled,
        opens(State::HalfOpen, Reason::OpenFor, 2),
        cooled,
        (State::HalfOpen, State::Closed, closes, None),
        opens(State::Closed, threshold, 3),
    ];
    let heard = heard.to_the_end();
    let told: Vec<_> = heard
        .iter()
        .map(|event| (event.from, event.to, event.reason, event.open_for))
        .collect();
    assert_eq!(told, expected);
    let generations: Vec<_> = heard.iter().map(|event| event.generation).collect();
    assert_eq!(generations, Vec::from_iter(1..=8));
    assert!(heard.iter().all(|event| event.service == "observed"));
}

#[test]
fn a_transition_is_heard_soon_with_the_time_at_which_it_happened() {
    let (_registry, breaker, heard) = observed("soon", Policy::new().threshold(1));
    let before = SystemTime::now();
    breaker.try_acquire().unwrap().failure();
    let after = SystemTime::now();
    let at = heard.next().at;
    let slack = Duration::from_secs(1);
    assert!(before - slack <= at && at <= after + slack);
}

#[test]
fn every_listener_hears_everything() {
    let (builder, one) = listening(Registry::builder());
    let (builder, other) = listening(builder);
    let policy = Policy::new().threshold(1);
    let builder = builder.declare_with("two ears", policy);
    let registry = builder.declare_with("two more", policy).build().unwrap();
    for service in ["two ears", "two more"] {
        registry
            .breaker(service)
            .unwrap()
            .try_acquire()
            .unwrap()
            .failure();
    }
    registry.close();
    for heard in [one, other] {
        let heard = heard.to_the_end();
        let mut services: Vec<_> = heard.iter().map(|event| event.service).collect();
        services.sort_unstable();
        assert_eq!(services, ["two ears", "two more"]);
    }
}

/// A circuit that moves now and then, while several threads publish: each of them may come
/// upon the moves that wait to be told.
#[tokio::test(start_paused = true)]
async fn moves_are_heard_in_order_whoever_publishes_them() {
    const MOVES: u64 = 2_000;
    let policy = Policy::new().threshold(1).cooldown(COOLDOWN);
    let (registry, breaker, heard) = observed("in order", policy);
    let over = AtomicBool::new(false);
    let publishers = {
        let registry = registry.clone();
        let over: &'static AtomicBool = Box::leak(Box::new(over));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let registry = registry.clone();
                thread::spawn(move || {
                    while !over.load(Relaxed) {
                        registry.publish_metrics();
                    }
                })
            })
            .collect();
        (threads, over)
    };

    let mut generations = Vec::new();
    while breaker.snapshot().generation < MOVES {
        breaker.try_acquire().unwrap().failure();
        advance(COOLDOWN).await;
        // Fewer than a breaker remembers until somebody tells them.
        let moved = breaker.snapshot().generation;
        eventually("the last move is heard", || {
            generations.extend(heard.by_now().iter().map(|event| event.generation));
            (generations.len() as u64 + 32 > moved).then_some(())
        });
    }
    let (threads, over) = publishers;
    over.store(true, Relaxed);
    for thread in threads {
        thread.join().unwrap();
    }
    registry.close();
    generations.extend(heard.to_the_end().iter().map(|event| event.generation));

    let last = breaker.snapshot().generation;
    let gap = generations
        .iter()
        .zip(1..)
        .find(|(heard, expected)| **heard != *expected);
    assert_eq!(gap, None, "heard {} of {last}", generations.len());
    assert_eq!(generations.len() as u64, last);
}

/// Closing while the background has just heard the bell.
#[test]
fn whatever_happened_before_closing_is_heard() {
    for round in 0..500 {
        let (registry, breaker, heard) = observed("last words", Policy::new().threshold(1));
        breaker.try_acquire().unwrap().failure();
        // A different moment each round.
        for _ in 0..round % 50 {
            thread::yield_now();
        }
        registry.close();
        let heard = heard.to_the_end();
        assert_eq!(heard.len(), 1, "in round {round}");
    }
}
