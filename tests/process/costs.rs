//! What a call costs whose service is named at run time, or that is measured.

use std::io;

use breakerbox::Registry;
use breakerbox::circuit_breaker;
use stats_alloc::Region;

use crate::ALLOCATOR;
use crate::alone::alone;

#[circuit_breaker(service = tenant)]
fn charge(tenant: &str) -> io::Result<()> {
    let _ = tenant;
    Ok(())
}

#[circuit_breaker(service = tenant)]
fn refund(tenant: &str) -> io::Result<()> {
    let _ = tenant;
    Ok(())
}

/// The second function is compared with the first, whose numbers it shares, but not anew
/// on each call.
#[test]
fn functions_that_make_up_one_name_allocate_nothing_once_it_is_known() {
    alone(|| {
        let registry = Registry::builder().build().unwrap();
        let _entered = registry.enter();
        charge("a tenant").unwrap();
        refund("a tenant").unwrap();
        assert_allocates_nothing(|| {
            charge("a tenant").unwrap();
            refund("a tenant").unwrap();
        });
    });
}

/// The first call of each outcome on a thread makes its place.
#[test]
fn calls_that_are_measured_allocate_nothing_but_their_place() {
    alone(|| {
        let registry = Registry::builder().call_durations().build().unwrap();
        let _entered = registry.enter();
        let call = || {
            charge("a tenant").unwrap();
            drop(breakerbox::breaker("a tenant").unwrap().try_acquire());
        };
        call();
        assert_allocates_nothing(call);
    });
}

/// The thread that started the test may still allocate beside it, but not for ever.
fn assert_allocates_nothing(call: impl Fn()) {
    let rounds = (0..20).map(|_| {
        let region = Region::new(ALLOCATOR);
        for _ in 0..1_000 {
            call();
        }
        region.change().allocations
    });
    assert_eq!(rounds.min(), Some(0));
}
