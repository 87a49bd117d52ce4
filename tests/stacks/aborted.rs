//! Tasks on many threads that are given up while they wait, run or come out.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Duration;

use breakerbox::Bulkhead;
use breakerbox::BulkheadPolicy;
use breakerbox::Error;
use breakerbox::Policy;
use breakerbox::RatePolicy;
use breakerbox::Registry;
use breakerbox::Rejected;
use breakerbox::RetryPolicy;
use breakerbox::State;
use breakerbox::timeout;
use tokio::runtime::Builder;
use tokio::runtime::Runtime;
use tokio::task::yield_now;

const PLACES: u32 = 3;
const TASKS: u32 = 2_000;

fn four_threads() -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(4).enable_time();
    builder.build().expect("threads can be started")
}

/// How many are in, and whether there were ever more than may be.
#[derive(Default)]
struct Inside {
    now: AtomicU32,
    most: AtomicU32,
}

struct One<'i>(&'i Inside);

impl Inside {
    fn enter(&self) -> One<'_> {
        let now = self.now.fetch_add(1, SeqCst) + 1;
        self.most.fetch_max(now, SeqCst);
        One(self)
    }
}

impl Drop for One<'_> {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, SeqCst);
    }
}

/// Waits for a place, and is in for a few turns.
async fn pass(bulkhead: &Bulkhead, inside: &Inside, turns: u32) -> Result<(), Rejected> {
    let _slot = bulkhead.acquire().await?;
    let _one = inside.enter();
    for _ in 0..turns {
        yield_now().await;
    }
    Ok(())
}

/// J6, J10, B021, B028: others abort them from threads of their own.
#[test]
fn whoever_is_aborted_on_whatever_thread_no_place_is_lost_or_made() {
    let registry = Registry::builder().build().unwrap();
    let policy = BulkheadPolicy::new(PLACES)
        .queue(50)
        .max_wait(Duration::from_millis(2));
    let policies = registry.policies("aborted");
    let bulkhead = policies.bulkhead(policy).unwrap();
    let inside = Arc::new(Inside::default());
    let runtime = four_threads();
    let mut aborters = Vec::new();
    for chunk in 0..20 {
        let tasks: Vec<_> = (0..TASKS / 20)
            .map(|n| {
                let inside = Arc::clone(&inside);
                runtime.spawn(async move {
                    // Every third under a timeout of its own, which may strike first.
                    if n % 3 == 0 {
                        let limit = Duration::from_millis(u64::from(n % 4));
                        let _ = timeout(limit, pass(bulkhead, &inside, n % 7)).await;
                    } else {
                        let _ = pass(bulkhead, &inside, n % 7).await;
                    }
                })
            })
            .collect();
        aborters.push(thread::spawn(move || {
            for (n, task) in tasks.iter().enumerate() {
                if n % 2 == chunk % 2 {
                    task.abort();
                }
                thread::yield_now();
            }
            tasks
        }));
    }
    for aborter in aborters {
        for task in aborter.join().unwrap() {
            if let Err(error) = runtime.block_on(task) {
                assert!(error.is_cancelled(), "{error}");
            }
        }
    }
    assert!(inside.most.load(SeqCst) <= PLACES);
    assert_eq!(inside.now.load(SeqCst), 0);
    assert_eq!((bulkhead.available(), bulkhead.waiting()), (PLACES, 0));
    let all = [(); PLACES as usize].map(|()| bulkhead.try_acquire());
    assert!(all.iter().all(Result::is_ok) && bulkhead.try_acquire().is_err());
}

/// J7, J10: the same of turns in a line, and of a round of probes under retries.
#[test]
fn whoever_is_aborted_keeps_no_turn_and_no_probe() {
    let policy = Policy::new()
        .threshold(2)
        .cooldown(Duration::from_millis(1));
    let registry = Registry::builder().declare_with("probed", policy);
    let registry = registry.build().unwrap();
    let breaker = registry.breaker("probed").unwrap();
    let policies = registry.policies("probed");
    let rate = RatePolicy::new(10_000, Duration::from_secs(1))
        .burst(1)
        .max_wait(Duration::from_millis(2));
    let limiter = policies.rate_limiter(rate).unwrap();
    let retry = policies
        .retry(RetryPolicy::new().delay(Duration::from_micros(100)))
        .unwrap()
        .retry_on(|()| true);
    let runtime = four_threads();
    let tasks: Vec<_> = (0..TASKS)
        .map(|n| {
            let task = runtime.spawn(async move {
                let body = || {
                    breaker.call(async move {
                        let _ = limiter.acquire().await;
                        yield_now().await;
                        if n % 2 == 0 { Ok(()) } else { Err(()) }
                    })
                };
                match retry.call(body).await {
                    Ok(()) | Err(Error::Inner(()) | Error::Rejected(_)) => {}
                    Err(other) => panic!("{other:?}"),
                }
            });
            if n % 3 == 0 {
                thread::yield_now();
                task.abort();
            }
            task
        })
        .collect();
    for task in tasks {
        if let Err(error) = runtime.block_on(task) {
            assert!(error.is_cancelled(), "{error}");
        }
    }
    assert_eq!(limiter.waiting(), 0);
    assert_eq!(breaker.snapshot().in_flight, 0);
    // It is never stuck: sooner or later a probe is let in, and closes it.
    runtime.block_on(async {
        while breaker.call(async { Ok::<_, ()>(()) }).await.is_err() {
            yield_now().await;
        }
    });
    assert_eq!(breaker.state(), State::Closed);
}
