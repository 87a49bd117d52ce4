//! Timeouts around a body.

use std::cell::Cell;
use std::future::pending;
use std::future::ready;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use breakerbox::Error;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::State;
use breakerbox::TimedOut;
use breakerbox::policies;
use breakerbox::timeout;
use breakerbox::with_registry;
use tokio::time::Instant;
use tokio::time::sleep;

const SECOND: Duration = Duration::from_secs(1);

/// B125
#[tokio::test(start_paused = true)]
async fn a_body_that_hangs_is_given_up_at_the_limit() {
    let began = Instant::now();
    let timed_out = timeout(SECOND, pending::<()>()).await.unwrap_err();
    assert_eq!(timed_out.limit(), SECOND);
    assert_eq!(timed_out.service(), None);
    let took = began.elapsed();
    assert!((SECOND..SECOND * 2).contains(&took), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_ends_in_time_is_not_given_up() {
    assert_eq!(timeout(Duration::ZERO, ready(7)).await, Ok(7));
    let body = async {
        sleep(SECOND).await;
        7
    };
    assert_eq!(timeout(2 * SECOND, body).await, Ok(7));
}

/// B121: it is given up when it comes back, and its output is not lost if it has one by then.
#[tokio::test(start_paused = true)]
async fn a_body_that_keeps_its_thread_is_late_and_not_given_up() {
    let body = async {
        tokio::time::advance(10 * SECOND).await;
        7
    };
    assert_eq!(timeout(SECOND, body).await, Ok(7));
}

/// It spends its turns of the runtime to the last, and gives the timer none.
#[tokio::test(start_paused = true)]
async fn a_body_that_never_has_to_wait_is_given_up_when_it_lets_others_run() {
    let body = async {
        sleep(SECOND).await;
        tokio::time::advance(10 * SECOND).await;
        for _ in 0..10_000 {
            tokio::task::coop::consume_budget().await;
        }
    };
    assert!(timeout(2 * SECOND, body).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn the_limit_runs_from_the_first_poll() {
    let body = timeout(2 * SECOND, sleep(SECOND));
    sleep(5 * SECOND).await;
    assert_eq!(body.await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn dropping_it_drops_the_body() {
    struct Falls<'c>(&'c Cell<bool>);
    impl Drop for Falls<'_> {
        fn drop(&mut self) {
            self.0.set(true);
        }
    }
    let has_fallen = Cell::new(false);
    let falls = Falls(&has_fallen);
    let body = timeout(SECOND, async move {
        let _falls = falls;
        pending::<()>().await;
    });
    assert!(timeout(SECOND / 2, body).await.is_err());
    assert!(has_fallen.get());
}

/// The breaker outside sees the timeout as a failure of the call; B075 A, I6.
#[tokio::test(start_paused = true)]
async fn a_timeout_inside_a_breaker_opens_it() {
    const POLICY: Policy = Policy::new().threshold(2);
    let registry = Registry::builder().declare_with("hangs", POLICY).build();
    let registry = registry.unwrap();
    with_registry(registry.clone(), async {
        let breaker = registry.breaker("hangs").unwrap();
        let calls = AtomicU32::new(0);
        for _ in 0..4 {
            let body = async {
                calls.fetch_add(1, Relaxed);
                policies("hangs").timeout(SECOND, pending::<()>()).await
            };
            let error = breaker.call(body).await.unwrap_err();
            match (calls.load(Relaxed), error) {
                (1 | 2, Error::Inner(timed_out)) => {
                    assert_eq!(timed_out.service(), Some("hangs"));
                    assert_eq!(TimedOut::find(&timed_out), Some(timed_out));
                }
                (2, Error::Rejected(_)) => {}
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(breaker.state(), State::Open);
        assert_eq!(policies("hangs").timeouts(), 2);
    })
    .await;
}

/// A hang is given up on any thread, also outside of tokio, by the clock of the system.
#[test]
fn a_timeout_needs_no_runtime() {
    let clock = breakerbox::ManualClock::new();
    let registry = Registry::builder().clock(clock.clock()).build().unwrap();
    let _entered = registry.enter();
    let mut body = Box::pin(timeout(SECOND, pending::<()>()));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(body.as_mut().poll(&mut context).is_pending());
    clock.advance(SECOND - Duration::from_nanos(1));
    assert!(body.as_mut().poll(&mut context).is_pending());
    clock.advance(Duration::from_nanos(1));
    assert!(body.as_mut().poll(&mut context).is_ready());
}
