//! Servers that say no.

use std::time::Duration;

use breakerbox_servers::Server;

use super::Process;
use super::connected;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Status;
use crate::store::Note;
use crate::store::Store;
use crate::store::StoreError;
use crate::store::redis::Redis;

/// A server and a process that logs in to it as a user of all rights.
async fn with_user() -> (Server, Process, Redis) {
    let options = Server::options().user("app on >secret ~* &* +@all");
    let server = options.start().expect("a server");
    let redis = Redis::new(server.url_of("app", "secret"));
    let process = connected(&redis).await;
    (server, process, redis)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_forgot_the_script_is_told_it_again() {
    let server = Server::start().expect("a server");
    let process = connected(&Redis::new(server.url())).await;
    server.script_flush();
    server.reset_command_stats();
    let reply = process.trip("stripe").await.expect("an answer");
    assert_eq!(reply.status, Status::Opened);
    process.sync("stripe").await.expect("an answer");
    let stats = server.command_stats();
    assert_eq!((stats["eval"], stats["evalsha"]), (1, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_not_run_scripts_is_told_so_and_stays_connected() {
    let (server, process, _) = with_user().await;
    server.deny("app", "evalsha");
    let error = process.trip("stripe").await.expect_err("it may not");
    assert!(matches!(error, StoreError::Denied(_)), "{error}");
    assert!(error.to_string().contains("evalsha"), "{error}");
    server.allow("app", "evalsha");
    process.trip("stripe").await.expect("it may again");
    assert_eq!((process.counts.losses(), process.dropped("denied")), (0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_not_publish_polls() {
    let (server, process, redis) = with_user().await;
    assert_eq!(process.store.polls(), None);
    server.deny("app", "publish");
    // One finds out by what comes of a command, ...
    let reply = process.trip("stripe").await.expect("an answer");
    assert_eq!(reply.snapshot.phase, Phase::Open);
    assert_eq!(process.store.polls(), Some(Duration::from_millis(500)));
    // ... another when it connects.
    let other = connected(&redis).await;
    assert_eq!(other.store.polls(), Some(Duration::from_millis(500)));
    assert!(other.is_open("stripe").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_not_hear_the_channel_polls() {
    let options = Server::options().user("app on >secret ~* resetchannels +@all");
    let server = options.start().expect("a server");
    let redis = Redis::new(server.url_of("app", "secret"));
    let process = connected(&redis).await;
    assert_eq!(process.store.polls(), Some(Duration::from_millis(500)));
    let reply = process.trip("stripe").await.expect("an answer");
    assert_eq!(reply.status, Status::Opened);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_somebody_else_put_there_is_left_alone_and_hurts_one_circuit() {
    let server = Server::start().expect("a server");
    let process = connected(&Redis::new(server.url())).await;
    server.order(&["SET", "breakerbox:{stripe}", "mine"]);
    server.order(&["HSET", "breakerbox:{paypal}", "v", "2"]);
    for circuit in ["stripe", "paypal"] {
        let error = process.trip(circuit).await.expect_err("it is not ours");
        assert!(matches!(error, StoreError::Foreign(_)), "{error}");
        assert!(error.is_about_one_circuit());
    }
    assert_eq!(server.order(&["GET", "breakerbox:{stripe}"]).text(), "mine");
    process.trip("adyen").await.expect("an answer");
    server.order(&["DEL", "breakerbox:{stripe}"]);
    process.trip("stripe").await.expect("an answer");
    assert_eq!(
        (process.counts.losses(), process.dropped("foreign")),
        (0, 2)
    );
}

/// A circuit of another version, or one that somebody has broken: no answer of it can be read,
/// and that says nothing against the connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_circuit_that_cannot_be_read_hurts_that_one_and_not_the_connection() {
    let server = Server::start().expect("a server");
    let process = connected(&Redis::new(server.url())).await;
    for (field, written) in [
        ("phase", "melted"),
        ("opened_by", "gravity:9:8:"),
        ("opened_by", "\\255"),
        ("epoch", "1e400"),
        // Too large to be exact, and as large as the time is in smaller units.
        ("epoch", "10000000000000000"),
        ("epoch", "9007199254740991"),
        ("epoch", "1800000000000000"),
        ("live", "10000000000000000:"),
        ("until", "-5"),
        ("failures", "1.5"),
        ("trips", "-1"),
        ("length", "nan"),
    ] {
        let reply = process.trip("stripe").await.expect("an answer");
        assert_eq!(
            reply.status,
            Status::Opened,
            "nothing is left of the last one"
        );
        let key = "breakerbox:{stripe}";
        let write = format!("redis.call('HSET', KEYS[1], '{field}', '{written}')");
        server.order(&["EVAL", &write, "1", key]);
        let error = process.sync("stripe").await.expect_err("it is not ours");
        assert!(
            matches!(error, StoreError::Foreign(_)),
            "{field} {written}: {error}"
        );
        process.trip("adyen").await.expect("an answer");
        server.order(&["DEL", key]);
    }
    assert_eq!(process.counts.losses(), 0);
}

/// Bytes that are no text, where the journal and the numbers lie.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_text_is_left_out_and_the_rest_is_told() {
    let server = Server::start().expect("a server");
    let process = connected(&Redis::new(server.url())).await;
    process.trip("stripe").await.expect("an answer");
    let write = "redis.call('LPUSH', KEYS[1], 'news', '\\255')
        redis.call('HSET', KEYS[2], '\\255', redis.call('TIME')[1] .. '000')";
    let journal = "breakerbox:{stripe}:journal";
    let numbers = "breakerbox:{stripe}:numbers";
    server.order(&["EVAL", write, "2", journal, numbers]);
    let entries = process.store.journal("stripe", 10).await;
    assert_eq!(entries.expect("a journal").len(), 1);
    let note = Note {
        former: None,
        current: Some("threshold=5".to_owned()),
    };
    let mut noted = process.store.compare("stripe", &note).await.expect("all");
    noted.sort();
    assert_eq!(noted, ["threshold=5", "\u{fffd}"]);
    assert_eq!(process.counts.losses(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_memory_writes_nothing_and_works_when_it_has_some() {
    let server = Server::start().expect("a server");
    let process = connected(&Redis::new(server.url())).await;
    server.config_set("maxmemory", "1");
    let error = process.trip("stripe").await.expect_err("it has no room");
    assert!(matches!(error, StoreError::Full(_)), "{error}");
    assert_eq!(server.order(&["DBSIZE"]).integer(), Some(0));
    server.config_set("maxmemory", "0");
    process.trip("stripe").await.expect("an answer");
    assert_eq!((process.counts.losses(), process.dropped("full")), (0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_master_that_became_a_replica_is_left_until_it_is_one_again() {
    let (server, other) = (Server::start(), Server::start());
    let (server, other) = (server.expect("a server"), other.expect("another"));
    let mut process = connected(&Redis::new(server.url())).await;
    server.replica_of(&other);
    let error = process.trip("stripe").await.expect_err("it is a replica");
    assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
    let cause = process.down().await;
    assert!(cause.to_string().contains("READONLY"), "{cause}");
    super::eventually("a new connection finds out, too", || async {
        let error = process.sync("stripe").await.expect_err("it is down");
        error.to_string().contains("is a replica")
    })
    .await;
    server.promote();
    process.up().await;
    process.trip("stripe").await.expect("an answer");
    assert_eq!(process.counts.losses(), 1);
}
