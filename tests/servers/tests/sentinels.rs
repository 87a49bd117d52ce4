//! A master that fails under the eyes of sentinels.

use breakerbox_servers::Sentinels;
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
    assert_eq!(Client::of(second.address()).ask("SET a 1"), "+OK");
    until("the old master obeys the new one", || {
        let copy = first.command(&["GET", "a"]);
        (copy == Value::Text("1".into())).then_some(())
    });
    assert!(
        Client::of(first.address())
            .ask("SET a 2")
            .starts_with("-READONLY")
    );
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
    // Empty and back, it is made a replica.
    first.restart();
    until("the old master obeys the new one", || {
        let copy = first.command(&["GET", "a"]);
        (copy == Value::Text("1".into())).then_some(())
    });
    assert_eq!(all.master().port(), second.port());
}
