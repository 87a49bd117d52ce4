//! Installing the global registry, before and after the first call.

use std::io;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::time::Duration;

use breakerbox::BuildError;
use breakerbox::Event;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::Source;
use breakerbox::State;
use breakerbox::circuit_breaker;

use crate::alone::alone;
use crate::alone::heard;
use crate::eventually::DEADLINE;

const SERVICE: &str = "process: installed";

#[circuit_breaker(service = "process: installed", threshold = 5)]
fn call(fails: bool) -> io::Result<()> {
    if fails {
        return Err(io::Error::other("no"));
    }
    Ok(())
}

#[test]
fn installed_before_the_first_call_the_numbers_of_code_are_in_force_at_once() {
    alone(|| {
        let policy = Policy::new().threshold(1).cooldown(Duration::from_secs(9));
        let builder = Registry::builder().declare_with(SERVICE, policy);
        let registry = builder.strict().install().unwrap();
        call(true).unwrap_err();
        let breaker = breakerbox::breaker(SERVICE).unwrap();
        assert_eq!(breaker.state(), State::Open);
        assert_eq!(breaker.policy(), policy);
        assert!(ptr::eq(breaker, registry.breaker(SERVICE).unwrap()));
        assert!(ptr::eq(
            breaker,
            Registry::global().breaker(SERVICE).unwrap()
        ));
    });
}

#[test]
fn installed_after_the_first_call_breakers_stay_and_keep_their_counts() {
    alone(|| {
        call(true).unwrap_err();
        call(true).unwrap_err();
        let before = breakerbox::breaker(SERVICE).unwrap();
        let (hears, heard) = mpsc::channel();
        let policy = Policy::new().threshold(3).cooldown(Duration::from_secs(9));
        Registry::builder()
            .declare_with(SERVICE, policy)
            .declare("late")
            .on_event(move |event| hears.send(event.clone()).expect("the test listens"))
            .install()
            .unwrap();

        let after = breakerbox::breaker(SERVICE).unwrap();
        assert!(ptr::eq(before, after));
        assert_eq!(after.policy(), policy);
        assert_eq!(after.snapshot().consecutive_failures, 2);
        assert_eq!(after.state(), State::Closed);
        assert!(breakerbox::breaker("late").is_some());

        call(true).unwrap_err();
        assert_eq!(after.state(), State::Open);
        let told = loop {
            match heard.recv_timeout(DEADLINE) {
                Ok(Event::Transition(told)) => break told,
                // It comes late, and is told of the numbers all the same.
                Ok(Event::Configured { service, settings }) if service == SERVICE => {
                    assert!(
                        settings
                            .iter()
                            .any(|setting| setting.source == Source::Code)
                    );
                }
                Ok(_) => {}
                Err(error) => panic!("the new listener hears nothing: {error}"),
            }
        };
        assert_eq!(told.service, SERVICE);
        assert_eq!(told.open_for, Some(Duration::from_secs(9)));
    });
}

#[test]
fn a_second_install_is_refused_and_changes_nothing() {
    alone(|| {
        Registry::builder().declare("first").install().unwrap();
        let breaker = breakerbox::breaker(SERVICE).unwrap();
        let (policy, listed) = (breaker.policy(), breakerbox::services().len());
        let told = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&told);
        let refused = Registry::builder()
            .declare("second")
            .declare_with(SERVICE, Policy::new().threshold(1))
            .max_dynamic_services(0)
            .on_event(move |_| {
                counted.fetch_add(1, Relaxed);
            })
            .install();
        assert!(
            matches!(refused, Err(BuildError::AlreadyInstalled)),
            "{refused:?}"
        );

        assert!(breakerbox::breaker("second").is_none());
        assert_eq!(breakerbox::services().len(), listed);
        assert!(ptr::eq(breaker, breakerbox::breaker(SERVICE).unwrap()));
        assert_eq!(breaker.policy(), policy);
        for _ in 0..5 {
            call(true).unwrap_err();
        }
        Registry::global().close();
        assert_eq!(told.load(Relaxed), 0);
        // Its thread has ended with it.
        assert_eq!(Arc::strong_count(&told), 1);
    });
}

#[test]
fn an_install_that_was_refused_leaves_the_way_free_for_a_right_one() {
    alone(|| {
        call(true).unwrap_err();
        let before = breakerbox::breaker(SERVICE).unwrap();
        let refused = Registry::builder()
            .declare_with(SERVICE, Policy::new().threshold(1))
            .declare("wrong\n")
            .declare("right")
            .declare_with("wrong too", Policy::new().probes(0))
            .strict()
            .install();
        let Err(BuildError::Problems(problems)) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert_eq!(before.policy(), Policy::new().threshold(5));
        assert!(breakerbox::breaker("right").is_none());

        Registry::builder().declare("right").install().unwrap();
        assert!(breakerbox::breaker("right").is_some());
        assert!(ptr::eq(before, breakerbox::breaker(SERVICE).unwrap()));
        assert_eq!(before.snapshot().consecutive_failures, 1);
    });
}

#[test]
fn a_set_up_without_a_fault_says_nothing() {
    let said = heard(|| {
        call(false).unwrap();
        Registry::builder().strict().install().unwrap();
        let _ = breakerbox::services();
        breakerbox::publish_metrics();
        Registry::global().close();
    });
    if let Some(said) = said {
        assert!(!said.contains("breakerbox"), "{said}");
    }
}

/// Nothing is known by a name alone that would be better than what a call brought.
#[test]
fn declared_late_by_its_name_alone_a_service_keeps_the_numbers_of_its_first_call() {
    #[circuit_breaker(service = service, threshold = 2)]
    fn named_at_run_time(service: &str) -> io::Result<()> {
        let _ = service;
        Ok(())
    }

    alone(|| {
        named_at_run_time("called").unwrap();
        let builder = Registry::builder().declare("called").declare("not called");
        let registry = builder.install().unwrap();
        let policy = |service| registry.breaker(service).unwrap().policy();
        assert_eq!(policy("called"), Policy::new().threshold(2));
        assert_eq!(policy("not called"), Policy::new());
        named_at_run_time("called").unwrap();
        named_at_run_time("not called").unwrap();
        assert_eq!(policy("called"), Policy::new().threshold(2));
        assert_eq!(policy("not called"), Policy::new().threshold(2));
    });
}

/// The background lists, and so makes, all breakers long before some are called.
#[test]
fn a_breaker_that_was_published_before_its_first_call_takes_the_numbers_of_that() {
    #[circuit_breaker(service = service, threshold = 1)]
    fn named_at_run_time(service: &str) -> io::Result<()> {
        let _ = service;
        Err(io::Error::other("no"))
    }

    alone(|| {
        let registry = Registry::builder().declare("published").install().unwrap();
        breakerbox::publish_metrics();
        named_at_run_time("published").unwrap_err();
        let breaker = registry.breaker("published").unwrap();
        assert_eq!(breaker.state(), State::Open);
    });
}
