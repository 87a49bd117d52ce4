//! How servers begin and end.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::panic;
use std::panic::AssertUnwindSafe;
use std::thread;

use breakerbox_servers::Cluster;
use breakerbox_servers::Error;
use breakerbox_servers::Proxy;
use breakerbox_servers::Sentinels;
use breakerbox_servers::Server;
use breakerbox_servers::Value;
use breakerbox_servers::installed;
use breakerbox_servers::until;

use crate::client::Client;

#[test]
fn many_servers_at_once_are_as_many_processes() {
    let Some(_there_is_one) = installed(Server::start()) else {
        return;
    };
    let servers: Vec<Server> = thread::scope(|scope| {
        let starting: Vec<_> = (0..8).map(|_| scope.spawn(Server::start)).collect();
        let started = starting.into_iter().map(|start| start.join().unwrap());
        started.collect::<Result<_, _>>().unwrap()
    });
    for (number, server) in servers.iter().enumerate() {
        server.order(&["SET", "number", &number.to_string()]);
    }
    for (number, server) in servers.iter().enumerate() {
        let text = Value::Text(number.to_string());
        assert_eq!(server.command(&["GET", "number"]), text);
    }
    let ports: BTreeSet<u16> = servers.iter().map(Server::port).collect();
    assert_eq!(ports.len(), servers.len());
}

#[test]
fn a_panic_ends_the_server_and_removes_its_folder() {
    let Some(server) = installed(Server::start()) else {
        return;
    };
    let (address, folder) = (server.address(), server.folder().to_owned());
    assert!(folder.is_dir());
    let panicked = panic::catch_unwind(AssertUnwindSafe(|| {
        let _server = server;
        panic::resume_unwind(Box::new("the test fails"));
    }));
    assert!(panicked.is_err());
    assert!(Client::try_of(address).is_err());
    assert!(!folder.exists());
}

#[test]
fn a_restart_waits_for_whoever_has_taken_the_port() {
    let Some(server) = installed(Server::start()) else {
        return;
    };
    server.kill();
    let somebody = TcpListener::bind(server.address()).unwrap();
    thread::scope(|scope| {
        let restart = scope.spawn(|| server.restart());
        until("it has found the port taken", || {
            let log = fs::read_to_string(server.folder().join("log")).ok()?;
            log.contains("Address already in use").then_some(())
        });
        drop(somebody);
        restart.join().unwrap();
    });
    assert_eq!(server.order(&["PING"]), Value::Status("PONG".into()));
}

#[test]
fn everything_can_be_shared_between_threads() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<Server>();
    shared::<Sentinels>();
    shared::<Cluster>();
    shared::<Proxy>();
}

#[test]
fn a_wrong_line_is_told_with_the_words_of_the_server() {
    let Some(_there_is_one) = installed(Server::start()) else {
        return;
    };
    let error = Server::options().config("maxmemory lots").start();
    let Err(Error::Ended { log, .. }) = error else {
        panic!("it started with {error:?}");
    };
    assert!(log.contains("maxmemory lots"), "{log}");
}

#[test]
fn options_reach_the_server() {
    let options = Server::options()
        .config("maxmemory 5mb")
        .config("databases 3");
    let Some(server) = installed(options.start()) else {
        return;
    };
    let limit = server.order(&["CONFIG", "GET", "maxmemory"]);
    assert_eq!(limit.elements()[1].integer(), Some(5 * 1024 * 1024));
    assert!(server.command(&["SELECT", "3"]).is_error());
    let config = fs::read_to_string(server.folder().join("server.conf")).unwrap();
    assert!(config.contains("bind 127.0.0.1\n"), "{config}");
}

#[test]
fn valkey_is_served_by_the_same_house() {
    // Not every system has it, and it is Redis that has to be there.
    let server = match Server::valkey().start() {
        Err(error @ Error::Missing { .. }) => {
            eprintln!("skipped: {error}");
            return;
        }
        other => other.unwrap(),
    };
    assert_eq!(server.order(&["PING"]), Value::Status("PONG".into()));
    assert!(!server.info("server", "valkey_version").is_empty());
}

#[test]
fn what_it_says_of_itself_is_counted() {
    let Some(server) = installed(Server::start()) else {
        return;
    };
    server.reset_command_stats();
    let mut one = Client::of(server.address());
    let mut other = Client::of(server.address());
    assert_eq!(one.ask("SET a 1"), "+OK");
    assert_eq!(other.ask("SET a 2"), "+OK");
    assert_eq!(other.ask("SUBSCRIBE c"), "*3");
    assert_eq!(server.command_stats().get("set"), Some(&2));
    assert_eq!(server.command_stats().get("get"), None);
    assert_eq!(server.client_count(), 2);

    let before = server.memory();
    server.order(&["SET", "big", &"x".repeat(1 << 20)]);
    assert!(server.memory() > before + (1 << 20) / 2);
}
