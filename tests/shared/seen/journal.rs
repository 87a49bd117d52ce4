//! What has happened is kept, and read by whoever asks.

use std::cell::RefCell;
use std::time::Duration;
use std::time::SystemTime;

use breakerbox::JournalEntry;
use breakerbox::JournalError;
use breakerbox::Policy;
use breakerbox::Reason;
use breakerbox::Registry;
use breakerbox::State;
use breakerbox::with_registry;
use tokio::runtime::Runtime;

use super::Backing;
use super::POLICY;
use super::Process;
use super::meet;
use super::on_each;
use super::start;
use super::trip_both;
use super::wait;

/// The store may be out of reach for a moment where the machine is busy.
#[track_caller]
fn read(process: &Process) -> Vec<JournalEntry> {
    let read = RefCell::new(Vec::new());
    process.eventually("a journal", || {
        let asked = wait(process.registry.journal("shared"));
        asked.is_ok_and(|entries| {
            read.replace(entries);
            true
        })
    });
    read.into_inner()
}

#[test]
fn the_journal_says_who_did_what_when_why_and_for_how_long_newest_first() {
    on_each(|backing| {
        let a = start(backing, "worker-a", POLICY);
        let b = start(backing, "worker-b", POLICY);
        let begun = SystemTime::now() - Duration::from_secs(5);
        meet(&a, &b);
        trip_both(&a, &b);
        let ttl = Duration::from_secs(90);
        b.breaker
            .force_closed(ttl, "ann", "incident 7")
            .expect("an override");
        a.becomes(State::ForcedClosed);
        b.breaker.clear_override();
        a.becomes(State::Closed);
        a.eventually("four entries", || read(&a).len() == 4);
        let entries = read(&a);
        let moves: Vec<_> = entries
            .iter()
            .map(|it| (it.from, it.to, &*it.origin))
            .collect();
        let (open, closed, forced) = (State::Open, State::Closed, State::ForcedClosed);
        assert_eq!(
            moves,
            [
                (Some(forced), closed, "worker-b"),
                (Some(open), forced, "worker-b"),
                (Some(closed), open, "worker-a"),
                (Some(closed), closed, "worker-a"),
            ]
        );
        let [ended, forced_for, opening, reset] = [0, 1, 2, 3].map(|at| entries[at].lasts);
        assert_eq!((ended, reset), (None, None));
        assert_eq!(opening, Some(Duration::from_secs(600)));
        // It ends when it was meant to, however long it took to tell the store.
        let left = forced_for.expect("an override has an end");
        assert!(
            (ttl - Duration::from_secs(5)..=ttl).contains(&left),
            "{left:?}"
        );
        let expected = Reason::Threshold {
            failures: 3,
            threshold: 3,
        };
        assert_eq!(entries[2].reason, Some(expected));
        assert_eq!(entries[3].reason, Some(Reason::Reset));
        for entry in &entries[..2] {
            let by = entry.by.as_ref().expect("somebody");
            assert_eq!((&*by.actor, &*by.reason), ("ann", "incident 7"));
        }
        let until = SystemTime::now() + Duration::from_secs(5);
        assert!(entries.iter().all(|it| (begun..until).contains(&it.at)));
        assert_eq!(read(&b), entries);
        let line = entries[2].to_string();
        let end = "closed -> open for 600s: 3 failures in a row (threshold 3), by worker-a";
        assert!(line.ends_with(end), "{line}");
    });
}

#[test]
fn a_journal_is_read_in_any_runtime_and_in_whichever_registry_is_in_force() {
    on_each(|backing| {
        let a = start(backing, "worker-a", POLICY);
        trip_both(&a, &a);
        a.eventually("an entry", || read(&a).len() == 1);
        let asked = with_registry(a.registry.clone(), async {
            breakerbox::journal("shared").await
        });
        let runtime = Runtime::new().expect("a runtime");
        assert_eq!(runtime.block_on(asked), Ok(read(&a)));
    });
}

#[test]
fn whoever_asks_and_goes_away_harms_nobody() {
    on_each(|backing| {
        let a = start(backing, "worker-a", POLICY);
        for _ in 0..100 {
            drop(a.registry.journal("shared"));
        }
        trip_both(&a, &a);
        a.eventually("an entry", || read(&a).len() == 1);
    });
}

#[test]
fn where_there_is_no_journal_it_is_said_why() {
    let alone = Registry::builder().declare("shared").build();
    let alone = alone.expect("a right set-up");
    assert_eq!(wait(alone.journal("shared")), Err(JournalError::NoStore));
    on_each(|backing| {
        let a = start(backing, "worker-a", POLICY);
        let unknown = JournalError::UnknownService("nobody".to_owned());
        assert_eq!(wait(a.registry.journal("nobody")), Err(unknown));
        assert_eq!(read(&a), []);
        a.registry.close();
        assert_eq!(
            wait(a.registry.journal("shared")),
            Err(JournalError::Closed)
        );
    });
}

#[test]
fn a_store_that_is_lost_has_no_journal_and_says_so_at_once() {
    let backing = Backing::redis();
    let server = backing.server();
    let a = start(&backing, "worker-a", Policy::new());
    server.kill();
    a.eventually("an error", || {
        let read = wait(a.registry.journal("shared"));
        matches!(read, Err(JournalError::Unavailable { .. }))
    });
}
