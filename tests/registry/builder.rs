//! What a builder declares, and what it refuses.

use std::io;
use std::time::Duration;

use breakerbox::BuildError;
use breakerbox::Policy;
use breakerbox::Problem;
use breakerbox::Registry;
use breakerbox::circuit_breaker;

#[circuit_breaker(service = "registry: overruled", threshold = 7, cooldown = "7s")]
fn overruled() -> io::Result<()> {
    Ok(())
}

#[test]
fn a_declared_service_is_there_before_its_first_call_with_the_numbers_of_code() {
    let policy = Policy::new().threshold(2).cooldown(Duration::from_secs(9));
    let registry = Registry::builder()
        .declare("declared plainly")
        .declare_with("declared with numbers", policy)
        .build()
        .unwrap();
    let plain = registry.breaker("declared plainly").unwrap();
    assert_eq!(plain.policy(), Policy::new());
    let names: Vec<_> = registry
        .services()
        .iter()
        .map(|breaker| breaker.name())
        .collect();
    assert!(names.contains(&"declared plainly") && names.contains(&"declared with numbers"));
    let numbered = registry.breaker("declared with numbers").unwrap();
    assert_eq!(numbered.policy(), policy);
}

#[test]
fn keys_that_code_writes_come_before_those_of_an_attribute_and_the_others_stay() {
    let policy = Policy::new().threshold(2);
    let name = "registry: overruled";
    let by_code = Registry::builder()
        .declare_with(name, policy)
        .build()
        .unwrap();
    let named = Registry::builder().declare(name).build().unwrap();
    let plain = Registry::builder().build().unwrap();
    let attribute = Policy::new().threshold(7).cooldown(Duration::from_secs(7));
    let merged = policy.cooldown(Duration::from_secs(7));
    for (registry, expected) in [(by_code, merged), (named, attribute), (plain, attribute)] {
        let _entered = registry.enter();
        overruled().unwrap();
        assert_eq!(registry.breaker(name).unwrap().policy(), expected);
    }
}

#[test]
fn of_two_declarations_each_key_comes_from_the_last_that_writes_it() {
    let policy = Policy::new().threshold(2);
    let registry = Registry::builder()
        .declare_with("declared twice", policy.probes(3))
        .declare_with("declared twice", Policy::new().threshold(4))
        .build()
        .unwrap();
    let breaker = registry.breaker("declared twice").unwrap();
    assert_eq!(breaker.policy(), Policy::new().threshold(4).probes(3));
}

/// B126: numbers that were given are not silently lost.
#[test]
fn a_service_that_is_declared_again_by_name_alone_keeps_its_numbers() {
    let policy = Policy::new().threshold(2);
    let registry = Registry::builder()
        .declare_with("declared twice", policy)
        .declare("declared twice")
        .build()
        .unwrap();
    assert_eq!(registry.breaker("declared twice").unwrap().policy(), policy);
}

#[test]
fn everything_that_is_wrong_is_listed_in_the_order_in_which_it_was_said() {
    let long = "x".repeat(129);
    let refused = Registry::builder()
        .declare("")
        .declare("good")
        .declare_with("no threshold", Policy::new().threshold(0))
        .declare_with("a\u{7f}", Policy::new().cooldown(Duration::ZERO))
        .declare_with("good numbers", Policy::new().threshold(1))
        .declare(&*long)
        .on_event(|_| {})
        .build();
    let Err(error) = refused else {
        panic!("{refused:?}");
    };
    let text = error.to_string();
    let BuildError::Problems(problems) = error else {
        panic!("{error:?}");
    };
    let said: Vec<_> = problems
        .iter()
        .map(|problem| match problem {
            Problem::Name { name, .. } => ("name", name.clone()),
            Problem::Policy { service, source } => (source.key().name(), service.clone()),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [
        ("name", ""),
        ("threshold", "no threshold"),
        ("name", "a\u{7f}"),
        ("cooldown", "a\u{7f}"),
        ("name", &long),
    ];
    assert_eq!(said, expected.map(|(key, name)| (key, name.to_owned())));
    assert_eq!(text.lines().count(), 5, "one line a problem:\n{text}");
    for problem in &problems {
        assert!(text.contains(&problem.to_string()));
        assert!(!problem.to_string().contains('\u{7f}'), "{problem:?}");
    }
}

#[test]
fn a_name_may_have_128_bytes() {
    let longest = "ü".repeat(64);
    let registry = Registry::builder().declare(&*longest).build().unwrap();
    assert_eq!(registry.breaker(&longest).unwrap().name(), longest);
}

#[test]
fn a_private_registry_knows_nothing_of_what_another_one_declares() {
    let one = Registry::builder().declare("only in one").build().unwrap();
    let other = Registry::builder().build().unwrap();
    assert!(one.breaker("only in one").is_some());
    assert!(other.breaker("only in one").is_none());
}

/// All of it was printed, however long it was.
#[test]
fn a_name_that_is_too_long_is_not_printed_whole() {
    let name = "x".repeat(100_000);
    let built = Registry::builder().declare(name.as_str()).build();
    let error = built.expect_err("nothing is called so").to_string();
    assert!(error.contains("at most 128 bytes"), "{error}");
    assert!(error.contains(&name[..64]) && error.len() < 400, "{error}");
}
