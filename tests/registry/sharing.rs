//! One breaker a service, made once.

use std::io;
use std::ptr;
use std::sync::Barrier;
use std::thread;

use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::State;
use breakerbox::call_sites;
use breakerbox::circuit_breaker;
use breakerbox::with_registry;

use super::neighbour;
use super::now;

#[circuit_breaker(service = "registry: shared", threshold = 10)]
async fn charge(fails: bool) -> io::Result<()> {
    super::body(fails)
}

#[circuit_breaker(service = neighbour::SHARED_CONST, threshold = 2)]
fn charge_by_constant(fails: bool) -> io::Result<()> {
    super::body(fails)
}

const LINE_ABOVE: u32 = line!();
#[circuit_breaker(service = "registry: never called", operation = "pays", threshold = 4)]
#[expect(dead_code, reason = "it is listed all the same")]
async fn never_called() -> io::Result<()> {
    Ok(())
}

fn private() -> Registry {
    Registry::builder().build().expect("nothing is wrong")
}

/// I15
#[test]
fn functions_of_two_files_that_name_one_service_share_its_breaker() {
    let registry = private();
    let _entered = registry.enter();
    let breaker = registry.breaker("registry: shared").unwrap();
    for n in 0..10 {
        assert_eq!(breaker.state(), State::Closed, "after {n} failures");
        let out = if n % 2 == 0 {
            now(charge(true))
        } else {
            neighbour::refund(true)
        };
        assert!(out.is_err());
    }
    assert_eq!(breaker.state(), State::Open);
    assert!(super::is_rejection(&now(charge(false))));
    assert!(super::is_rejection(&neighbour::refund(false)));
    assert_eq!(breaker.snapshot().calls.rejected, 2);
}

/// B063: the success of one resets the failures of the other.
#[test]
fn functions_that_name_a_service_by_one_constant_share_its_breaker() {
    let registry = private();
    let _entered = registry.enter();
    let breaker = registry.breaker(neighbour::SHARED_CONST).unwrap();
    for _ in 0..3 {
        assert!(charge_by_constant(true).is_err());
        assert!(now(neighbour::refund_by_constant(false)).is_ok());
    }
    assert!(now(neighbour::refund_by_constant(true)).is_err());
    assert_eq!(breaker.state(), State::Closed);
    assert!(charge_by_constant(true).is_err());
    assert_eq!(breaker.state(), State::Open);
}

/// K4, B133
#[test]
fn every_service_and_call_site_is_listed_before_its_first_call() {
    let sites = call_sites();
    assert!(sites.is_sorted_by_key(|site| site.location()));
    let ours: Vec<_> = sites
        .iter()
        .filter(|site| site.service() == "registry: never called")
        .collect();
    let [site] = &*ours else {
        panic!("{ours:?}");
    };
    assert_eq!(site.operation(), "pays");
    assert_eq!(site.module(), module_path!());
    assert_eq!(site.location().file(), file!());
    assert_eq!(site.location().line(), LINE_ABOVE + 1);
    assert_eq!(site.policy(), Policy::new().threshold(4));

    let registry = private();
    let services = registry.services();
    assert!(services.is_sorted_by_key(|breaker| breaker.name()));
    for site in sites {
        let listed = services
            .iter()
            .filter(|breaker| breaker.name() == site.service());
        assert_eq!(listed.count(), 1, "{}", site.service());
    }
    let ours = registry.breaker("registry: never called").unwrap();
    assert_eq!(ours.policy(), Policy::new().threshold(4));
    assert!(services.iter().any(|breaker| ptr::eq(*breaker, ours)));
}

#[test]
fn a_service_that_nobody_declares_has_no_breaker_and_asking_makes_none() {
    let registry = private();
    let before = registry.services().len();
    assert!(registry.breaker("registry: no such service").is_none());
    assert!(registry.breaker("").is_none());
    assert_eq!(registry.services().len(), before);
}

/// However many threads ask first, and in whatever way.
#[test]
fn threads_that_race_for_the_first_call_get_one_breaker() {
    const THREADS: usize = 8;
    for _ in 0..50 {
        let registry = Registry::builder()
            .declare("registry: raced")
            .build()
            .unwrap();
        let start = Barrier::new(THREADS);
        let breakers: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|n| {
                    let (registry, start) = (&registry, &start);
                    scope.spawn(move || {
                        let _entered = registry.enter();
                        start.wait();
                        if n % 2 == 0 {
                            let _ = registry.services();
                        }
                        now(charge(true)).unwrap_err();
                        ["registry: raced", "registry: shared"]
                            .map(|name| ptr::from_ref(registry.breaker(name).unwrap()).addr())
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        assert!(breakers.iter().all(|breaker| *breaker == breakers[0]));
        let shared = registry.breaker("registry: shared").unwrap().snapshot();
        assert_eq!(shared.calls.failure, THREADS as u64);
        assert_eq!(shared.consecutive_failures, 8);
    }
}

#[tokio::test]
async fn a_breaker_is_the_same_at_every_call() {
    with_registry(private(), async {
        let first = breakerbox::breaker("registry: shared").unwrap();
        for fails in [false, true, false] {
            let _ = charge(fails).await;
            assert!(ptr::eq(
                first,
                breakerbox::breaker("registry: shared").unwrap()
            ));
        }
        assert_eq!(first.snapshot().calls.success, 2);
        let listed = breakerbox::services();
        assert!(listed.iter().any(|breaker| ptr::eq(*breaker, first)));
    })
    .await;
}
