//! A master that moves.

use breakerbox_servers::Sentinels;
use breakerbox_servers::Server;

use super::connected;
use super::fake::Fake;
use super::start;
#[cfg(feature = "redis-tls")]
use crate::rules::fleet::Phase;
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

/// Both answer; one has not heard yet that its master is a replica now.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sentinel_that_is_behind_the_times_leads_nobody_astray_for_long() {
    let (old, new) = a_replica_and_its_master();
    let [stale, fresh] = Fake::start_all().await;
    stale.says("SENTINEL", &master_at(old.port()));
    fresh.says("SENTINEL", &master_at(new.port()));
    let redis = Redis::sentinel("main", [stale.url(), fresh.url()]);
    // Until the other one has been asked first.
    for circuit in 0..64 {
        let process = connected(&redis).await;
        let tripped = process.trip(&circuit.to_string()).await;
        tripped.expect("a master answers");
        if stale.came("SENTINEL") > 0 {
            break;
        }
    }
    assert!(stale.came("SENTINEL") > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sentinel_that_only_knows_a_replica_is_told_as_that() {
    let (old, new) = a_replica_and_its_master();
    let stale = Fake::start().await;
    stale.says("SENTINEL", &master_at(old.port()));
    let mut process = start(&Redis::sentinel("main", [stale.url()]));
    let cause = process.down().await;
    let expected = format!("{} is a replica", old.address());
    assert!(cause.to_string().contains(&expected), "{cause}");
    stale.says("SENTINEL", &master_at(new.port()));
    process.up().await;
}

fn a_replica_and_its_master() -> (Server, Server) {
    let (replica, master) = (Server::start(), Server::start());
    let (replica, master) = (replica.expect("a server"), master.expect("another"));
    replica.replica_of(&master);
    (replica, master)
}

fn master_at(port: u16) -> String {
    let port = port.to_string();
    format!("*2\r\n$9\r\n127.0.0.1\r\n${}\r\n{port}\r\n", port.len())
}

/// They name the ports of servers for TLS then.
#[cfg(feature = "redis-tls")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sentinels_over_tls_are_the_same() {
    let sentinels = Sentinels::with_tls().expect("sentinels");
    let redis = Redis::sentinel(Sentinels::NAME, sentinels.urls());
    let redis = redis.ca_file(&sentinels.certificates().authority);
    let (one, mut other) = (connected(&redis).await, connected(&redis).await);
    one.trip("stripe").await.expect("an answer");
    assert!(other.is_open("stripe").await);
    let old = sentinels.kill_master();
    other.down().await;
    other.up().await;
    other.trip("paypal").await.expect("an answer");
    super::eventually("the other one finds it, too", || async {
        let reply = one.sync("paypal").await;
        reply.is_ok_and(|reply| reply.snapshot.phase == Phase::Open)
    })
    .await;
    assert_ne!(sentinels.next_master(old).port(), old);
}
