//! Functions that wait on their thread, where that thread has to do everything else as well.

use std::time::Duration;

use breakerbox::Policies;
use breakerbox::RejectedKind;
use breakerbox::State;
use breakerbox::bulkhead;
use breakerbox::circuit_breaker;
use breakerbox::deadline;
use breakerbox::policies;
use breakerbox::rate_limit;
use breakerbox::resilient;
use breakerbox::retry;
use breakerbox::timeout;
use tokio::task::yield_now;

use super::Count;
use super::PayError;
use super::SECOND;

type R = Result<u32, PayError>;

#[bulkhead(
    service = "blocking-one",
    max_concurrent = 1,
    queue = 1,
    max_wait = "2ms"
)]
async fn holds(turns: u32) -> R {
    for _ in 0..turns {
        yield_now().await;
    }
    Ok(1)
}

#[bulkhead(
    service = "blocking-one",
    max_concurrent = 1,
    queue = 1,
    max_wait = "2ms"
)]
fn waits() -> R {
    Ok(2)
}

fn runtimes() -> [tokio::runtime::Runtime; 2] {
    [false, true].map(|is_paused| {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(is_paused)
            .build()
            .unwrap()
    })
}

/// The task that holds the place cannot run while the thread waits for it: the wait is over all
/// the same, by the clock of the system where nobody moves another.
#[test]
fn a_thread_that_waits_for_its_own_task_is_turned_down() {
    for runtime in runtimes() {
        runtime.block_on(async {
            let mut held = Box::pin(holds(3));
            tokio::select! {
                biased;
                _ = &mut held => panic!("it has turns left"),
                () = yield_now() => {}
            }
            let refused = waits().unwrap_err().kind();
            assert_eq!(refused, Some(RejectedKind::BulkheadFull));
            assert_eq!(held.await, Ok(1));
            assert_eq!(waits(), Ok(2));
        });
    }
    let bulkhead = policies("blocking-one").get_bulkhead().unwrap();
    assert_eq!((bulkhead.available(), bulkhead.waiting()), (1, 0));
}

/// A token that is due by the clock of the system comes; by one that stands still it does not.
#[test]
fn a_thread_that_waits_for_a_token_gets_it_or_is_turned_down() {
    #[rate_limit("1000/s", service = name, burst = 1, max_wait = "5ms")]
    fn f(name: &str) -> R {
        Ok(1)
    }
    let [running, paused] = runtimes();
    running.block_on(async {
        assert_eq!(f("blocking-rate"), Ok(1));
        assert_eq!(f("blocking-rate"), Ok(1));
    });
    paused.block_on(async {
        assert_eq!(f("blocking-rate-paused"), Ok(1));
        let refused = f("blocking-rate-paused").unwrap_err().kind();
        assert_eq!(refused, Some(RejectedKind::RateLimited));
    });
    for name in ["blocking-rate", "blocking-rate-paused"] {
        assert_eq!(policies(name).get_rate_limiter().unwrap().waiting(), 0);
    }
}

/// It makes all its attempts, and a circuit is waited for once.
#[test]
fn a_thread_makes_its_attempts_also_where_time_stands_still() {
    static BODY: Count = Count::new();
    #[retry(idempotent, delay = "1ms", jitter = false, wait_for_circuit)]
    #[circuit_breaker(service = "blocking-retry", threshold = 2, cooldown = "2ms")]
    fn f() -> R {
        BODY.begin();
        Err(PayError::Status(500))
    }
    for runtime in runtimes() {
        let before = BODY.get();
        let breaker = breakerbox::breaker("blocking-retry").unwrap();
        breaker.reset();
        runtime.block_on(async { assert_eq!(f(), Err(PayError::Status(500))) });
        // The second failure opens the circuit. Where its time passes there is a third attempt.
        assert!((2..=3).contains(&(BODY.get() - before)));
        assert_eq!(breaker.state(), State::Open);
        assert_eq!(breaker.snapshot().in_flight, 0);
    }
}

/// The timeout around a task bounds what its thread waits for, and the thread comes back in
/// time.
#[tokio::test(start_paused = true)]
async fn a_timeout_around_bounds_what_its_thread_waits_for() {
    #[bulkhead(
        service = "blocking-bounded",
        max_concurrent = 1,
        queue = 1,
        max_wait = "1h"
    )]
    fn place() -> R {
        Ok(1)
    }
    #[rate_limit("1/h", service = "blocking-bounded", max_wait = "2h")]
    fn token() -> R {
        Ok(1)
    }
    static BODY: Count = Count::new();
    #[retry(idempotent, delay = "1h", max_delay = "1h", jitter = false)]
    fn again() -> R {
        BODY.begin();
        Err(PayError::Status(500))
    }
    assert_eq!((place(), token()), (Ok(1), Ok(1)));
    let it: &'static Policies = policies("blocking-bounded");
    let _held = it.get_bulkhead().unwrap().try_acquire().unwrap();
    let limit = Duration::from_millis(2);
    let out = timeout(limit, async { [place(), token(), again()] });
    let [place, token, again] = out.await.expect("it does not wait for anything");
    assert_eq!(place.unwrap_err().kind(), Some(RejectedKind::Deadline));
    assert_eq!(token.unwrap_err().kind(), Some(RejectedKind::Deadline));
    assert_eq!((again, BODY.get()), (Err(PayError::Status(500)), 1));
}

/// A plain function under all that may stand on one, inside of an async one.
#[tokio::test(start_paused = true)]
async fn a_plain_function_inside_of_an_async_one_sees_its_deadline() {
    #[resilient(
        service = "blocking-inside",
        retry(idempotent),
        circuit_breaker,
        bulkhead(max_concurrent = 1)
    )]
    fn inner() -> R {
        assert_eq!(deadline(), Some(SECOND));
        Ok(1)
    }
    #[breakerbox::timeout("1s")]
    async fn outer() -> R {
        inner()
    }
    assert_eq!(outer().await, Ok(1));
    assert_eq!(deadline(), None);
}
