//! K: what is counted, and who is told.

use std::sync::mpsc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use breakerbox::Event;
use breakerbox::Policy;
use breakerbox::Reason;
use breakerbox::Registry;
use breakerbox::State;
use breakerbox::Transition;
use breakerbox::Window;

use super::drivers;
use super::drivers::SERVICE;
use super::drivers::seconds;
use super::runner::scenarios;

const TWICE: Policy = Policy::new()
    .threshold(2)
    .cooldown(seconds(1))
    .close_after(2);

scenarios! {
    k1_each_call_raises_one_count: TWICE,
        "F failure:1 moves:0 F failure:2 moves:1 =open X rejected:1 \
         +1s 2xS success:2 moves:3 =closed N success:3 I ignored:1 D cancelled:1 P panicked:1 \
         failure:2 rejected:1 late:0";
    k1_a_late_call_is_counted_as_nothing_else: TWICE,
        "[a [b [c [d [e 2xF a]S b]F c]I d]D e]N late:5 success:0 failure:2 ignored:0 cancelled:0";
}

/// Waits for the next transition. The limit is there for a breaker that tells nothing.
fn next(transitions: &Receiver<Transition>) -> Transition {
    let told = transitions.recv_timeout(Duration::from_secs(20));
    told.expect("a transition is told")
}

/// A registry that tells its transitions to a channel.
fn telling(policy: Policy) -> (Registry, Receiver<Transition>) {
    let (tell, told) = mpsc::channel();
    let registry = Registry::builder()
        .declare_with(SERVICE, policy)
        .on_event(move |event| {
            if let Event::Transition(transition) = event {
                // The test may have heard enough.
                let _ = tell.send(transition.clone());
            }
        })
        .build()
        .unwrap();
    (registry, told)
}

/// K1
#[tokio::test(start_paused = true)]
async fn k1_every_transition_is_told_once_with_its_reason() {
    let (registry, told) = telling(TWICE);
    let breaker = drivers::breaker(&registry);
    let mut heard = Vec::new();

    for _ in 0..2 {
        breaker.try_acquire().unwrap().failure();
    }
    heard.push(next(&told));
    for _ in 0..9 {
        breaker.try_acquire().unwrap_err();
    }
    tokio::time::advance(seconds(1)).await;
    breaker.try_acquire().unwrap().success();
    heard.push(next(&told));
    breaker.try_acquire().unwrap().success();
    heard.push(next(&told));

    let short: Vec<_> = heard
        .iter()
        .map(|it| {
            (
                it.service,
                it.from,
                it.to,
                it.reason,
                it.open_for,
                it.generation,
            )
        })
        .collect();
    let tripped = Reason::Threshold {
        failures: 2,
        threshold: 2,
    };
    let recovered = Reason::ProbesSucceeded { successes: 2 };
    assert_eq!(
        short,
        [
            (
                SERVICE,
                State::Closed,
                State::Open,
                tripped,
                Some(seconds(1)),
                1
            ),
            (
                SERVICE,
                State::Open,
                State::HalfOpen,
                Reason::CooldownOver,
                None,
                2
            ),
            (SERVICE, State::HalfOpen, State::Closed, recovered, None, 3),
        ]
    );
    registry.close();
    // Closing lets the listener go, so this ends: nothing else was told.
    assert_eq!(told.iter().count(), 0);
}

/// K5
#[tokio::test(start_paused = true)]
async fn k5_an_opening_is_told_once_with_the_numbers_of_its_rule() {
    let policy = Policy::new()
        .window(Window::Calls(4))
        .failure_rate(0.75)
        .cooldown(seconds(5));
    let (registry, told) = telling(policy);
    let breaker = drivers::breaker(&registry);
    breaker.try_acquire().unwrap().success();
    for _ in 0..3 {
        breaker.try_acquire().unwrap().failure();
    }
    for _ in 0..9 {
        breaker.try_acquire().unwrap_err();
    }
    let opened = next(&told);
    assert_eq!(opened.service, SERVICE);
    assert_eq!((opened.from, opened.to), (State::Closed, State::Open));
    assert_eq!(opened.open_for, Some(seconds(5)));
    let rule = Reason::FailureRate {
        failures: 3,
        calls: 4,
        limit: 0.75,
    };
    assert_eq!(opened.reason, rule);
    assert_eq!(breaker.snapshot().failure_rate, Some(0.75));
    assert_eq!(breaker.try_acquire().unwrap_err().reason(), Some(rule));
    registry.close();
    assert_eq!(told.iter().count(), 0);
}

/// Who forced a circuit, and had forced it, is told with the transition.
#[tokio::test(start_paused = true)]
async fn k5_an_override_is_told_with_its_actor_and_its_reason() {
    let (registry, told) = telling(TWICE);
    let breaker = drivers::breaker(&registry);
    breaker.force_open(seconds(9), "ana", "moving").unwrap();
    breaker.force_closed(seconds(5), "bob", "moved").unwrap();
    tokio::time::advance(seconds(7)).await;
    breaker.try_acquire().unwrap().success();
    let by = |transition: &Transition| {
        let by = transition.by.clone().unwrap();
        (by.actor.to_string(), by.reason.to_string())
    };
    let named = |actor: &str, reason: &str| (actor.to_owned(), reason.to_owned());
    let [began, replaced, ended] = [(); 3].map(|()| next(&told));
    assert_eq!(by(&began), named("ana", "moving"));
    assert_eq!(began.open_for, Some(seconds(9)));
    assert_eq!(by(&replaced), named("bob", "moved"));
    let move_of = |it: &Transition| (it.from, it.to, it.reason);
    assert_eq!(
        move_of(&replaced),
        (State::ForcedOpen, State::ForcedClosed, Reason::Override)
    );
    assert_eq!(by(&ended), named("bob", "moved"));
    assert_eq!(
        move_of(&ended),
        (State::ForcedClosed, State::Closed, Reason::OverrideEnded)
    );
}

/// K7
#[tokio::test(start_paused = true)]
async fn k7_a_listener_that_panics_harms_nobody_and_hears_the_next_event() {
    let (tell, told) = mpsc::channel();
    let registry = Registry::builder()
        .declare_with(SERVICE, Policy::new().threshold(1))
        .on_event(move |event| {
            tell.send(format!("{event:?}")).unwrap();
            std::panic::resume_unwind(Box::new("the listener panics"));
        })
        .build()
        .unwrap();
    let breaker = drivers::breaker(&registry);
    breaker.try_acquire().unwrap().failure();
    assert_eq!(breaker.state(), State::Open);
    told.recv_timeout(Duration::from_secs(20)).unwrap();
    tokio::time::advance(seconds(60)).await;
    breaker.try_acquire().unwrap().success();
    assert_eq!(breaker.state(), State::Closed);
    told.recv_timeout(Duration::from_secs(20)).unwrap();
}

/// K7
#[tokio::test(start_paused = true)]
async fn k7_a_listener_that_blocks_holds_no_call_up() {
    let (release, gate) = mpsc::channel::<()>();
    let (tell, told) = mpsc::channel();
    let registry = Registry::builder()
        .declare_with(SERVICE, Policy::new().threshold(1))
        .on_event(move |_| {
            let _ = tell.send(());
            // Until the test lets go.
            let _ = gate.recv();
        })
        .build()
        .unwrap();
    let breaker = drivers::breaker(&registry);
    breaker.try_acquire().unwrap().failure();
    told.recv_timeout(Duration::from_secs(20)).unwrap();
    // It blocks now. More goes on than it could ever queue.
    for _ in 0..2_000 {
        tokio::time::advance(seconds(60)).await;
        breaker.try_acquire().unwrap().failure();
        breaker.try_acquire().unwrap_err();
    }
    tokio::time::advance(seconds(60)).await;
    breaker.try_acquire().unwrap().success();
    assert_eq!(breaker.state(), State::Closed);
    drop(release);
}
