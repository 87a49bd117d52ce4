//! What no server should say, and what becomes of the connection then.

use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use super::connected;
use super::eventually;
use super::fake::Fake;
use super::start;
use crate::store::StoreError;
use crate::store::redis::Redis;

/// It accepts connections, tells the time and lets itself be subscribed to.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_still_loads_is_not_taken_for_one_that_works() {
    let fake = Fake::start().await;
    let loads = "-LOADING Redis is loading the dataset in memory\r\n";
    fake.says("EVALSHA", loads);
    let mut process = start(&Redis::new(fake.url()));
    let cause = process.down().await;
    assert!(cause.to_string().contains("LOADING"), "{cause}");
    fake.says_what_it_should("EVALSHA");
    process.up().await;
    assert_eq!(process.counts.losses(), 0);
}

/// The first version that is supported knows fewer ways to ask what it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_of_the_oldest_version_is_not_taken_for_a_master() {
    let fake = Fake::start().await;
    fake.is_replica.store(true, SeqCst);
    let mut process = start(&Redis::new(fake.url()));
    let cause = process.down().await;
    assert!(cause.to_string().contains("is a replica"), "{cause}");
    fake.is_replica.store(false, SeqCst);
    process.up().await;
}

/// An answer that belongs to another command would be believed, and so
/// would every one after it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_answer_too_many_ends_the_connection_and_is_not_believed() {
    let fake = Fake::start().await;
    let mut process = connected(&Redis::new(fake.url())).await;
    process.sync("stripe").await.expect("an answer");
    fake.repeats.store(true, SeqCst);
    let error = process
        .sync("stripe")
        .await
        .expect_err("it is the answer of before");
    assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
    let cause = process.down().await;
    assert!(cause.to_string().contains("out of step"), "{cause}");
    process.up().await;
    process.sync("stripe").await.expect("an answer");
    let counts = &process.counts;
    assert_eq!((counts.connections(), counts.losses()), (2, 1));
}

/// No bytes that come instead of an answer are believed, and none of them end more than the
/// connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_a_server_can_say_does_more_than_end_the_connection() {
    let fake = Fake::start().await;
    // It holds as soon as it has beaten once, and is not waited for any longer then.
    let redis = Redis::new(fake.url()).lease(Duration::from_millis(100));
    let process = connected(&redis).await;
    let deep = "*1\r\n".repeat(100_000);
    for garbage in [
        "\0?!\r\n",
        "\r\n\r\n",
        "_\r\n",
        "$-7\r\n",
        "*-5\r\n",
        "*2147483647\r\n",
        "$9223372036854775807\r\n",
        ":99999999999999999999999\r\n",
        "%1\r\n+phase\r\n",
        ">1\r\n$7\r\nmessage\r\n",
        ">3\r\n+message\r\n:1\r\n_\r\n*0\r\n",
        ">2\r\n+sunsubscribe\r\n+a\r\n",
        ",nan\r\n",
        "+7|done||-1|0,0,0|0|closed|0|0|0|-|0|-|0|-|\r\n",
        &deep,
    ] {
        fake.says("EVALSHA", garbage);
        process
            .sync("stripe")
            .await
            .expect_err("it is no answer to that");
        fake.says_what_it_should("EVALSHA");
        let so_far = process.beats();
        eventually("it is connected again", || async {
            process.sync("stripe").await.is_ok() && process.beats() > so_far + 1
        })
        .await;
    }
}
