//! Connections that break, and servers that die, hang or fall silent.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::Context;
use std::task::Poll;
use std::task::Waker;
use std::thread;
use std::time::Duration;

use breakerbox_servers::Direction;
use breakerbox_servers::Proxy;
use breakerbox_servers::Server;

use tokio::task::JoinSet;

use super::connected;
use super::force_open;
use super::start;
use crate::rules::fleet::Status;
use crate::store::Note;
use crate::store::Store;
use crate::store::StoreError;
use crate::store::redis::Redis;

/// The network to a server. It is no part of the runtime that the test runs on.
pub(super) fn in_front_of(server: &Server) -> Proxy {
    let started = thread::scope(|scope| {
        let starting = scope.spawn(|| Proxy::start(server.address()));
        starting.join().expect("it does not panic")
    });
    started.expect("a proxy")
}

/// What comes of it without any waiting.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("nobody is to wait for this"),
    }
}

/// M10, M12
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_and_starts_again_empty_is_found_again() {
    let server = Server::start().expect("a server");
    let mut process = connected(&Redis::new(server.url())).await;
    process.trip("stripe").await.expect("an answer");
    server.kill();
    let cause = process.down().await;
    assert!(matches!(cause, StoreError::Unavailable(_)), "{cause}");
    let note = Note::default();
    let refused = [
        at_once(process.sync("stripe")).err(),
        at_once(process.store.journal("stripe", 1)).err(),
        at_once(process.store.compare("stripe", &note)).err(),
    ];
    for refused in refused {
        assert!(
            matches!(refused, Some(StoreError::Unavailable(_))),
            "{refused:?}"
        );
    }
    for op in ["sync", "journal", "numbers"] {
        assert_eq!(process.sent(op), 0, "{op} was not sent");
    }
    server.restart();
    process.up().await;
    assert!(
        !process.is_open("stripe").await,
        "the server has lost everything"
    );
    assert_eq!(
        (process.counts.connections(), process.counts.losses()),
        (2, 1)
    );
}

/// M10: one event to a loss, not one to an attempt.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_loss_is_told_once_however_long_it_lasts() {
    let server = Server::start().expect("a server");
    let proxy = in_front_of(&server);
    let mut process = connected(&Redis::new(proxy.url())).await;
    server.kill();
    process.down().await;
    let attempts = proxy.accepted();
    super::eventually("it has tried thrice more", || async {
        proxy.accepted() >= attempts + 3
    })
    .await;
    assert!(process.heard.try_recv().is_err(), "it tells of it once");
    server.restart();
    process.up().await;
}

/// Nothing is left of the connections before, nor of attempts.
async fn is_the_only_client(server: &Server) {
    super::eventually("one connection is left", || async {
        server.client_count() == 1
    })
    .await;
}

/// A busy machine may give up an attempt before it stands, and that is none of these.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_loss_costs_one_reconnect() {
    let server = Server::start().expect("a server");
    let proxy = in_front_of(&server);
    let mut process = connected(&Redis::new(proxy.url())).await;
    for loss in 1..=5 {
        if loss % 2 == 0 {
            proxy.drop_connections();
        } else {
            proxy.reset_connections();
        }
        process.down().await;
        process.up().await;
        process.sync("stripe").await.expect("an answer");
        let counts = &process.counts;
        assert_eq!((counts.connections(), counts.losses()), (loss + 1, loss));
    }
    is_the_only_client(&server).await;
}

/// Whoever closed a connection has many witnesses: each command that waited, the socket, the
/// heartbeat.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_commands_that_lose_one_connection_lose_it_once() {
    let server = Server::start().expect("a server");
    let proxy = in_front_of(&server);
    let mut process = connected(&Redis::new(proxy.url())).await;
    proxy.hold();
    let waiting = (0..32).map(|_| process.sync("stripe"));
    let mut waiting: Vec<_> = waiting.map(Box::pin).collect();
    for command in &mut waiting {
        // Sent, and not answered.
        let sent = tokio::time::timeout(Duration::from_millis(1), command).await;
        assert!(sent.is_err());
    }
    proxy.reset_connections();
    for command in waiting {
        command.await.expect_err("it was lost");
    }
    proxy.heal();
    process.down().await;
    process.up().await;
    let counts = &process.counts;
    assert_eq!((counts.connections(), counts.losses()), (2, 1));
    is_the_only_client(&server).await;
}

/// The control experiment: what nobody waits for any more is not done when the server goes
/// on, though it has long taken it in.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_timed_out_at_a_stopped_server_is_not_executed_afterwards() {
    let server = Server::start().expect("a server");
    let mut process = connected(&Redis::new(server.url())).await;
    server.stop();
    let late = process.submit("stripe", force_open()).await;
    assert_eq!(late.expect_err("nobody answers"), StoreError::TimedOut);
    let cause = process.down().await;
    assert_eq!(cause, StoreError::TimedOut);
    server.cont();
    process.up().await;
    let reply = process.sync("stripe").await.expect("an answer");
    assert_eq!((reply.snapshot.epoch, reply.snapshot.cover), (0, None));
    let ran = server.command_stats()["evalsha"];
    assert!(ran >= 4, "two trials, the late one and this one: {ran}");
    // And one in time is.
    let forced = process
        .submit("stripe", force_open())
        .await
        .expect("an answer");
    assert_eq!(forced.status, Status::Done);
    assert!(forced.snapshot.cover.is_some());
}

/// M11
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_never_answers_is_left_and_another_connection_tried() {
    let server = Server::start().expect("a server");
    let proxy = in_front_of(&server);
    let mut process = connected(&Redis::new(proxy.url())).await;
    proxy.black_hole();
    // Nobody sends anything, and the heartbeat finds out.
    assert_eq!(process.down().await, StoreError::TimedOut);
    let error = process.sync("stripe").await.expect_err("it is down");
    assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
    proxy.heal();
    process.up().await;
    process.sync("stripe").await.expect("an answer");
}

/// The heartbeat would find out after twenty seconds at the earliest.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_commands_in_a_row_without_an_answer_end_the_connection() {
    let server = Server::start().expect("a server");
    let proxy = in_front_of(&server);
    let redis = Redis::new(proxy.url()).lease(Duration::from_secs(60));
    let mut process = connected(&redis).await;
    proxy.black_hole();
    for _ in 0..2 {
        let error = process.sync("stripe").await.expect_err("nobody answers");
        assert_eq!(error, StoreError::TimedOut);
    }
    let error = process.sync("stripe").await.expect_err("it is lost");
    assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
    assert_eq!(process.down().await, StoreError::TimedOut);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_network_is_not_a_loss() {
    let server = Server::start().expect("a server");
    let proxy = in_front_of(&server);
    proxy.delay(Direction::Up, Duration::from_millis(40));
    proxy.delay(Direction::Down, Duration::from_millis(40));
    let lease = Duration::from_millis(300);
    let mut process = connected(&Redis::new(proxy.url()).lease(lease)).await;
    // It would be late if its deadline were half a round trip off in the wrong direction.
    let reply = process.trip("stripe").await.expect("an answer");
    assert_eq!(reply.status, Status::Opened);
    process.told().await;
    let lag = process.counts.push_lag();
    assert!(lag >= Duration::from_millis(20), "{lag:?}");
    // Who cannot wait so long gets nothing, and that is no reason to leave.
    for _ in 0..5 {
        let within = Duration::from_millis(10);
        let error = process.submit_within("stripe", force_open(), within).await;
        assert_eq!(error.expect_err("too slow"), StoreError::TimedOut);
    }
    let reply = process.sync("stripe").await.expect("an answer");
    assert_eq!(
        reply.snapshot.cover, None,
        "what nobody waited for was not done"
    );
    let so_far = process.beats();
    super::eventually("it has beaten for two leases", || async {
        process.beats() >= so_far + 6
    })
    .await;
    assert_eq!(process.counts.losses(), 0);
}

/// As all circuits ask when there is a connection: from afar not all of them are answered in
/// time, which says nothing against it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_commands_than_go_at_once_are_not_a_loss() {
    let server = Server::start().expect("a server");
    let proxy = in_front_of(&server);
    proxy.delay(Direction::Up, Duration::from_millis(60));
    proxy.delay(Direction::Down, Duration::from_millis(60));
    let process = Arc::new(connected(&Redis::new(proxy.url())).await);
    let mut asking = JoinSet::new();
    for circuit in 0..1_000 {
        let process = Arc::clone(&process);
        asking.spawn(async move { process.sync(&circuit.to_string()).await });
    }
    let answers = asking.join_all().await;
    let in_vain = answers.iter().filter_map(|answer| answer.as_ref().err());
    assert!(in_vain.clone().count() > 0, "so many are too many");
    for error in in_vain {
        let was_too_late = matches!(error, StoreError::TimedOut | StoreError::Late);
        assert!(was_too_late, "{error}");
    }
    process.sync("stripe").await.expect("an answer");
    assert_eq!(process.counts.losses(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_not_there_yet_is_waited_for() {
    let server = Server::start().expect("a server");
    server.kill();
    let mut process = start(&Redis::new(server.url()));
    let cause = process.down().await;
    assert!(
        cause.to_string().contains("cannot reach 127.0.0.1"),
        "{cause}"
    );
    server.restart();
    process.up().await;
    process.sync("stripe").await.expect("an answer");
}
