//! Time that passes when a test says so. There is no runtime in any of these.

use std::io;
use std::thread;
use std::time::Duration;

use breakerbox::ManualClock;
use breakerbox::OnCancel;
use breakerbox::Registry;
use breakerbox::State;
use breakerbox::circuit_breaker;

use super::COOLDOWN;
use super::POLICY;
use super::SERVICE;
use super::TICK;
use super::breaker;
use super::left;
use super::opened;
use super::timed;

#[test]
fn an_opening_lasts_until_time_is_told_to_pass_and_not_a_tick_longer() {
    let time = ManualClock::new();
    let breaker = opened(&timed(time.clock()));
    assert_eq!(left(breaker), Some(COOLDOWN));
    time.advance(COOLDOWN - TICK);
    assert_eq!(left(breaker), Some(TICK));
    assert_eq!(breaker.snapshot().retry_after, Some(TICK));
    time.advance(TICK);
    breaker.try_acquire().unwrap().success();
    assert_eq!(breaker.state(), State::Closed);
}

#[test]
fn a_hung_probe_frees_its_place_after_its_time() {
    let time = ManualClock::new();
    let timeout = Duration::from_secs(30);
    let registry = Registry::builder()
        .clock(time.clock())
        .declare_with(SERVICE, POLICY.probe_timeout(timeout))
        .build()
        .unwrap();
    let breaker = opened(&registry);
    time.advance(COOLDOWN);
    let hung = breaker.try_acquire().unwrap();
    time.advance(timeout - TICK);
    breaker.try_acquire().unwrap_err();
    time.advance(TICK);
    breaker.try_acquire().unwrap().success();
    assert_eq!(breaker.state(), State::Closed);
    drop(hung);
}

#[test]
fn a_dropped_call_is_as_old_as_time_says() {
    let time = ManualClock::new();
    let patience = Duration::from_secs(2);
    let registry = Registry::builder()
        .clock(time.clock())
        .declare_with(SERVICE, POLICY.on_cancel(OnCancel::After(patience)))
        .build()
        .unwrap();
    let breaker = breaker(&registry);
    let patient = breaker.try_acquire().unwrap();
    time.advance(patience);
    drop(patient);
    assert_eq!(breaker.state(), State::Closed);
    let impatient = breaker.try_acquire().unwrap();
    time.advance(patience + TICK);
    drop(impatient);
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn all_that_share_a_time_see_it_pass_on_whatever_thread() {
    let time = ManualClock::new();
    let registries = [
        timed(time.clock()),
        timed(time.clone().clock()),
        timed(time.clock().clone()),
    ];
    let breakers = registries.each_ref().map(opened);
    let elsewhere = time.clone();
    thread::spawn(move || elsewhere.advance(COOLDOWN / 2))
        .join()
        .unwrap();
    time.advance(COOLDOWN / 4);
    for breaker in breakers {
        let seen = thread::spawn(move || left(breaker)).join().unwrap();
        assert_eq!(seen, Some(COOLDOWN / 4));
    }
}

#[test]
fn time_is_told_to_pass_by_several_threads_and_all_of_it_passes() {
    let time = ManualClock::new();
    let breaker = opened(&timed(time.clock()));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..1_000).for_each(|_| time.advance(TICK)));
        }
    });
    assert_eq!(left(breaker), Some(COOLDOWN - TICK * 4_000));
}

#[test]
fn at_the_end_of_time_every_opening_is_over() {
    let time = ManualClock::new();
    let breaker = opened(&timed(time.clock()));
    time.advance(Duration::MAX);
    time.advance(Duration::MAX);
    assert_eq!(left(breaker), None);
}

#[circuit_breaker(service = "clock: guarded", threshold = 1, cooldown = "60s")]
fn guarded(fails: bool) -> io::Result<()> {
    if fails {
        return Err(io::Error::other("no"));
    }
    Ok(())
}

#[test]
fn a_guarded_function_follows_the_time_of_the_registry_that_is_entered() {
    let time = ManualClock::new();
    let registry = timed(time.clock());
    let _entered = registry.enter();
    guarded(true).unwrap_err();
    time.advance(COOLDOWN - TICK);
    guarded(false).unwrap_err();
    time.advance(TICK);
    guarded(false).unwrap();
}
