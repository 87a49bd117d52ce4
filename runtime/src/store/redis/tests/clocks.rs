//! Clocks that are wrong.

use std::time::Duration;

use breakerbox_servers::Clock;
use breakerbox_servers::Server;
use breakerbox_servers::installed;

use super::connected;
use super::force_open;
use crate::rules::fleet::Status;
use crate::store::StoreError;
use crate::store::redis::Redis;

const HOUR: Duration = Duration::from_secs(3600);

/// Of the two clocks one is an hour off, and only the server's counts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_whose_clock_is_an_hour_off_is_as_good_as_another() {
    for clock in [Clock::Ahead(HOUR), Clock::Behind(HOUR)] {
        let Some(server) = installed(Server::with_clock()) else {
            return;
        };
        server.set_clock(clock);
        let mut process = connected(&Redis::new(server.url())).await;
        let reply = process.trip("stripe").await.expect("an answer");
        assert_eq!(reply.status, Status::Opened);
        process.told().await;
        let lag = process.counts.push_lag();
        assert!(lag < HOUR / 2, "{lag:?}");
        // And its deadlines still are some.
        server.stop();
        let late = process.submit("paypal", force_open()).await;
        assert_eq!(late.expect_err("nobody answers"), StoreError::TimedOut);
        process.down().await;
        server.cont();
        process.up().await;
        let reply = process.sync("paypal").await.expect("an answer");
        assert_eq!(reply.snapshot.cover, None, "it was not done afterwards");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_clock_that_jumps_makes_one_command_late_and_no_second_one() {
    let Some(server) = installed(Server::with_clock()) else {
        return;
    };
    // So long that no heartbeat finds out first.
    let redis = Redis::new(server.url()).lease(Duration::from_secs(60));
    let process = connected(&redis).await;
    process.sync("stripe").await.expect("an answer");
    server.set_clock(Clock::Ahead(HOUR));
    let error = process
        .trip("stripe")
        .await
        .expect_err("by the old clock it is late");
    assert_eq!(error, StoreError::Late);
    let reply = process.trip("stripe").await.expect("an answer");
    assert_eq!(reply.status, Status::Opened);
    server.set_clock(Clock::Right);
    // An hour early is never late; the answer sets the clock right.
    process.sync("stripe").await.expect("an answer");
    process
        .submit("stripe", force_open())
        .await
        .expect("an answer");
    assert_eq!((process.counts.losses(), process.dropped("late")), (0, 1));
}
