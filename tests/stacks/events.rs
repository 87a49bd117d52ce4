//! What listeners hear of the policies beside the breaker.

use std::sync::mpsc;

use breakerbox::Activity;
use breakerbox::BulkheadPolicy;
use breakerbox::Did;
use breakerbox::Event;
use breakerbox::Registry;
use breakerbox::Warning;
use breakerbox::bulkhead;

fn heard(events: &mpsc::Receiver<Event>) -> Vec<(&'static str, Did, u64)> {
    let activities = events.try_iter().filter_map(|event| match event {
        Event::Activity(Activity {
            service,
            did,
            times,
            ..
        }) => Some((service, did, times)),
        _ => None,
    });
    activities.collect()
}

/// One event for all that happened since the last one, so that an overload is not one of
/// events, too.
#[test]
fn a_full_bulkhead_is_told_with_how_often_and_not_once_a_call() {
    let (told, events) = mpsc::channel();
    let registry = Registry::builder()
        .on_event(move |event| {
            // The test may be over.
            let _ = told.send(event.clone());
        })
        .build()
        .unwrap();
    let bulkhead = registry.policies("crowd").bulkhead(BulkheadPolicy::new(1));
    let bulkhead = bulkhead.unwrap();
    let _held = bulkhead.try_acquire().unwrap();
    for _ in 0..1_000 {
        bulkhead.try_acquire().unwrap_err();
    }
    registry.close();
    let heard = heard(&events);
    let times: u64 = heard.iter().map(|(_, _, times)| times).sum();
    assert_eq!(times, 1_000);
    assert!(heard.len() < 100, "{heard:?}");
    assert!(
        heard
            .iter()
            .all(|it| it.0 == "crowd" && it.1 == Did::BulkheadFull)
    );
}

/// B126: functions that make up one name at run time are only known as they are called.
#[test]
fn two_functions_that_give_a_name_different_bulkheads_are_told_of_once() {
    #[bulkhead(max_concurrent = 1, service = format!("made {up}"))]
    fn one(up: &str) -> std::io::Result<()> {
        Ok(())
    }
    #[bulkhead(max_concurrent = 4, service = format!("made {up}"))]
    fn other(up: &str) -> std::io::Result<()> {
        Ok(())
    }
    let (told, events) = mpsc::channel();
    let registry = Registry::builder()
        .on_event(move |event| {
            // The test may be over.
            let _ = told.send(event.clone());
        })
        .build()
        .unwrap();
    let entered = registry.enter();
    for _ in 0..3 {
        one("up").unwrap();
        other("up").unwrap();
    }
    drop(entered);
    registry.close();
    let conflicts = events.try_iter().filter_map(|event| match event {
        Event::Warning(Warning::LimitConflict(conflict)) if conflict.service() == "made up" => {
            Some(conflict.policy())
        }
        _ => None,
    });
    assert_eq!(conflicts.collect::<Vec<_>>(), ["bulkhead"]);
}
