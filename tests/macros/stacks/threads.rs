//! Stacks that many threads are in at once.

use std::sync::Barrier;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;

use breakerbox::Registry;
use breakerbox::RejectedKind;
use breakerbox::State;
use breakerbox::Verdict;
use breakerbox::circuit_breaker;
use breakerbox::fallback;
use breakerbox::policies;
use breakerbox::rate_limit;
use breakerbox::resilient;
use breakerbox::retry;
use tokio::task::yield_now;
use tokio::time::Instant;
use tokio::time::sleep;

use super::Count;
use super::PayError;
use super::SECOND;

type R = Result<u32, PayError>;

/// J6: half of the calls succeed, and half are ignored.
#[test]
fn ten_threads_leave_exact_counts_behind() {
    const THREADS: u64 = 10;
    const CALLS: u64 = 2_000;
    #[resilient(
        service = "threads-exact",
        fallback(|error| Err(error), when = |error| matches!(error, PayError::Status(404))),
        retry(retry_on = |error| matches!(error, PayError::Status(500))),
        circuit_breaker(ignores = |error| matches!(error, PayError::Status(404))),
        bulkhead(max_concurrent = 10)
    )]
    fn f(n: u64) -> R {
        if n.is_multiple_of(2) {
            Ok(1)
        } else {
            Err(PayError::Status(404))
        }
    }
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for n in 0..CALLS {
                    assert_eq!(f(n).is_ok(), n.is_multiple_of(2));
                }
            });
        }
    });
    let seen = breakerbox::breaker("threads-exact").unwrap().snapshot();
    let half = THREADS * CALLS / 2;
    assert_eq!((seen.calls.success, seen.calls.ignored), (half, half));
    let others = seen.calls.by_label().map(|(_, calls)| calls).sum::<u64>();
    assert_eq!((others, seen.in_flight), (2 * half, 0));
    let bulkhead = policies("threads-exact").get_bulkhead().unwrap();
    assert_eq!((bulkhead.available(), bulkhead.rejected()), (10, 0));
}

/// J7, B001, B015: of those who race for a round of three, three run; the others are turned
/// down, whatever else stands around the breaker, and use up no place and no token.
#[test]
fn a_round_of_three_runs_three_bodies() {
    const RACERS: usize = 32;
    #[fallback(|rejected| Err(PayError::Rejected(rejected)))]
    #[retry(idempotent, delay = "1ms")]
    #[circuit_breaker(service = "threads-round", threshold = 1, probes = 3)]
    #[rate_limit("3/h")]
    fn f(body: &AtomicU32, all_asked: &Barrier) -> R {
        body.fetch_add(1, SeqCst);
        all_asked.wait();
        Ok(1)
    }
    let clock = breakerbox::ManualClock::new();
    for _ in 0..20 {
        let registry = Registry::builder().clock(clock.clock()).build().unwrap();
        let breaker = registry.breaker("threads-round").unwrap();
        breaker
            .try_acquire()
            .unwrap()
            .record(Verdict::OpenFor(SECOND));
        clock.advance(SECOND);
        let (body, start, all_asked) = (
            AtomicU32::new(0),
            Barrier::new(RACERS),
            Barrier::new(RACERS),
        );
        let outs = thread::scope(|scope| {
            let racers = [(); RACERS].map(|()| {
                scope.spawn(|| {
                    let _entered = registry.enter();
                    start.wait();
                    let out = f(&body, &all_asked);
                    if out.is_err() {
                        // A probe ends only when everybody has asked.
                        all_asked.wait();
                    }
                    out
                })
            });
            racers.map(|racer| racer.join().unwrap())
        });
        assert_eq!(body.load(SeqCst), 3);
        let busy = outs.iter().filter_map(|out| out.as_ref().err()?.kind());
        assert!(busy.clone().all(|kind| kind == RejectedKind::ProbesBusy));
        assert_eq!(busy.count(), RACERS - 3);
        assert_eq!(breaker.state(), State::Closed);
        assert_eq!(breaker.snapshot().in_flight, 0);
    }
}

/// J16: a slow call keeps nobody waiting who has a place of its own.
#[tokio::test(start_paused = true)]
async fn a_slow_call_does_not_keep_the_others_waiting() {
    static DONE: Count = Count::new();
    #[resilient(
        service = "threads-slow",
        retry(idempotent),
        circuit_breaker,
        rate_limit("1000/s"),
        bulkhead(max_concurrent = 100),
        timeout("30s")
    )]
    async fn f(seconds: u32) -> R {
        sleep(SECOND * seconds).await;
        Ok(DONE.begin())
    }
    let began = Instant::now();
    let slow = tokio::spawn(f(5));
    yield_now().await;
    let others: Vec<_> = (0..50).map(|_| tokio::spawn(f(1))).collect();
    for other in others {
        assert!(other.await.unwrap().is_ok());
    }
    assert_eq!((began.elapsed(), DONE.get()), (SECOND, 50));
    assert_eq!(slow.await.unwrap(), Ok(51));
    assert_eq!(began.elapsed(), 5 * SECOND);
}
