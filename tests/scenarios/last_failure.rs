//! E17: the text of the failure that opened the circuit is in the snapshot.

use std::cell::Cell;
use std::fmt;
use std::panic;
use std::time::Duration;

use breakerbox::Breaker;
use breakerbox::Error;
use breakerbox::ManualClock;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::Rejected;
use breakerbox::State;
use breakerbox::Verdict;
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

const SECOND: Duration = Duration::from_secs(1);

fn manual(clock: &ManualClock, policy: Policy) -> &'static Breaker {
    let builder = Registry::builder().clock(clock.clock());
    let registry = builder.declare_with("permit", policy).build();
    let registry = registry.expect("the numbers are good");
    registry.breaker("permit").expect("it is declared")
}

/// A text of long ago would send people after the wrong cause.
#[test]
fn e17_an_opening_without_a_text_does_not_keep_that_of_an_earlier_one() {
    let clock = ManualClock::new();
    let breaker = manual(&clock, Policy::new().threshold(1).cooldown(SECOND));
    let text = || breaker.snapshot().last_failure;
    let opens = |end: &dyn Fn()| {
        let permit = breaker.try_acquire().unwrap();
        permit.failure_because("no answer");
        assert_eq!(text().as_deref(), Some("no answer"));
        clock.advance(SECOND);
        end();
        assert_eq!(text(), None);
        clock.advance(SECOND);
    };
    opens(&|| breaker.try_acquire().unwrap().failure());
    opens(&|| {
        let panics = || -> Result<(), Error<()>> {
            breaker.call_blocking(|| panic::resume_unwind(Box::new("the body")))
        };
        panic::catch_unwind(panics).unwrap_err();
    });
    opens(&|| {
        let permit = breaker.try_acquire().unwrap();
        permit.record(Verdict::OpenFor(SECOND));
    });
}

/// It decides nothing, also where it is the first to see that an override has ended, and
/// with it that the circuit is open.
#[test]
fn e17_a_late_failure_does_not_give_its_text_to_an_opening_that_comes_to_light() {
    let clock = ManualClock::new();
    let policy = Policy::new().threshold(1).cooldown(9 * SECOND);
    let breaker = manual(&clock, policy.ramp(9 * SECOND));
    breaker.try_acquire().unwrap().failure();
    clock.advance(9 * SECOND);
    breaker.try_acquire().unwrap().success();
    let [late, opens] = [0; 2].map(|_| {
        clock.advance(4 * SECOND);
        breaker.try_acquire().unwrap()
    });
    opens.failure_because("the cause");
    breaker.force_open(SECOND, "ana", "a test").unwrap();
    clock.advance(SECOND);
    late.failure_because("nothing to do with it");
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.calls.late, snapshot.state), (1, State::Open));
    assert_eq!(snapshot.last_failure.as_deref(), Some("the cause"));
}
