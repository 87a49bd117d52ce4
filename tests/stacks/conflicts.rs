//! Functions that give one name different limits at run time.

use std::sync::Barrier;
use std::sync::mpsc;
use std::thread;

use breakerbox::BulkheadPolicy;
use breakerbox::Event;
use breakerbox::LimitConflict;
use breakerbox::Registry;
use breakerbox::Warning;
use breakerbox::bulkhead;
use breakerbox::rate_limit;

type R = std::io::Result<()>;

#[bulkhead(max_concurrent = 1, service = name)]
fn narrow(name: &str) -> R {
    Ok(())
}

#[bulkhead(max_concurrent = 4, service = name)]
fn wide(name: &str) -> R {
    Ok(())
}

#[bulkhead(max_concurrent = 4, service = name)]
fn as_wide(name: &str) -> R {
    Ok(())
}

#[rate_limit("100/s", service = name)]
fn quick(name: &str) -> R {
    Ok(())
}

#[rate_limit("50/s", service = name)]
fn slow(name: &str) -> R {
    Ok(())
}

#[bulkhead(max_concurrent = 4, service = name)]
#[rate_limit("100/s")]
fn both(name: &str) -> R {
    Ok(())
}

#[bulkhead(max_concurrent = 2, service = "conflicts-linked")]
fn linked() -> R {
    Ok(())
}

/// A registry, and what it says of limits until it is closed.
struct Told {
    registry: Registry,
    events: mpsc::Receiver<Event>,
}

impl Told {
    fn new() -> Self {
        let (told, events) = mpsc::channel();
        let registry = Registry::builder()
            .on_event(move |event| {
                // The test may be over.
                let _ = told.send(event.clone());
            })
            .build()
            .expect("nothing is wrong with it");
        Self { registry, events }
    }

    /// All about `service`.
    fn conflicts(self, service: &str) -> Vec<LimitConflict> {
        self.registry.close();
        let conflicts = self.events.try_iter().filter_map(|event| match event {
            Event::Warning(Warning::LimitConflict(conflict)) => Some(conflict),
            _ => None,
        });
        conflicts.filter(|it| it.service() == service).collect()
    }
}

#[test]
fn functions_that_agree_are_not_told_of() {
    let told = Told::new();
    {
        let _entered = told.registry.enter();
        for call in [wide, as_wide, quick, wide, as_wide, quick] {
            call("agree").unwrap();
        }
    }
    assert_eq!(told.conflicts("agree"), []);
}

#[test]
fn each_function_is_told_of_once_with_what_is_in_force() {
    let told = Told::new();
    {
        let _entered = told.registry.enter();
        for _ in 0..3 {
            for call in [wide, narrow, as_wide, quick, slow] {
                call("differ").unwrap();
            }
        }
    }
    let conflicts = told.conflicts("differ");
    let [narrow, slow] = conflicts.as_slice() else {
        panic!("{conflicts:?}")
    };
    assert_eq!((narrow.policy(), slow.policy()), ("bulkhead", "rate_limit"));
    for (conflict, in_force) in [(narrow, "max_concurrent = 4"), (slow, "100/s")] {
        assert_ne!(conflict.first(), conflict.second());
        let text = conflict.to_string();
        let (first, _) = text.split_once(" but ").unwrap();
        assert!(first.contains(in_force), "{text}");
    }
}

/// The places are those of one function and the rate is that of another.
#[test]
fn a_function_that_is_in_force_for_one_limit_may_contradict_the_other() {
    let told = Told::new();
    {
        let _entered = told.registry.enter();
        for call in [slow, both, narrow, quick, slow, both] {
            call("crossed").unwrap();
        }
    }
    let told = told.conflicts("crossed").into_iter().map(|conflict| {
        let text = conflict.to_string();
        let (first, _) = text.split_once(" but ").unwrap();
        (
            conflict.policy(),
            first.contains("50/s"),
            first.contains("max_concurrent = 4"),
        )
    });
    let expected = [
        ("rate_limit", true, false),
        ("bulkhead", false, true),
        ("rate_limit", true, false),
    ];
    assert_eq!(told.collect::<Vec<_>>(), expected);
}

/// The linker knows of it, whoever calls first.
#[test]
fn a_function_whose_name_is_known_comes_before_one_that_makes_it_up() {
    let told = Told::new();
    {
        let _entered = told.registry.enter();
        narrow("conflicts-linked").unwrap();
        linked().unwrap();
    }
    let bulkhead = told.registry.policies("conflicts-linked").get_bulkhead();
    assert_eq!(bulkhead.unwrap().policy().get_max_concurrent(), 2);
    assert_eq!(told.conflicts("conflicts-linked").len(), 1);
}

/// Whichever is quicker, the other one is told of, and the numbers are those in force.
#[test]
fn of_two_functions_that_come_at_once_the_one_that_is_told_of_is_not_in_force() {
    for _ in 0..300 {
        let told = Told::new();
        let barrier = Barrier::new(2);
        thread::scope(|scope| {
            for call in [narrow, wide] {
                let (registry, barrier) = (told.registry.clone(), &barrier);
                scope.spawn(move || {
                    let _entered = registry.enter();
                    barrier.wait();
                    for _ in 0..3 {
                        // The other may have the only place.
                        let _ = call("race");
                    }
                });
            }
        });
        let bulkhead = told.registry.policies("race").get_bulkhead().unwrap();
        let in_force = bulkhead.policy().get_max_concurrent();
        let conflicts = told.conflicts("race");
        let [conflict] = conflicts.as_slice() else {
            panic!("{conflicts:?}")
        };
        let text = conflict.to_string();
        let (first, _) = text.split_once(" but ").unwrap();
        let numbers = format!("max_concurrent = {in_force}");
        assert!(first.contains(&numbers), "{in_force}: {text}");
    }
}

/// Code that was first has no place that could be named; a function that says something else
/// still has what is in force, and is told of where another function says something else again.
#[test]
fn numbers_that_code_has_set_are_in_force_for_the_functions_that_come_later() {
    let told = Told::new();
    {
        let _entered = told.registry.enter();
        let policies = told.registry.policies("by code");
        policies.bulkhead(BulkheadPolicy::new(9)).unwrap();
        for call in [narrow, wide, narrow] {
            call("by code").unwrap();
        }
        let bulkhead = policies.get_bulkhead().unwrap();
        assert_eq!(bulkhead.policy().get_max_concurrent(), 9);
        // What nobody could be told about does not silence what comes later.
        wide("not by code").unwrap();
        narrow("not by code").unwrap();
    }
    assert_eq!(told.conflicts("not by code").len(), 1);
}
