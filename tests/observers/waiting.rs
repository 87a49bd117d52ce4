//! Workers that wait until calls are admitted.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::task::Context;
use std::task::Wake;
use std::task::Waker;
use std::time::Duration;

use breakerbox::Breaker;
use breakerbox::ManualClock;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::State;

const SECOND: Duration = Duration::from_secs(1);
const COOLDOWN: Duration = Duration::from_secs(60);

fn breaker(clock: &ManualClock, policy: Policy) -> &'static Breaker {
    let registry = Registry::builder()
        .clock(clock.clock())
        .declare_with("waited for", policy.threshold(1).cooldown(COOLDOWN))
        .build()
        .expect("the numbers are good");
    registry.breaker("waited for").expect("it is declared")
}

/// Counts how often it is woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

type Waits = Pin<Box<dyn Future<Output = ()>>>;

/// So many workers, polled by hand.
struct Workers {
    waiting: Vec<Waits>,
    woken: Arc<Woken>,
}

impl Workers {
    fn new(breaker: &'static Breaker, number: usize) -> Self {
        let waits = || -> Waits { Box::pin(breaker.wait_until_admitting()) };
        Self {
            waiting: std::iter::repeat_with(waits).take(number).collect(),
            woken: Arc::default(),
        }
    }

    /// How many may go now.
    fn go(&mut self) -> usize {
        let waker = Waker::from(Arc::clone(&self.woken));
        let mut context = Context::from_waker(&waker);
        let before = self.waiting.len();
        self.waiting
            .retain_mut(|waits| waits.as_mut().poll(&mut context).is_pending());
        before - self.waiting.len()
    }
}

#[test]
fn nobody_waits_for_a_closed_circuit() {
    let breaker = breaker(&ManualClock::new(), Policy::new());
    assert_eq!(Workers::new(breaker, 5).go(), 5);
}

/// N5, N6, N8
#[test]
fn as_many_as_may_probe_go_first_and_the_others_spread_when_the_circuit_has_closed() {
    let clock = ManualClock::new();
    let breaker = breaker(&clock, Policy::new().probes(2));
    breaker.try_acquire().unwrap().failure();
    let mut workers = Workers::new(breaker, 50);
    assert_eq!(workers.go(), 0);
    clock.advance(COOLDOWN - Duration::from_nanos(1));
    assert_eq!(workers.go(), 0);
    clock.advance(Duration::from_nanos(1));
    assert!(workers.woken.0.load(SeqCst) > 0);
    assert_eq!(workers.go(), 2);
    let probes = [(); 2].map(|()| breaker.try_acquire().unwrap());
    assert_eq!(workers.go(), 0, "the probes are out");
    for probe in probes {
        probe.success();
    }
    assert_eq!(breaker.state(), State::Closed);
    assert_eq!(workers.go(), 0, "not all at one instant");
    clock.advance(SECOND / 2);
    let first = workers.go();
    clock.advance(SECOND / 2);
    let second = workers.go();
    assert_eq!(first + second, 48);
    assert!(first > 5 && second > 5, "{first} and {second}");
}

/// Those that find the places of a round taken would wait for its probes to time out.
#[test]
fn no_more_go_than_may_probe_at_a_time_and_whoever_comes_back_goes_again() {
    let clock = ManualClock::new();
    let breaker = breaker(&clock, Policy::new().probes(4).probe_concurrency(2));
    breaker.try_acquire().unwrap().failure();
    clock.advance(COOLDOWN);
    assert_eq!(Workers::new(breaker, 50).go(), 2);
    let [one, other] = [(); 2].map(|()| breaker.try_acquire().unwrap());
    assert_eq!(Workers::new(breaker, 50).go(), 0);
    one.success();
    assert_eq!(Workers::new(breaker, 50).go(), 1);
    // It says nothing, and so gives its place back.
    drop(breaker.try_acquire().unwrap());
    assert_eq!(Workers::new(breaker, 50).go(), 1);
    let third = breaker.try_acquire().unwrap();
    other.success();
    assert_eq!(Workers::new(breaker, 50).go(), 1);
    let fourth = breaker.try_acquire().unwrap();
    third.success();
    assert_eq!(Workers::new(breaker, 50).go(), 0, "there are no more");
    fourth.success();
    assert_eq!(breaker.state(), State::Closed);
}

#[test]
fn a_probe_that_fails_sends_the_others_back_to_wait() {
    let clock = ManualClock::new();
    let breaker = breaker(&clock, Policy::new());
    breaker.try_acquire().unwrap().failure();
    let mut workers = Workers::new(breaker, 3);
    workers.go();
    for left in [2, 1] {
        clock.advance(COOLDOWN);
        assert_eq!(workers.go(), 1);
        breaker.try_acquire().unwrap().failure();
        assert_eq!(workers.go(), 0);
        assert_eq!(workers.waiting.len(), left);
    }
}

#[test]
fn one_that_goes_and_never_calls_does_not_hold_the_others_up_for_ever() {
    let clock = ManualClock::new();
    let breaker = breaker(&clock, Policy::new().probe_timeout(5 * SECOND));
    breaker.try_acquire().unwrap().failure();
    let mut workers = Workers::new(breaker, 3);
    workers.go();
    clock.advance(COOLDOWN);
    assert_eq!(workers.go(), 1);
    clock.advance(4 * SECOND);
    assert_eq!(workers.go(), 0);
    clock.advance(SECOND);
    assert_eq!(workers.go(), 1);
}

#[test]
fn what_is_forced_open_is_waited_for_until_that_ends() {
    let clock = ManualClock::new();
    let breaker = breaker(&clock, Policy::new());
    breaker.force_open(60 * SECOND, "ana", "migration").unwrap();
    let mut workers = Workers::new(breaker, 1);
    assert_eq!(workers.go(), 0);
    breaker.clear_override();
    assert_eq!(workers.woken.0.load(SeqCst), 1);
    workers.go();
    clock.advance(SECOND);
    assert_eq!(workers.go(), 1);
}

#[tokio::test(start_paused = true)]
async fn it_follows_the_paused_clock_of_tokio() {
    let registry = Registry::builder()
        .declare_with("waited for", Policy::new().threshold(1).cooldown(COOLDOWN))
        .build()
        .unwrap();
    let breaker = registry.breaker("waited for").unwrap();
    breaker.try_acquire().unwrap().failure();
    let began = tokio::time::Instant::now();
    breaker.wait_until_admitting().await;
    assert_eq!(began.elapsed().as_secs(), 60);
}

#[test]
fn waiting_may_be_sent_to_another_thread() {
    fn is_send(_: &impl Send) {}
    is_send(&breaker(&ManualClock::new(), Policy::new()).wait_until_admitting());
}
