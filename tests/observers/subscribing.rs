//! The events of one service as a stream.

use std::pin::pin;
use std::task::Context;
use std::task::Poll;
use std::task::Waker;
use std::time::Duration;

use breakerbox::Breaker;
use breakerbox::Event;
use breakerbox::ManualClock;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::State;
use breakerbox::Subscription;
use breakerbox::Transition;
use breakerbox::Warning;

const SECOND: Duration = Duration::from_secs(1);

fn breaker(clock: &ManualClock) -> &'static Breaker {
    let registry = Registry::builder()
        .clock(clock.clock())
        .declare_with("subscribed", Policy::new().threshold(1).cooldown(SECOND))
        .declare("another")
        .build()
        .expect("the numbers are good");
    registry.breaker("subscribed").expect("it is declared")
}

pub(crate) fn by_now(events: &mut Subscription) -> Vec<Event> {
    let mut context = Context::from_waker(Waker::noop());
    let mut all = Vec::new();
    while let Poll::Ready(Some(event)) = pin!(events.next()).poll(&mut context) {
        all.push(event);
    }
    all
}

fn moves(events: &[Event]) -> Vec<(State, State)> {
    let transitions = events.iter().filter_map(|event| match event {
        Event::Transition(transition) => Some((transition.from, transition.to)),
        _ => None,
    });
    transitions.collect()
}

#[test]
fn a_subscriber_hears_what_happens_from_then_on_and_in_order() {
    let clock = ManualClock::new();
    let breaker = breaker(&clock);
    breaker.try_acquire().unwrap().failure();
    let mut events = breaker.subscribe();
    assert!(by_now(&mut events).is_empty());
    clock.advance(SECOND);
    breaker.try_acquire().unwrap().success();
    let heard = by_now(&mut events);
    let expected = [
        (State::Open, State::HalfOpen),
        (State::HalfOpen, State::Closed),
    ];
    assert_eq!(moves(&heard), expected);
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_that_waits_is_woken() {
    let breaker = breaker(&ManualClock::new());
    let mut events = breaker.subscribe();
    let fails = tokio::spawn(async {
        tokio::task::yield_now().await;
        breaker.try_acquire().unwrap().failure();
    });
    let event = events.next().await;
    assert!(matches!(event, Some(Event::Transition(_))));
    fails.await.unwrap();
}

#[test]
fn a_subscriber_that_falls_behind_loses_the_oldest_events_and_can_tell() {
    let clock = ManualClock::new();
    let breaker = breaker(&clock);
    let mut events = breaker.subscribe();
    for _ in 0..300 {
        breaker.try_acquire().unwrap().failure();
        clock.advance(SECOND);
    }
    let heard = by_now(&mut events);
    assert_eq!(heard.len(), 256);
    let Some(Event::Transition(first)) = heard.first() else {
        panic!("{heard:?}");
    };
    assert!(first.generation > 1);
}

/// H3
#[test]
fn a_shadow_tells_each_opening_that_it_would_have_made() {
    let clock = ManualClock::new();
    let breaker = breaker(&clock);
    breaker.shadow(60 * SECOND, "ana", "a try").unwrap();
    let mut events = breaker.subscribe();
    let would_open = |events: &mut Subscription| {
        let heard = by_now(events);
        let would = heard
            .iter()
            .filter(|event| matches!(event, Event::WouldOpen(_)));
        would.count()
    };
    breaker.try_acquire().unwrap().failure();
    breaker.try_acquire().unwrap().failure();
    assert_eq!(would_open(&mut events), 1, "once an opening");
    clock.advance(SECOND);
    breaker.try_acquire().unwrap().success();
    assert_eq!(breaker.snapshot().beneath, State::Closed);
    breaker.try_acquire().unwrap().failure();
    assert_eq!(would_open(&mut events), 1);
    assert_eq!(breaker.state(), State::Shadow);
    assert_eq!(breaker.snapshot().would_reject, 1);
}

#[test]
fn who_forced_a_circuit_and_why_is_told_with_its_beginning_and_its_end() {
    let clock = ManualClock::new();
    let breaker = breaker(&clock);
    let mut events = breaker.subscribe();
    breaker.force_open(5 * SECOND, "ana", "migration").unwrap();
    clock.advance(9 * SECOND);
    breaker.try_acquire().unwrap().success();
    let heard = by_now(&mut events);
    let expected = [
        (State::Closed, State::ForcedOpen),
        (State::ForcedOpen, State::Closed),
    ];
    assert_eq!(moves(&heard), expected);
    for event in &heard {
        let Event::Transition(transition) = event else {
            panic!("{event:?}");
        };
        let by = transition.by.as_ref().unwrap();
        assert_eq!((&*by.actor, &*by.reason), ("ana", "migration"));
    }
}

/// What the configuration does is not the word of whoever forced the circuit before.
#[test]
fn a_shadow_that_the_numbers_ask_for_is_told_without_a_name() {
    let clock = ManualClock::new();
    let breaker = breaker(&clock);
    breaker.force_open(5 * SECOND, "ana", "migration").unwrap();
    breaker.clear_override();
    let mut events = breaker.subscribe();
    breaker.update(|policy| policy.shadow(true)).unwrap();
    breaker.shadow(SECOND, "bob", "a look").unwrap();
    clock.advance(SECOND);
    breaker.update(|policy| policy.shadow(false)).unwrap();
    let heard = by_now(&mut events);
    let told: Vec<_> = heard
        .iter()
        .filter_map(|event| match event {
            Event::Transition(Transition { from, to, by, .. }) => {
                let actor = by.as_ref().map(|by| by.actor.to_string());
                Some((*from, *to, actor))
            }
            _ => None,
        })
        .collect();
    let bob = || Some("bob".to_owned());
    let expected = [
        (State::Closed, State::Shadow, None),
        (State::Shadow, State::Shadow, bob()),
        // His was over before the numbers changed, which ended the one beneath.
        (State::Shadow, State::Shadow, bob()),
        (State::Shadow, State::Closed, None),
    ];
    assert_eq!(told, expected);
}

/// J13: a timeout around the guarded call hides that the service hangs.
#[test]
fn twenty_cancellations_in_a_row_raise_one_warning() {
    let breaker = breaker(&ManualClock::new());
    let mut events = breaker.subscribe();
    let drop_one = || drop(breaker.try_acquire().unwrap());
    (0..19).for_each(|_| drop_one());
    breaker.try_acquire().unwrap().success();
    (0..19).for_each(|_| drop_one());
    assert!(by_now(&mut events).is_empty(), "a success came between");
    (0..40).for_each(|_| drop_one());
    let heard = by_now(&mut events);
    assert!(
        matches!(
            heard[..],
            [Event::Warning(Warning::Cancellations { cancelled: 20, .. })]
        ),
        "{heard:?}"
    );
}
