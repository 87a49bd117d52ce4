//! What a network does between a client and a server that is well.

use std::io::ErrorKind;
use std::time::Duration;
use std::time::Instant;

use breakerbox_servers::Direction;
use breakerbox_servers::Proxy;
use breakerbox_servers::Server;
use breakerbox_servers::installed;
use breakerbox_servers::until;

use crate::client::Client;

const A_WHILE: Duration = Duration::from_millis(60);

fn between() -> Option<(Server, Proxy, Client)> {
    let server = installed(Server::start())?;
    let proxy = Proxy::start(server.address()).expect("a proxy");
    let mut client = Client::of(proxy.address());
    assert_eq!(client.ask("PING"), "+PONG");
    Some((server, proxy, client))
}

#[test]
fn connections_and_bytes_are_counted() {
    let Some((_server, proxy, client)) = between() else {
        return;
    };
    assert_eq!((proxy.accepted(), proxy.live()), (1, 1));
    assert_eq!(proxy.bytes(Direction::Up), "PING\r\n".len() as u64);
    assert_eq!(proxy.bytes(Direction::Down), "+PONG\r\n".len() as u64);
    assert_eq!(Client::of(proxy.address()).ask("PING"), "+PONG");
    drop(client);
    until("both have left", || (proxy.live() == 0).then_some(()));
    assert_eq!(proxy.accepted(), 2);
}

#[test]
fn much_passes_whole() {
    let Some((server, _proxy, mut client)) = between() else {
        return;
    };
    let value = "0123456789abcdef".repeat(1 << 16);
    server.order(&["SET", "a", &value]);
    assert!(client.ask_for_text("GET a") == value);
}

#[test]
fn a_delay_holds_in_its_direction() {
    for direction in [Direction::Up, Direction::Down] {
        let Some((server, proxy, mut client)) = between() else {
            return;
        };
        proxy.delay(direction, A_WHILE);
        let began = Instant::now();
        client.say("SET a 1");
        if direction == Direction::Down {
            until("the server has executed it", || {
                (server.command(&["DBSIZE"]).integer() == Some(1)).then_some(())
            });
        }
        assert_eq!(client.hear().unwrap(), "+OK");
        assert!(began.elapsed() >= A_WHILE);
        // Its end comes no earlier than what was said before.
        let began = Instant::now();
        client.say("PING");
        client.say("QUIT");
        assert_eq!(client.hear().unwrap(), "+PONG");
        assert_eq!(client.hear().unwrap(), "+OK");
        assert_eq!(client.end(), ErrorKind::UnexpectedEof);
        assert!(began.elapsed() >= A_WHILE);
    }
}

#[test]
fn jitter_changes_no_order() {
    let Some((_server, proxy, mut client)) = between() else {
        return;
    };
    proxy.jitter(Direction::Up, Duration::from_millis(5));
    proxy.jitter(Direction::Down, Duration::from_millis(5));
    for number in 1..=50 {
        client.say(&format!("APPEND a {number:02}"));
    }
    for number in 1..=50 {
        assert_eq!(client.hear().unwrap(), format!(":{}", 2 * number));
    }
    assert_eq!(client.ask_for_text("GETRANGE a 0 5"), "010203");
}

#[test]
fn jitter_delays_some_more_than_others() {
    let Some((_server, proxy, mut client)) = between() else {
        return;
    };
    let most = Duration::from_millis(20);
    proxy.jitter(Direction::Down, most);
    let began = Instant::now();
    for _ in 0..20 {
        assert_eq!(client.ask("PING"), "+PONG");
    }
    // Twenty random delays that together are shorter than one may be: one chance in 20!.
    assert!(began.elapsed() >= most);
}

#[test]
fn what_is_held_arrives_late_but_whole() {
    let Some((server, proxy, mut client)) = between() else {
        return;
    };
    proxy.hold();
    client.say("SET a 1");
    let mut late = Client::of(proxy.address());
    late.say("PING");
    assert!(client.hears_nothing() && late.hears_nothing());
    assert_eq!(server.command(&["DBSIZE"]).integer(), Some(0));
    proxy.heal();
    assert_eq!(client.hear().unwrap(), "+OK");
    assert_eq!(late.hear().unwrap(), "+PONG");
}

#[test]
fn a_black_hole_swallows_what_is_sent_and_even_the_end() {
    let Some((server, proxy, mut client)) = between() else {
        return;
    };
    let mut quiet = Client::of(proxy.address());
    assert_eq!(quiet.ask("PING"), "+PONG");
    let mut told = Client::of(proxy.address());
    assert_eq!(told.ask("SUBSCRIBE c"), "*3");
    for _ in 0..5 {
        told.hear().unwrap();
    }
    proxy.black_hole();
    client.say("SET a 1");
    server.order(&["PUBLISH", "c", "m"]);
    let mut new = Client::of(proxy.address());
    new.say("PING");
    let commands = ("SET a 1\r\n".len() + "PING\r\n".len()) as u64;
    until("all of it is lost", || {
        let up = proxy.swallowed(Direction::Up) == commands;
        (up && proxy.swallowed(Direction::Down) > 0).then_some(())
    });
    assert!(client.hears_nothing() && told.hears_nothing() && new.hears_nothing());
    proxy.heal();
    // What has lost something stays silent, whatever follows.
    client.say("PING");
    new.say("PING");
    server.order(&["PUBLISH", "c", "m"]);
    assert!(client.hears_nothing() && told.hears_nothing() && new.hears_nothing());
    assert_eq!(server.command(&["DBSIZE"]).integer(), Some(0));
    assert_eq!(quiet.ask("PING"), "+PONG");
    assert_eq!(Client::of(proxy.address()).ask("PING"), "+PONG");
    proxy.black_hole();
    server.kill();
    assert!(quiet.hears_nothing());
}

#[test]
fn dropped_connections_end_and_new_ones_are_served() {
    let Some((_server, proxy, mut client)) = between() else {
        return;
    };
    proxy.drop_connections();
    assert_eq!(client.end(), ErrorKind::UnexpectedEof);
    assert_eq!(Client::of(proxy.address()).ask("PING"), "+PONG");
}

#[test]
fn reset_connections_end_with_an_error() {
    let Some((_server, proxy, mut client)) = between() else {
        return;
    };
    proxy.reset_connections();
    assert_eq!(client.end(), ErrorKind::ConnectionReset);
    let mut next = Client::of(proxy.address());
    assert_eq!(next.ask("PING"), "+PONG");
    proxy.drop_connections();
    assert_eq!(next.end(), ErrorKind::UnexpectedEof);
}

#[test]
fn a_half_closed_connection_is_heard_and_not_answered() {
    let Some((server, proxy, mut client)) = between() else {
        return;
    };
    proxy.half_close();
    assert_eq!(client.end(), ErrorKind::UnexpectedEof);
    client.say("SET a 1");
    until("the server has executed it", || {
        (server.command(&["DBSIZE"]).integer() == Some(1)).then_some(())
    });
    assert_eq!(client.end(), ErrorKind::UnexpectedEof);
    assert_eq!(Client::of(proxy.address()).ask("PING"), "+PONG");
}

#[test]
fn who_is_refused_finds_nobody() {
    let Some((_server, proxy, mut client)) = between() else {
        return;
    };
    proxy.refuse();
    let refused = Client::try_of(proxy.address()).map(drop).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    assert_eq!(client.ask("PING"), "+PONG");
    proxy.heal();
    assert_eq!(Client::of(proxy.address()).ask("PING"), "+PONG");
}

#[test]
fn an_answer_is_cut_in_the_middle_once() {
    let Some((_server, proxy, mut client)) = between() else {
        return;
    };
    proxy.cut_after(Direction::Down, 3);
    client.say("PING");
    let cut = client.hear().unwrap_err();
    assert_eq!(
        (cut.kind(), cut.to_string()),
        (ErrorKind::UnexpectedEof, "+PO".into())
    );
    assert_eq!(Client::of(proxy.address()).ask("PING"), "+PONG");
}

#[test]
fn a_command_is_cut_in_the_middle_and_not_executed() {
    let Some((server, proxy, mut client)) = between() else {
        return;
    };
    proxy.cut_after(Direction::Up, 7);
    client.say("SET a 1");
    client.end();
    assert_eq!(server.command(&["DBSIZE"]).integer(), Some(0));
    // A cut that has not happened is healed with the rest.
    proxy.cut_after(Direction::Up, 1);
    proxy.heal();
    assert_eq!(Client::of(proxy.address()).ask("PING"), "+PONG");
}

#[test]
fn new_connections_go_where_the_address_has_moved() {
    let Some((first, proxy, mut client)) = between() else {
        return;
    };
    let second = Server::start().unwrap();
    first.order(&["SET", "name", "first"]);
    second.order(&["SET", "name", "second"]);
    proxy.switch_to(second.address());
    assert_eq!(client.ask_for_text("GET name"), "first");
    let mut next = Client::of(proxy.address());
    assert_eq!(next.ask_for_text("GET name"), "second");
}

#[test]
fn without_its_server_a_proxy_accepts_and_closes() {
    let Some((server, proxy, mut client)) = between() else {
        return;
    };
    server.kill();
    assert_eq!(client.end(), ErrorKind::UnexpectedEof);
    Client::of(proxy.address()).end();
    server.restart();
    assert_eq!(Client::of(proxy.address()).ask("PING"), "+PONG");
}

#[test]
fn a_proxy_that_is_dropped_takes_its_connections_along() {
    let Some((server, proxy, mut client)) = between() else {
        return;
    };
    let address = proxy.address();
    drop(proxy);
    client.end();
    assert!(Client::try_of(address).is_err());
    until("the server has noticed", || {
        (server.client_count() == 0).then_some(())
    });
}
