//! How long is waited, and what becomes of that for which nobody waits any more.

use std::future::Future;
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;
use std::time::Instant;

use breakerbox_servers::Direction;
use breakerbox_servers::Server;

use super::connected;
use super::losses::in_front_of;
use super::start;
use crate::rules::fleet::Phase;
use crate::store::Store;
use crate::store::StoreError;
use crate::store::redis::Redis;
use crate::store::redis::connection::RESPONSE;

/// B151: no answer is waited for so long, and a handshake is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handshake_may_take_longer_than_an_answer() {
    let server = Server::options().password("secret").start();
    let server = server.expect("a server");
    let proxy = in_front_of(&server);
    let redis = Redis::new(proxy.url()).login("", "secret");
    shakes_hands_slowly(&proxy, &redis).await;
}

/// B151
#[cfg(feature = "redis-tls")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handshake_of_tls_may_take_longer_than_an_answer() {
    let server = Server::options().tls().start().expect("a server");
    let tls = std::net::SocketAddr::from(([127, 0, 0, 1], server.tls_port()));
    let proxy = in_front_of(&server);
    proxy.switch_to(tls);
    let url = format!("rediss://{}", proxy.address());
    let redis = Redis::new(url).ca_file(&server.certificates().authority);
    shakes_hands_slowly(&proxy, &redis).await;
}

async fn shakes_hands_slowly(proxy: &breakerbox_servers::Proxy, redis: &Redis) {
    proxy.hold();
    let mut process = start(redis);
    super::eventually("it connects", || async { proxy.accepted() == 1 }).await;
    tokio::time::sleep(RESPONSE * 3 / 2).await;
    proxy.heal();
    process.up().await;
    assert_eq!(proxy.accepted(), 1, "it was not cut short");
    process.sync("stripe").await.expect("an answer");
}

/// B153: their answers come all the same, and belong to nobody else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_commands_that_nobody_waits_for_mix_up_no_answers() {
    let server = Server::start().expect("a server");
    let proxy = in_front_of(&server);
    let mut process = connected(&Redis::new(proxy.url())).await;
    process.trip("stripe").await.expect("an answer");
    proxy.delay(Direction::Down, Duration::from_millis(20));
    for round in 0..20 {
        let before = proxy.bytes(Direction::Up);
        let commands = (0..50).map(|at| process.sync(["stripe", "paypal"][at % 2]));
        let mut commands: Vec<_> = commands.map(Box::pin).collect();
        for command in &mut commands {
            let soon = Duration::from_micros(10);
            let _ = tokio::time::timeout(soon, command).await;
        }
        if round % 2 == 0 {
            super::eventually("they are sent", || async {
                proxy.bytes(Direction::Up) > before
            })
            .await;
        }
        drop(commands);
        let (stripe, paypal, journal) = tokio::join!(
            answered(|| process.sync("stripe")),
            answered(|| process.sync("paypal")),
            answered(|| process.store.journal("stripe", 10)),
        );
        assert_eq!(stripe.snapshot.phase, Phase::Open);
        assert_eq!(paypal.snapshot.phase, Phase::Closed);
        assert_eq!(journal.len(), 1);
    }
    while let Ok(heard) = process.heard.try_recv() {
        if let super::Heard::Down(cause) = heard {
            assert!(!is_out_of_step(&cause), "{cause}");
        }
    }
}

/// What it answers in the end: a machine that is busy may take longer than anybody waits.
async fn answered<T, F: Future<Output = Result<T, StoreError>>>(mut ask: impl FnMut() -> F) -> T {
    let begun = Instant::now();
    loop {
        match ask().await {
            Ok(answer) => return answer,
            Err(error) => assert!(!is_out_of_step(&error), "{error}"),
        }
        assert!(begun.elapsed() < super::LIMIT, "it never answers");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn is_out_of_step(error: &StoreError) -> bool {
    error.to_string().contains("out of step")
}

/// M14: there is no queue. More commands than may be under way at once wait for their turn no
/// longer than for an answer, and each that was not done is counted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_commands_than_can_be_sent_are_dropped_in_time_and_counted() {
    const MANY: u64 = 1_000;
    let server = Server::start().expect("a server");
    // So that no heartbeat finds out first.
    let redis = Redis::new(server.url()).lease(Duration::from_secs(60));
    let mut process = connected(&redis).await;
    process.sync("stripe").await.expect("an answer");
    server.reset_command_stats();
    server.stop();
    let answers = (0..MANY).map(|_| process.sync("stripe"));
    for answer in join_all(answers).await {
        let error = answer.expect_err("nobody answers");
        let is_known = matches!(error, StoreError::TimedOut | StoreError::Unavailable(_));
        assert!(is_known, "{error}");
    }
    let dropped = process.dropped("timed_out") + process.dropped("unavailable");
    assert_eq!(dropped, MANY);
    process.down().await;
    server.cont();
    process.up().await;
    process.sync("stripe").await.expect("an answer");
    // That has read all that was sent: so many, one trial and this one.
    let ran = server.command_stats()["evalsha"];
    assert!((3..=258).contains(&ran), "{ran}");
}

/// What all of them answer.
async fn join_all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut waiting: Vec<_> = futures.map(|it| (Box::pin(it), None)).collect();
    poll_fn(|context| {
        for (future, answer) in &mut waiting {
            if answer.is_none()
                && let Poll::Ready(ready) = future.as_mut().poll(context)
            {
                *answer = Some(ready);
            }
        }
        match waiting.iter().all(|(_, answer)| answer.is_some()) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    let answers = waiting.into_iter().map(|(_, answer)| answer);
    answers.map(|it| it.expect("each has one")).collect()
}

/// M13: less and less often, and as often as before once a connection has held.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_gone_is_tried_less_and_less_often() {
    let server = Server::start().expect("a server");
    let proxy = in_front_of(&server);
    let lease = Duration::from_millis(300);
    let mut process = connected(&Redis::new(proxy.url()).lease(lease)).await;
    let mut first = Vec::new();
    for attempts in [7, 3] {
        server.kill();
        process.down().await;
        let mut gaps = Vec::new();
        for _ in 0..attempts {
            let (begun, before) = (Instant::now(), proxy.accepted());
            super::eventually("it tries again", || async { proxy.accepted() > before }).await;
            gaps.push(begun.elapsed());
        }
        server.restart();
        process.up().await;
        let so_far = process.beats();
        super::eventually("it holds", || async { process.beats() > so_far + 1 }).await;
        if first.is_empty() {
            first.clone_from(&gaps);
        }
        // Of 50 ms, doubled up to 2 s, it waits a quarter at least.
        let sum = |gaps: &[Duration]| gaps.iter().sum::<Duration>();
        let (few, many) = (sum(&gaps[..3]), sum(&first[4..]));
        assert!(many > Duration::from_secs(1), "{first:?}");
        assert!(2 * few < many, "{first:?} {gaps:?}");
    }
}
