//! A master that fails under the eyes of sentinels.

use breakerbox_servers::Sentinels;
use breakerbox_servers::Server;
use breakerbox_servers::Value;
use breakerbox_servers::installed;
use breakerbox_servers::until;

use crate::client::Client;

#[test]
fn sentinels_name_the_next_master_after_an_orderly_failover() {
    let Some(all) = installed(Sentinels::start()) else {
        return;
    };
    let [first, second] = all.servers();
    assert_eq!(all.urls().len(), 3);
    assert_eq!(all.master().port(), first.port());
    assert_eq!(all.failover().port(), second.port());
    is_a_pair(&all);
}

#[test]
fn sentinels_find_another_master_when_theirs_is_killed() {
    let Some(all) = installed(Sentinels::start()) else {
        return;
    };
    let [first, second] = all.servers();
    let dead = all.kill_master();
    assert_eq!(dead, first.port());
    assert_eq!(all.next_master(dead).port(), second.port());
    assert_eq!(Client::of(second.address()).ask("SET a 1"), "+OK");
    // Empty and back, it finds a place beside the other.
    first.restart();
    is_a_pair(&all);
}

/// One writes and the other copies. Which is which, a busy machine may have changed again.
#[track_caller]
fn is_a_pair(all: &Sentinels) {
    until("one of the two copies what the other is told", || {
        let master = all.settled();
        let is_other = |server: &&Server| server.port() != master.port();
        let replica = all.servers().iter().find(is_other)?;
        let told = Client::of(master.address()).ask("SET b 1");
        let refused = Client::of(replica.address()).ask("SET b 2");
        let copied = replica.command(&["GET", "b"]) == Value::Text("1".into());
        (told == "+OK" && refused.starts_with("-READONLY") && copied).then_some(())
    });
}
