//! What can happen to a server.

use breakerbox_servers::Server;
use breakerbox_servers::Value;
use breakerbox_servers::installed;
use breakerbox_servers::until;

use crate::client::Client;

fn server() -> Option<Server> {
    installed(Server::start())
}

#[test]
fn a_killed_server_ends_its_connections_and_refuses_others() {
    let Some(server) = server() else { return };
    let mut client = Client::of(server.address());
    assert_eq!(client.ask("PING"), "+PONG");
    server.kill();
    client.end();
    assert!(Client::try_of(server.address()).is_err());
    assert!(server.try_command(&["PING"]).is_err());
}

#[test]
fn a_restarted_server_is_empty_and_at_the_same_place() {
    let Some(server) = server() else { return };
    let process = server.process_id();
    server.order(&["SET", "a", "1"]);
    server.kill();
    server.restart();
    assert_eq!(server.command(&["DBSIZE"]), Value::Integer(0));
    assert_ne!(server.process_id(), process);
    assert_eq!(Client::of(server.address()).ask("PING"), "+PONG");
    // One that runs, too.
    server.order(&["SET", "a", "1"]);
    server.restart();
    assert_eq!(server.command(&["DBSIZE"]), Value::Integer(0));
}

#[test]
fn a_stopped_server_takes_what_it_is_sent_and_executes_it_later() {
    let Some(server) = server() else { return };
    let mut client = Client::of(server.address());
    assert_eq!(client.ask("PING"), "+PONG");
    server.stop();
    client.say("SET a 1");
    let mut late = Client::of(server.address());
    late.say("PING");
    assert!(client.hears_nothing() && late.hears_nothing());
    server.cont();
    assert_eq!(client.hear().unwrap(), "+OK");
    assert_eq!(late.hear().unwrap(), "+PONG");
}

#[test]
fn a_stopped_server_can_be_killed() {
    let Some(server) = server() else { return };
    server.stop();
    server.restart();
    assert_eq!(Client::of(server.address()).ask("PING"), "+PONG");
}

#[test]
fn keys_and_scripts_can_be_lost() {
    let Some(server) = server() else { return };
    server.order(&["SET", "a", "1"]);
    let sha = server.order(&["SCRIPT", "LOAD", "return 7"]);
    let call = ["EVALSHA", sha.text(), "0"];
    assert_eq!(server.command(&call), Value::Integer(7));
    server.flushall();
    assert_eq!(server.command(&["GET", "a"]), Value::Nil);
    server.script_flush();
    assert!(server.command(&call).text().starts_with("NOSCRIPT"));
}

#[test]
fn a_user_is_denied_a_command_on_the_connection_that_it_has() {
    let options = Server::options().user("app on >secret ~* &* +@all");
    let Some(server) = installed(options.start()) else {
        return;
    };
    let mut client = Client::of(server.address());
    assert_eq!(client.ask("AUTH app secret"), "+OK");
    assert_eq!(client.ask("PUBLISH c m"), ":0");
    server.deny("app", "publish");
    assert!(client.ask("PUBLISH c m").starts_with("-NOPERM"));
    assert_eq!(client.ask("SET a 1"), "+OK");
    server.allow("app", "publish");
    assert_eq!(client.ask("PUBLISH c m"), ":0");
    server.acl("app", &["resetkeys", "~b"]);
    assert!(client.ask("SET a 1").starts_with("-NOPERM"));
    // The orders of the house go on, whatever becomes of the usual user.
    server.acl("default", &["off"]);
    server.clients_kill();
    client.end();
    assert!(
        Client::of(server.address())
            .ask("PING")
            .starts_with("-NOAUTH")
    );
    server.flushall();
}

#[test]
fn a_full_server_refuses_to_write() {
    let Some(server) = server() else { return };
    server.config_set("maxmemory", "1");
    let refused = server.command(&["SET", "a", "1"]);
    assert!(refused.text().starts_with("OOM"), "{refused:?}");
    server.config_set("maxmemory", "0");
    server.order(&["SET", "a", "1"]);
}

#[test]
fn the_connections_of_clients_end_and_the_house_keeps_its_own() {
    let Some(server) = server() else { return };
    let mut client = Client::of(server.address());
    let mut subscriber = Client::of(server.address());
    assert_eq!(client.ask("PING"), "+PONG");
    assert_eq!(subscriber.ask("SUBSCRIBE c"), "*3");
    for rest in ["$9", "subscribe", "$1", "c", ":1"] {
        assert_eq!(subscriber.hear().unwrap(), rest);
    }
    server.clients_kill();
    client.end();
    subscriber.end();
    until("the server has forgotten them", || {
        (server.client_count() == 0).then_some(())
    });
}

#[test]
fn a_replica_has_the_data_and_refuses_to_write_until_it_is_promoted() {
    let Some(master) = server() else { return };
    let replica = Server::start().unwrap();
    master.order(&["SET", "a", "1"]);
    replica.replica_of(&master);
    assert_eq!(replica.command(&["GET", "a"]), Value::Text("1".into()));
    let refused = Client::of(replica.address()).ask("SET a 2");
    assert!(refused.starts_with("-READONLY"), "{refused}");
    replica.promote();
    assert_eq!(Client::of(replica.address()).ask("SET a 2"), "+OK");
    assert_eq!(master.command(&["GET", "a"]), Value::Text("1".into()));
}
