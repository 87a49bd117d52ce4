//! Services that are named at run time.

use std::collections::BTreeSet;
use std::hint;
use std::io;
use std::ptr;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Duration;

use breakerbox::Breaker;
use breakerbox::Event;
use breakerbox::Key;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::RegistryBuilder;
use breakerbox::State;
use breakerbox::Warning;
use breakerbox::circuit_breaker;

use super::is_rejection;
use super::now;
use crate::observers::hearing;

const OVERFLOW: &str = "breakerbox:overflow";

#[circuit_breaker(service = tenant, threshold = 2)]
fn call(tenant: &str, fails: bool) -> io::Result<()> {
    super::body(fails)
}

/// The breakers of a registry that no attribute of this binary declares.
fn made_up(registry: &Registry) -> Vec<&'static Breaker> {
    let linked: BTreeSet<_> = breakerbox::call_sites()
        .iter()
        .map(|site| site.service())
        .collect();
    let mut services = registry.services();
    services.retain(|breaker| !linked.contains(breaker.name()));
    services
}

/// Runs `calls` in a registry of its own; gives what its listener was warned of.
fn warnings(builder: RegistryBuilder, calls: impl FnOnce(&Registry)) -> Vec<Warning> {
    let (builder, heard) = hearing(builder, |event| match event {
        // Other files of this binary contradict each other, too.
        Event::Warning(Warning::Conflict(conflict)) if conflict.first().file() != file!() => None,
        Event::Warning(warning) => Some(warning.clone()),
        _ => None,
    });
    let registry = builder.build().expect("nothing is wrong");
    let entered = registry.enter();
    calls(&registry);
    drop(entered);
    registry.close();
    heard.to_the_end()
}

#[test]
fn each_name_has_a_breaker_of_its_own() {
    let warnings = warnings(Registry::builder(), |registry| {
        for _ in 0..2 {
            assert!(call("red", true).is_err());
            assert!(call("blue", false).is_ok());
        }
        assert!(is_rejection(&call("red", false)));
        assert!(call("blue", false).is_ok());
        let names: Vec<_> = made_up(registry)
            .iter()
            .map(|breaker| breaker.name())
            .collect();
        assert_eq!(names, ["blue", "red"]);
        assert_eq!(registry.breaker("red").unwrap().state(), State::Open);
        assert_eq!(
            registry.breaker("red").unwrap().policy(),
            Policy::new().threshold(2)
        );
    });
    assert_eq!(warnings, []);
}

/// B128
#[test]
fn a_million_names_make_a_bounded_number_of_breakers() {
    let warnings = warnings(Registry::builder(), |registry| {
        for n in 0..1_000_000 {
            assert!(call(&n.to_string(), false).is_ok());
        }
        assert_eq!(made_up(registry).len(), 1_001);
        let calls = |name| registry.breaker(name).map(|b| b.snapshot().calls.success);
        assert_eq!(calls("0"), Some(1));
        assert_eq!(calls("999"), Some(1));
        assert_eq!(calls("1000"), None);
        assert_eq!(calls(OVERFLOW), Some(999_000));
    });
    let expected = Warning::TooManyServices {
        limit: 1_000,
        shared: OVERFLOW,
    };
    assert_eq!(warnings, [expected]);
}

#[test]
fn names_beyond_the_limit_share_one_breaker_and_those_before_keep_theirs() {
    let builder = Registry::builder().max_dynamic_services(2);
    warnings(builder, |registry| {
        for tenant in ["a", "b", "c", "d"] {
            assert!(call(tenant, true).is_err());
        }
        assert!(is_rejection(&call("e", false)));
        let shared = registry.breaker(OVERFLOW).unwrap();
        assert_eq!(shared.state(), State::Open);
        assert!(call("a", false).is_ok());
        assert!(call("b", false).is_ok());
        assert_eq!(made_up(registry).len(), 3);
    });
}

#[test]
fn a_limit_of_zero_lets_all_names_share() {
    let builder = Registry::builder().max_dynamic_services(0);
    warnings(builder, |registry| {
        assert!(call("a", true).is_err());
        assert!(call("b", true).is_err());
        assert!(is_rejection(&call("a", false)));
        assert_eq!(made_up(registry).len(), 1);
    });
}

#[circuit_breaker(service = "registry: named both ways", threshold = 3)]
fn by_literal(fails: bool) -> io::Result<()> {
    super::body(fails)
}

#[test]
fn declared_names_take_no_place_and_have_their_own_numbers() {
    let builder = Registry::builder()
        .max_dynamic_services(1)
        .declare("declared a")
        .declare_with("declared b", Policy::new().threshold(1));
    warnings(builder, |registry| {
        for name in ["declared a", "declared b", "registry: named both ways"] {
            assert!(call(name, false).is_ok());
        }
        assert!(call("made up", false).is_ok());
        assert!(registry.breaker(OVERFLOW).is_none());
        let threshold = |name| registry.breaker(name).unwrap().policy();
        assert_eq!(threshold("declared a"), Policy::new().threshold(2));
        assert_eq!(threshold("declared b"), Policy::new().threshold(1));
        assert_eq!(
            threshold("registry: named both ways"),
            Policy::new().threshold(3)
        );
        assert!(by_literal(false).is_ok());
        let both = registry.breaker("registry: named both ways").unwrap();
        assert_eq!(both.snapshot().calls.success, 2);
    });
}

/// Waits for the other thread without going to sleep, so that both go on at once.
fn meet(arrived: &AtomicUsize, expected: usize) {
    arrived.fetch_add(1, SeqCst);
    let mut waited = 0;
    while arrived.load(SeqCst) < expected {
        waited += 1;
        if waited < 10_000 {
            hint::spin_loop();
        } else {
            thread::yield_now();
        }
    }
}

/// Two threads may find at once that a name is new; it still is one name.
#[test]
fn threads_that_race_with_one_new_name_take_one_place() {
    const NAMES: usize = 1_000;
    const THREADS: usize = 2;
    let builder = Registry::builder().max_dynamic_services(NAMES);
    warnings(builder, |registry| {
        let arrived = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    let _entered = registry.enter();
                    for n in 0..NAMES {
                        let name = format!("raced {n}");
                        meet(&arrived, (n + 1) * THREADS);
                        assert!(call(&name, false).is_ok());
                    }
                });
            }
        });
        let names = made_up(registry);
        let shares = names.iter().any(|breaker| breaker.name() == OVERFLOW);
        assert!(
            !shares,
            "only {} of {NAMES} names had a place",
            names.len() - 1
        );
        assert_eq!(names.len(), NAMES);
    });
}

#[test]
fn threads_that_race_beyond_the_limit_are_warned_of_once() {
    const THREADS: usize = 2;
    for _ in 0..300 {
        let builder = Registry::builder().max_dynamic_services(0);
        let warnings = warnings(builder, |registry| {
            let arrived = AtomicUsize::new(0);
            thread::scope(|scope| {
                for n in 0..THREADS {
                    let arrived = &arrived;
                    scope.spawn(move || {
                        let _entered = registry.enter();
                        meet(arrived, THREADS);
                        assert!(call(&n.to_string(), false).is_ok());
                    });
                }
            });
        });
        assert_eq!(warnings.len(), 1, "{warnings:?}");
    }
}

#[test]
fn a_bad_name_is_guarded_under_the_nearest_good_one_and_said_once() {
    let long = "ü".repeat(100);
    let cut = "ü".repeat(64);
    let cases = [("a\nb", "a?b"), ("\u{85}", "?"), (&*long, &*cut)];
    let warnings = warnings(Registry::builder(), |registry| {
        for (given, used) in cases {
            assert!(call(given, true).is_err());
            assert!(call(given, true).is_err());
            assert!(is_rejection(&call(given, false)));
            assert!(is_rejection(&call(used, false)), "{given:?}");
            assert!(registry.breaker(given).is_none());
            assert_eq!(registry.breaker(used).unwrap().state(), State::Open);
        }
    });
    let said = warnings.iter().map(|warning| match warning {
        Warning::Name { given, used } => (&**given, *used),
        other => panic!("{other:?}"),
    });
    assert_eq!(Vec::from_iter(said), cases);
}

#[test]
fn an_empty_name_is_guarded_too() {
    let warnings = warnings(Registry::builder(), |registry| {
        assert!(call("", true).is_err());
        assert!(call("", true).is_err());
        assert!(is_rejection(&call("", false)));
        assert_eq!(made_up(registry).len(), 1);
    });
    assert!(matches!(&*warnings, [Warning::Name { given, .. }] if given.is_empty()));
}

#[circuit_breaker(service = tenant, threshold = 2, cooldown = "20s")]
async fn first_site(tenant: &str, fails: bool) -> io::Result<()> {
    super::body(fails)
}

#[circuit_breaker(service = tenant, threshold = 3, cooldown = "30s")]
async fn second_site(tenant: &str, fails: bool) -> io::Result<()> {
    super::body(fails)
}

/// B126
#[test]
fn sites_that_make_up_one_name_with_different_numbers_are_reported_once() {
    let warnings = warnings(Registry::builder(), |registry| {
        for _ in 0..3 {
            for tenant in ["one", "two"] {
                let _ = now(first_site(tenant, true));
                let _ = now(second_site(tenant, true));
            }
        }
        // The first to call has its numbers in force.
        let one = registry.breaker("one").unwrap();
        assert_eq!(one.snapshot().calls.failure, 2);
        assert_eq!(one.state(), State::Open);
    });
    let [Warning::Conflict(conflict)] = &*warnings else {
        panic!("{warnings:?}");
    };
    assert_eq!(conflict.service(), "one");
    assert_eq!(
        Vec::from_iter(conflict.keys()),
        [Key::Threshold, Key::Cooldown]
    );
    let (first, second) = (conflict.first(), conflict.second());
    assert_eq!((first.file(), second.file()), (file!(), file!()));
    assert!(first.line() < second.line());
    let text = conflict.to_string();
    for part in [
        first.to_string(),
        second.to_string(),
        "threshold 2".to_owned(),
    ] {
        assert!(text.contains(&part), "{text}");
    }
}

#[circuit_breaker(service = "registry: said at link time", threshold = 4)]
#[expect(dead_code, reason = "its numbers are in force all the same")]
fn linked_site() -> io::Result<()> {
    Ok(())
}

#[circuit_breaker(service = tenant, threshold = 9)]
fn contradicts_a_linked_site(tenant: &str) -> io::Result<()> {
    let _ = tenant;
    Ok(())
}

/// B126
#[test]
fn a_made_up_name_that_contradicts_a_declared_one_is_reported() {
    let name = "registry: said at link time";
    let warnings = warnings(Registry::builder(), |registry| {
        for _ in 0..3 {
            assert!(contradicts_a_linked_site(name).is_ok());
        }
        assert_eq!(
            registry.breaker(name).unwrap().policy(),
            Policy::new().threshold(4)
        );
    });
    assert!(
        matches!(&*warnings, [Warning::Conflict(conflict)] if conflict.service() == name),
        "{warnings:?}"
    );
}

#[circuit_breaker(service = tenant, threshold = 5)]
fn another_registry_one(tenant: &str) -> io::Result<()> {
    let _ = tenant;
    Ok(())
}

#[circuit_breaker(service = tenant, threshold = 6)]
fn another_registry_two(tenant: &str) -> io::Result<()> {
    let _ = tenant;
    Ok(())
}

/// B131: what one test was told is not withheld from the next.
#[test]
fn a_contradiction_is_reported_in_each_registry() {
    for _ in 0..2 {
        let warnings = warnings(Registry::builder(), |_| {
            another_registry_one("twice").unwrap();
            another_registry_two("twice").unwrap();
        });
        assert_eq!(warnings.len(), 1, "{warnings:?}");
    }
}

/// A name declared without numbers had the default ones for good, whatever the attribute
/// of the function said that called it.
#[test]
fn a_name_declared_without_numbers_takes_those_of_the_first_site_that_calls_it() {
    let builder = Registry::builder().declare("bare");
    let warnings = warnings(builder, |registry| {
        assert!(call("bare", true).is_err());
        let breaker = registry.breaker("bare").unwrap();
        assert_eq!(breaker.policy(), Policy::new().threshold(2));
        assert!(call("bare", true).is_err());
        assert_eq!(breaker.state(), State::Open);
    });
    assert_eq!(warnings, []);
}

/// The same where somebody asked for the breaker before: a listing, the background, or a
/// permit taken by hand, whose outcome still counts.
#[test]
fn it_takes_them_also_where_its_breaker_was_made_before_that_call() {
    let builder = Registry::builder().declare("listed");
    let warnings = warnings(builder, |registry| {
        let listed = registry.services();
        let breaker = registry.breaker("listed").unwrap();
        assert!(listed.iter().any(|other| ptr::eq(*other, breaker)));
        assert_eq!(breaker.policy(), Policy::new());
        breaker.try_acquire().unwrap().failure();
        assert!(call("listed", true).is_err());
        assert_eq!(breaker.policy(), Policy::new().threshold(2));
        assert_eq!(breaker.state(), State::Open);
        assert!(is_rejection(&call("listed", false)));
    });
    assert_eq!(warnings, []);
}

/// Its numbers are those of one site then, as if that had made it.
#[test]
fn a_second_site_that_contradicts_the_one_it_took_them_from_is_reported() {
    let builder = Registry::builder().declare("contested");
    let warnings = warnings(builder, |registry| {
        let _ = registry.services();
        for _ in 0..2 {
            assert!(now(first_site("contested", false)).is_ok());
            assert!(now(second_site("contested", false)).is_ok());
        }
        let policy = registry.breaker("contested").unwrap().policy();
        assert_eq!(policy.get_threshold(), Some(2));
    });
    let [Warning::Conflict(conflict)] = &*warnings else {
        panic!("{warnings:?}");
    };
    assert_eq!(conflict.service(), "contested");
    assert!(conflict.first().line() < conflict.second().line());
}

/// What code leaves to attributes they still contradict each other about.
#[test]
fn keys_of_code_win_in_whatever_order_a_name_is_declared() {
    let numbers = Policy::new().threshold(7);
    for builder in [
        Registry::builder()
            .declare("both")
            .declare_with("both", numbers),
        Registry::builder()
            .declare_with("both", numbers)
            .declare("both"),
    ] {
        let warnings = warnings(builder, |registry| {
            assert!(now(first_site("both", false)).is_ok());
            assert!(now(second_site("both", false)).is_ok());
            let merged = numbers.cooldown(Duration::from_secs(20));
            assert_eq!(registry.breaker("both").unwrap().policy(), merged);
        });
        let [Warning::Conflict(conflict)] = &*warnings else {
            panic!("{warnings:?}");
        };
        assert_eq!(Vec::from_iter(conflict.keys()), [Key::Cooldown]);
    }
}

/// Threads that call it first, at once, agree on one of the sites.
#[test]
fn threads_that_race_for_a_name_without_numbers_leave_those_of_one_site() {
    for _ in 0..100 {
        let builder = Registry::builder().declare("raced");
        let warnings = warnings(builder, |registry| {
            let arrived = AtomicUsize::new(0);
            thread::scope(|scope| {
                for is_first in [true, false] {
                    let arrived = &arrived;
                    scope.spawn(move || {
                        let _entered = registry.enter();
                        meet(arrived, 2);
                        let out = if is_first {
                            now(first_site("raced", false))
                        } else {
                            now(second_site("raced", false))
                        };
                        assert!(out.is_ok());
                    });
                }
            });
            let policy = registry.breaker("raced").unwrap().policy();
            let threshold = policy.get_threshold();
            let cooldown = policy.get_cooldown().as_secs();
            assert!(matches!(
                (threshold, cooldown),
                (Some(2), 20) | (Some(3), 30)
            ));
        });
        assert_eq!(warnings.len(), 1, "{warnings:?}");
    }
}
