//! What is guarded may be carried over a caught panic where the plain call may.

use std::io;
use std::panic;
use std::panic::RefUnwindSafe;
use std::panic::UnwindSafe;

use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::Rejected;
use breakerbox::State;
use breakerbox::TimedOut;
use breakerbox::circuit_breaker;
use breakerbox::resilient;
use breakerbox::with_registry;

use super::now;

/// What the compiler has to agree to.
fn may_unwind<T: UnwindSafe + RefUnwindSafe>(value: T) -> T {
    value
}

async fn plain(text: String) -> io::Result<String> {
    may_unwind(std::future::ready(())).await;
    Ok(text)
}

#[circuit_breaker(service = "unwinding: guarded")]
async fn guarded(text: String) -> io::Result<String> {
    plain(text).await
}

#[circuit_breaker(service = "unwinding: fallback", fallback = Ok(text))]
async fn with_fallback(text: String) -> io::Result<String> {
    plain(text).await
}

#[circuit_breaker(service = service)]
async fn named_at_run_time(service: &str) -> io::Result<String> {
    plain(service.to_owned()).await
}

#[circuit_breaker(service = "unwinding: made")]
fn made(text: String) -> impl Future<Output = io::Result<String>> {
    plain(text)
}

#[derive(Debug, thiserror::Error)]
enum NotDone {
    #[error(transparent)]
    Rejected(#[from] Rejected),
    #[error(transparent)]
    TimedOut(#[from] TimedOut),
}

#[resilient(
    service = "unwinding: stacked",
    timeout("8s"),
    retry(idempotent, clone(text)),
    circuit_breaker,
    rate_limit("100/s", max_wait = "50ms"),
    bulkhead(max_concurrent = 6, max_wait = "50ms"),
    timeout("2s")
)]
async fn stacked(text: String) -> Result<String, NotDone> {
    Ok(text)
}

#[circuit_breaker(service = "unwinding: panics", threshold = 1)]
async fn panics() -> io::Result<()> {
    panic::resume_unwind(Box::new("the body"))
}

#[test]
fn a_guarded_future_is_unwind_safe_where_the_plain_one_is() {
    let registry = Registry::builder().build().unwrap();
    let _entered = registry.enter();
    drop(may_unwind(plain(String::new())));
    drop(may_unwind(guarded(String::new())));
    drop(may_unwind(with_fallback(String::new())));
    drop(may_unwind(named_at_run_time("unwinding: named")));
    drop(may_unwind(made(String::new())));
    drop(may_unwind(stacked(String::new())));
    drop(may_unwind(with_registry(
        registry.clone(),
        guarded(String::new()),
    )));
}

#[test]
fn a_breaker_and_what_it_hands_out_are_unwind_safe() {
    let registry = may_unwind(Registry::builder().declare("unwinding").build().unwrap());
    let breaker = may_unwind(registry.breaker("unwinding").unwrap());
    may_unwind(breaker.try_acquire().unwrap()).success();
    may_unwind(now(may_unwind(breaker.acquire())).unwrap()).success();
    let called = may_unwind(breaker.call(may_unwind(plain("called".to_owned()))));
    assert_eq!(now(called).unwrap(), "called");
}

/// The promise is kept: after the panic the breaker is whole, and has counted it.
#[test]
fn a_panic_that_is_caught_without_further_words_is_counted() {
    let registry = Registry::builder()
        .declare_with("unwinding: by hand", Policy::new().threshold(1))
        .build()
        .unwrap();
    let _entered = registry.enter();
    let future = panics();
    panic::catch_unwind(|| now(future)).unwrap_err();
    let breaker = registry.breaker("unwinding: panics").unwrap();
    assert_eq!(breaker.snapshot().calls.panicked, 1);
    assert_eq!(breaker.state(), State::Open);

    let by_hand = registry.breaker("unwinding: by hand").unwrap();
    let permit = by_hand.try_acquire().unwrap();
    panic::catch_unwind(|| {
        let _permit = permit;
        panic::resume_unwind(Box::new("under a permit"));
    })
    .unwrap_err();
    // A permit knows of no body: dropped unsettled, it is a call that was given up.
    assert_eq!(by_hand.snapshot().calls.cancelled, 1);
    assert_eq!(by_hand.state(), State::Closed);
}
