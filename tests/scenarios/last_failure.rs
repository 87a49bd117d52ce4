//! E17: the text of the failure that opened the circuit is in the snapshot.

use std::cell::Cell;
use std::fmt;

use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::Rejected;
use breakerbox::circuit_breaker;

thread_local! {
    /// How often an error was shown in this test.
    static SHOWN: Cell<u32> = const { Cell::new(0) };
}

#[derive(Debug)]
enum ShopError {
    Rejected,
    Gateway(u16),
    Long,
    Unspeakable,
}

impl From<Rejected> for ShopError {
    fn from(_: Rejected) -> Self {
        Self::Rejected
    }
}

impl fmt::Display for ShopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SHOWN.set(SHOWN.get() + 1);
        match self {
            Self::Rejected => f.write_str("not sent"),
            Self::Gateway(status) => write!(f, "gateway answered {status}"),
            Self::Long => f.write_str(&format!("x{}", "ü".repeat(1_000))),
            Self::Unspeakable => panic!("this error cannot be shown"),
        }
    }
}

/// An error that can only be debugged.
#[derive(Debug)]
struct Mute;

impl From<Rejected> for Mute {
    fn from(_: Rejected) -> Self {
        Self
    }
}

#[circuit_breaker(service = "last failure", threshold = 2)]
fn shop(error: ShopError) -> Result<(), ShopError> {
    Err(error)
}

#[circuit_breaker(service = "last failure: mute", threshold = 1)]
fn mute() -> Result<(), Mute> {
    Err(Mute)
}

#[circuit_breaker(service = "last failure: generic", threshold = 1)]
fn generic<E: From<Rejected>>(error: E) -> Result<(), E> {
    Err(error)
}

fn last_failure(registry: &Registry, service: &str) -> Option<String> {
    registry.breaker(service).unwrap().snapshot().last_failure
}

#[test]
fn e17_the_text_of_the_failure_that_opened_the_circuit_is_kept() {
    let registry = Registry::builder().build().unwrap();
    let _entered = registry.enter();
    shop(ShopError::Gateway(500)).unwrap_err();
    assert_eq!(last_failure(&registry, "last failure"), None);
    assert_eq!(SHOWN.get(), 0, "an ordinary failure formats nothing");
    shop(ShopError::Gateway(503)).unwrap_err();
    shop(ShopError::Gateway(504)).unwrap_err();
    let text = last_failure(&registry, "last failure");
    assert_eq!(text.as_deref(), Some("gateway answered 503"));
}

#[test]
fn e17_a_long_text_is_cut_between_characters() {
    let registry = Registry::builder().build().unwrap();
    let _entered = registry.enter();
    shop(ShopError::Long).unwrap_err();
    shop(ShopError::Long).unwrap_err();
    let text = last_failure(&registry, "last failure").unwrap();
    assert_eq!(text, format!("x{}", "ü".repeat(127)));
}

/// The caller gets its own error, whatever showing it does.
#[test]
fn e17_an_error_that_cannot_be_shown_is_still_returned() {
    let registry = Registry::builder().build().unwrap();
    let _entered = registry.enter();
    for _ in 0..2 {
        let error = shop(ShopError::Unspeakable).unwrap_err();
        assert!(matches!(error, ShopError::Unspeakable));
    }
    assert_eq!(last_failure(&registry, "last failure"), None);
}

#[test]
fn e17_an_error_without_a_text_leaves_none() {
    let registry = Registry::builder().build().unwrap();
    let _entered = registry.enter();
    mute().unwrap_err();
    generic(ShopError::Gateway(500)).unwrap_err();
    assert_eq!(last_failure(&registry, "last failure: mute"), None);
    // Of a type parameter nobody knows whether it can be shown.
    assert_eq!(last_failure(&registry, "last failure: generic"), None);
}

#[test]
fn e17_a_permit_may_tell_the_error() {
    let policy = Policy::new().threshold(1);
    let builder = Registry::builder().declare_with("permit", policy);
    let registry = builder.build().unwrap();
    let breaker = registry.breaker("permit").unwrap();
    let permit = breaker.try_acquire().unwrap();
    permit.failure_because("no answer");
    let text = last_failure(&registry, "permit");
    assert_eq!(text.as_deref(), Some("no answer"));
}
