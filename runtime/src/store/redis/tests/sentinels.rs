//! A master that moves.

use breakerbox_servers::Sentinels;

use super::connected;
use super::start;
use crate::store::redis::Redis;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_new_master_is_found_after_a_failover_and_after_a_death() {
    let sentinels = Sentinels::start().expect("sentinels");
    let redis = Redis::sentinel(Sentinels::NAME, sentinels.urls());
    let mut process = connected(&redis).await;
    process.trip("stripe").await.expect("an answer");
    sentinels.failover();
    super::eventually("the new master answers", || async {
        process.sync("stripe").await.is_ok() && process.counts.losses() == 1
    })
    .await;
    process.up().await;
    let old = sentinels.kill_master();
    process.down().await;
    // Whichever of them is asked: one that is dead leads to the next.
    sentinels.sentinels()[0].kill();
    process.up().await;
    process.trip("paypal").await.expect("an answer");
    assert_ne!(sentinels.next_master(old).port(), old);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_master_that_no_sentinel_knows_is_named() {
    let sentinels = Sentinels::start().expect("sentinels");
    let mut process = start(&Redis::sentinel("mian", sentinels.urls()));
    let cause = process.down().await;
    assert!(
        cause.to_string().contains("knows no master mian"),
        "{cause}"
    );
}
