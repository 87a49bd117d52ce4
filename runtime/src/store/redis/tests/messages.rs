//! What the processes of a fleet hear of each other.

use breakerbox_servers::Server;
use breakerbox_servers::until;

use super::connected;
use super::failures;
use super::force_open;
use crate::rules::fleet::Status;
use crate::rules::fleet::What;
use crate::state::State;
use crate::store::Note;
use crate::store::Store;
use crate::store::noted::Noted;
use crate::store::redis::Redis;

/// M1
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everybody_hears_what_anybody_does_and_so_does_whoever_did_it() {
    let server = Server::start().expect("a server");
    let redis = Redis::new(server.url());
    let (mut one, mut other) = (connected(&redis).await, connected(&redis).await);
    let reply = one.trip("stripe").await.expect("an answer");
    assert_eq!(reply.status, Status::Opened);
    for process in [&mut one, &mut other] {
        let (circuit, told) = process.told().await;
        assert_eq!(circuit, "stripe");
        assert_eq!(told.snapshot, reply.snapshot);
        assert!(matches!(
            told.what,
            What::Moved {
                to: State::Open,
                ..
            }
        ));
        assert_eq!((told.now, told.instance), (reply.now, 7));
        assert_eq!(process.store.polls(), None);
    }
}

/// M2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_of_two_processes_count_together() {
    let server = Server::start().expect("a server");
    let redis = Redis::new(server.url());
    let (one, other) = (connected(&redis).await, connected(&redis).await);
    let reply = one.submit("stripe", failures(3)).await.expect("an answer");
    assert_eq!(reply.status, Status::Done);
    let reply = other
        .submit("stripe", failures(2))
        .await
        .expect("an answer");
    assert_eq!(reply.status, Status::Opened);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fleets_with_different_prefixes_do_not_know_of_each_other() {
    let server = Server::start().expect("a server");
    let one = connected(&Redis::new(server.url()).prefix("payments")).await;
    let mut other = connected(&Redis::new(server.url()).prefix("search")).await;
    one.trip("stripe").await.expect("an answer");
    assert!(!other.is_open("stripe").await);
    // Its own message is the first that it hears.
    other.trip("elastic").await.expect("an answer");
    assert_eq!(other.told().await.0, "elastic");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_others_say_on_the_channel_is_counted_and_left_alone() {
    let server = Server::start().expect("a server");
    let mut process = connected(&Redis::new(server.url())).await;
    for message in ["", "hello", "moved|closed|open", "\u{1}\u{2}"] {
        server.order(&["PUBLISH", "breakerbox:events", message]);
    }
    // Somebody else who tests whether it hears itself.
    server.order(&["PUBLISH", "breakerbox:events", "hello|0123456789abcdef"]);
    process.trip("stripe").await.expect("an answer");
    assert_eq!(process.told().await.0, "stripe");
    assert_eq!(process.counts.foreign_messages(), 4);
    assert_eq!(process.counts.losses(), 0);
}

/// The journal, newest first, with whoever it was.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_journal_says_what_happened_and_which_process_did_it() {
    let server = Server::start().expect("a server");
    let one = connected(&Redis::new(server.url()).instance("worker-1")).await;
    let other = connected(&Redis::new(server.url()).instance("worker:2,%")).await;
    one.trip("stripe").await.expect("an answer");
    other
        .submit("stripe", force_open())
        .await
        .expect("an answer");
    let entries = one
        .store
        .journal("stripe", usize::MAX)
        .await
        .expect("a journal");
    let read: Vec<_> = entries
        .iter()
        .map(|entry| (&*entry.origin, entry.told.what))
        .collect();
    let [
        (last, What::Moved { to, .. }),
        (first, What::Moved { from, .. }),
    ] = read.as_slice()
    else {
        panic!("{read:?}");
    };
    assert_eq!((*last, *to), ("worker:2,%", State::ForcedOpen));
    assert_eq!((*first, *from), ("worker-1", State::Closed));
    assert_eq!(
        one.store
            .journal("stripe", 1)
            .await
            .expect("a journal")
            .len(),
        1
    );
    assert_eq!(
        one.store
            .journal("stripe", 0)
            .await
            .expect("a journal")
            .len(),
        0
    );
    assert_eq!(
        one.store
            .journal("paypal", 10)
            .await
            .expect("a journal")
            .len(),
        0
    );
}

fn goes_by(numbers: &str) -> Note {
    Note {
        former: None,
        current: Some(numbers.to_owned()),
    }
}

/// M21, as the rules in `noted.rs` have it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn numbers_that_come_or_go_are_told_to_all_and_old_ones_are_forgotten() {
    let server = Server::start().expect("a server");
    let redis = Redis::new(server.url());
    let (mut one, mut other) = (connected(&redis).await, connected(&redis).await);
    let noted = one.store.compare("stripe", &goes_by("threshold=5")).await;
    assert_eq!(noted, Ok(vec!["threshold=5".to_owned()]));
    // Nobody noted these for long, and these at no time.
    let key = "breakerbox:{stripe}:numbers";
    server.order(&["HSET", key, "threshold=1", "1", "threshold=2", "once"]);
    let noted = other.store.compare("stripe", &goes_by("threshold=6")).await;
    let mut noted = noted.expect("numbers");
    noted.sort();
    assert_eq!(noted, ["threshold=5", "threshold=6"]);
    assert_eq!(one.renumbered().await, "stripe");
    assert_eq!(other.renumbered().await, "stripe");
    let left = server.order(&["PTTL", key]).integer();
    assert!(matches!(left, Some(1..=80_000)), "{left:?}");
    // The same again is no news, and what was noted before is not.
    let noted = one.store.compare("stripe", &goes_by("threshold=5")).await;
    assert_eq!(noted.expect("numbers").len(), 2);
    let leave = Note {
        former: Some("threshold=6".to_owned()),
        current: None,
    };
    let noted = other.store.compare("stripe", &leave).await;
    assert_eq!(noted, Ok(vec!["threshold=5".to_owned()]));
    assert_eq!(one.renumbered().await, "stripe");
    one.trip("stripe").await.expect("an answer");
    assert_eq!(one.told().await.0, "stripe");
}

/// The script and the rules in `noted.rs` do the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_numbers_are_noted_the_script_and_the_rules_do_the_same() {
    let server = Server::start().expect("a server");
    let mut process = connected(&Redis::new(server.url())).await;
    let (mut rules, mut random) = (Noted::default(), fastrand::Rng::with_seed(7));
    let mut news = 0;
    for _ in 0..500 {
        let mut numbers = || random.choice([None, Some("a"), Some("b"), Some("c")]);
        let mut numbers = || numbers().flatten().map(str::to_owned);
        let note = Note {
            former: numbers(),
            current: numbers(),
        };
        // All within the time for which they count.
        let (expected, is_news) = rules.note(&note, 1);
        let noted = process.store.compare("stripe", &note).await;
        let mut noted = noted.expect("numbers");
        noted.sort();
        assert_eq!(noted, expected, "{note:?}");
        server.order(&["PUBLISH", "breakerbox:events", "numbers|the next"]);
        if is_news {
            assert_eq!(process.renumbered().await, "stripe", "{note:?}");
            news += 1;
        }
        assert_eq!(process.renumbered().await, "the next", "{note:?}");
    }
    assert!((50..450).contains(&news), "{news}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_sent_is_counted_by_what_it_was() {
    let server = Server::start().expect("a server");
    let process = connected(&Redis::new(server.url())).await;
    process.trip("stripe").await.expect("an answer");
    process.sync("stripe").await.expect("an answer");
    process.sync("stripe").await.expect("an answer");
    let sent = ["flush", "sync", "force"].map(|kind| process.sent(kind));
    assert_eq!(sent, [1, 2, 0]);
    assert_eq!(
        (process.counts.connections(), process.counts.losses()),
        (1, 0)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_is_dropped_disconnects() {
    let server = Server::start().expect("a server");
    let process = connected(&Redis::new(server.url())).await;
    assert_eq!(server.client_count(), 1);
    drop(process);
    until("nobody is connected", || {
        (server.client_count() == 0).then_some(())
    });
}
