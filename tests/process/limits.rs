//! Functions that declare the bulkhead or the rate limit of one service with different numbers
//! (I16): a binary of its own, since every registry of a process hears of all that it links.

use std::sync::mpsc;

use breakerbox::BuildError;
use breakerbox::Event;
use breakerbox::LimitConflict;
use breakerbox::Problem;
use breakerbox::Registry;
use breakerbox::Warning;
use breakerbox::bulkhead;
use breakerbox::rate_limit;

type R = std::io::Result<u32>;

const LINE: u32 = line!();

#[bulkhead(service = "places", max_concurrent = 3)]
fn first() -> R {
    Ok(1)
}

#[bulkhead(service = "places", max_concurrent = 5)]
#[rate_limit("100/s")]
fn second() -> R {
    Ok(2)
}

#[rate_limit("50/s", service = "places")]
fn third() -> R {
    Ok(3)
}

#[bulkhead(service = "places", max_concurrent = 3, queue = 0)]
#[rate_limit("100/s", burst = 100)]
fn the_same_in_other_words() -> R {
    Ok(4)
}

#[bulkhead(service = "agreed on", max_concurrent = 3, max_wait = "1s")]
fn agreed() -> R {
    Ok(5)
}

#[bulkhead(service = "agreed on", max_concurrent = 3, queue = 3)]
fn agreed_as_well() -> R {
    Ok(6)
}

/// What is said twice: about what, by the function in which line first, and then by which.
#[track_caller]
fn are_both(conflicts: &[LimitConflict]) {
    let said = conflicts.iter().map(|conflict| {
        assert_eq!(conflict.service(), "places");
        let places = [conflict.first(), conflict.second()];
        assert!(places.iter().all(|place| place.file() == file!()));
        (conflict.policy(), places.map(|place| place.line() - LINE))
    });
    let said: Vec<_> = said.collect();
    assert_eq!(said, [("bulkhead", [2, 7]), ("rate_limit", [7, 13])]);
}

/// Whoever calls first: the linker knows of all of them.
#[test]
fn the_first_by_file_and_line_is_in_force_for_each_limit() {
    let registry = Registry::builder().build().unwrap();
    let _entered = registry.enter();
    for (call, answer) in [
        (third as fn() -> R, 3),
        (second, 2),
        (the_same_in_other_words, 4),
        (first, 1),
        (agreed_as_well, 6),
        (agreed, 5),
    ] {
        assert_eq!(call().unwrap(), answer);
    }
    let policies = registry.policies("places");
    let bulkhead = policies.get_bulkhead().unwrap();
    assert_eq!(bulkhead.policy().get_max_concurrent(), 3);
    let limiter = policies.get_rate_limiter().unwrap();
    assert_eq!(limiter.policy().to_string(), "\"100/s\", burst = 100");
}

/// I16, B126
#[test]
fn where_it_is_strict_each_contradiction_is_an_error_with_both_places() {
    let error = Registry::builder().strict().build().unwrap_err();
    let BuildError::Problems(problems) = error else {
        panic!("{error}")
    };
    let conflicts = problems.iter().filter_map(|problem| match problem {
        Problem::LimitConflict(conflict) => Some(conflict.clone()),
        _ => None,
    });
    are_both(&conflicts.collect::<Vec<_>>());
}

#[test]
fn whoever_installs_hears_of_each_contradiction() {
    let (told, events) = mpsc::channel();
    let registry = Registry::builder()
        .on_event(move |event| {
            // The test may be over.
            let _ = told.send(event.clone());
        })
        .install()
        .unwrap();
    for call in [third, second, first] {
        call().unwrap();
    }
    registry.close();
    let conflicts = events.try_iter().filter_map(|event| match event {
        Event::Warning(Warning::LimitConflict(conflict)) => Some(conflict),
        _ => None,
    });
    are_both(&conflicts.collect::<Vec<_>>());
}
