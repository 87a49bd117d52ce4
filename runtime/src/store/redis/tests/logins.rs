//! Every way to a server, and everything that can be wrong with an address.

use std::time::Duration;

use breakerbox_servers::Server;

use super::connected;
use super::start;
use crate::rules::fleet::Status;
use crate::store::StoreError;
use crate::store::redis::Redis;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_opens_the_door_and_a_wrong_one_is_told_plainly() {
    let options = Server::options().password("s:e/c%r@t");
    let server = options.start().expect("a server");
    let redis = Redis::new(format!("redis://{}", server.address()));
    let process = connected(&redis.clone().login("", "s:e/c%r@t")).await;
    process.trip("stripe").await.expect("an answer");
    let url = format!("redis://:s:e%2Fc%25r%40t@{}", server.address());
    assert!(connected(&Redis::new(url)).await.is_open("stripe").await);
    let mut stranger = start(&redis.clone().login("", "hunter2"));
    let cause = stranger.down().await;
    assert!(matches!(cause, StoreError::Denied(_)), "{cause}");
    assert!(cause.to_string().contains("WRONGPASS"), "{cause}");
    assert!(!cause.to_string().contains("hunter2"), "{cause}");
    let mut nobody = start(&redis);
    let cause = nobody.down().await;
    assert!(matches!(cause, StoreError::Denied(_)), "{cause}");
    assert!(cause.to_string().contains("NOAUTH"), "{cause}");
}

/// Such a server repeats what it was told, and the password is a part of that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_does_not_know_how_to_log_in_does_not_tell_the_password() {
    let options = Server::options().config("rename-command HELLO \"\"");
    let server = options.start().expect("a server");
    let mut process = start(&Redis::new(server.url()).login("app", "hunter2"));
    let cause = process.down().await;
    assert!(cause.to_string().contains("unknown command"), "{cause}");
    assert!(!cause.to_string().contains("hunter2"), "{cause}");
    assert!(!format!("{cause:?}").contains("hunter2"), "{cause:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_user_logs_in_with_a_name() {
    let options = Server::options().user("app on >secret ~* &* +@all");
    let server = options.start().expect("a server");
    let process = connected(&Redis::new(server.url_of("app", "secret"))).await;
    process.trip("stripe").await.expect("an answer");
    let clients = server.order(&["CLIENT", "LIST"]);
    assert!(clients.text().contains(" user=app "), "{}", clients.text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_database_has_circuits_of_its_own() {
    let server = Server::start().expect("a server");
    let three = connected(&Redis::new(format!("{}/3", server.url()))).await;
    three.trip("stripe").await.expect("an answer");
    assert!(
        !connected(&Redis::new(server.url()))
            .await
            .is_open("stripe")
            .await
    );
    let redis = Redis::new(server.url()).database(3);
    assert!(connected(&redis).await.is_open("stripe").await);
    let mut none = start(&Redis::new(server.url()).database(99));
    let cause = none.down().await;
    assert!(
        cause.to_string().contains("DB index is out of range"),
        "{cause}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_unix_socket_leads_to_the_server_as_well() {
    let options = Server::options().unix_socket().password("secret");
    let server = options.start().expect("a server");
    let socket = server.unix_socket();
    let url = format!("redis+unix://{}?db=2&pass=secret", socket.display());
    let mut process = connected(&Redis::new(url)).await;
    process.trip("stripe").await.expect("an answer");
    assert_eq!(process.told().await.0, "stripe");
    server.kill();
    process.down().await;
    server.restart();
    process.up().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_does_not_exist_is_named() {
    let mut process = start(&Redis::new("redis://nowhere.invalid:7000"));
    let cause = process.down().await;
    assert!(
        cause.to_string().contains("nowhere.invalid:7000"),
        "{cause}"
    );
    let error = process
        .sync("stripe")
        .await
        .expect_err("there is no server");
    assert!(
        error.to_string().contains("nowhere.invalid:7000"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn valkey_does_the_same() {
    let Some(server) = breakerbox_servers::installed(Server::valkey().start()) else {
        return;
    };
    let mut process = connected(&Redis::new(server.url())).await;
    let reply = process.trip("stripe").await.expect("an answer");
    assert_eq!(reply.status, Status::Opened);
    assert_eq!(process.told().await.0, "stripe");
    server.kill();
    process.down().await;
    server.restart();
    process.up().await;
    process.trip("stripe").await.expect("an answer");
}

#[cfg(not(feature = "redis-tls"))]
#[test]
fn tls_that_is_not_compiled_in_is_said_before_anything_is_connected_to() {
    let error = Redis::new("rediss://cache").open().expect_err("no TLS");
    assert!(error.to_string().contains("redis-tls"), "{error}");
}

#[test]
fn what_cannot_be_is_said_before_anything_is_connected_to() {
    use crate::store::AddressError;
    let redis = || Redis::new("redis://cache");
    let none: [&str; 0] = [];
    for (redis, error) in [
        (Redis::new("cache"), AddressError::Scheme),
        (redis().prefix(""), AddressError::Prefix),
        (redis().prefix("a{b"), AddressError::Prefix),
        (
            redis().lease(Duration::from_millis(99)),
            AddressError::Lease,
        ),
        (redis().lease(Duration::from_secs(61)), AddressError::Lease),
        (redis().instance(""), AddressError::Instance),
        (redis().instance("a\nb"), AddressError::Instance),
        (redis().instance("a|b"), AddressError::Instance),
        (redis().instance("a".repeat(65)), AddressError::Instance),
        (redis().ca_file("/ca.pem"), AddressError::NotOverTls),
        (
            Redis::sentinel("main", ["redis://a"]).client_certificate("/c.pem", "/k.pem"),
            AddressError::NotOverTls,
        ),
        (Redis::sentinel("main", none), AddressError::None),
        (Redis::sentinel("", ["redis://a"]), AddressError::Master),
        (Redis::cluster(none), AddressError::None),
        (Redis::cluster(["unix:///a"]), AddressError::Mixed),
        (
            Redis::cluster(["redis://a", "rediss://b"]),
            AddressError::Mixed,
        ),
        (Redis::cluster(["redis://a/1"]), AddressError::NoDatabase),
        (
            Redis::cluster(["redis://a"]).database(1),
            AddressError::NoDatabase,
        ),
        (
            Redis::sentinel("main", ["redis://a/1"]),
            AddressError::NoDatabase,
        ),
    ] {
        assert_eq!(redis.open().expect_err("a mistake"), error);
    }
}

#[test]
fn what_is_said_of_a_redis_shows_no_password() {
    let all = [
        Redis::new("redis://app:hunter2@cache"),
        Redis::sentinel("main", ["redis://:hunter2@a"]).login("app", "hunter2"),
        Redis::cluster(["redis://:hunter2@a"]),
    ];
    for redis in all {
        let store = redis.open().expect("an address");
        let shown = format!("{redis:?} {store:?} {:?}", store.plan.target);
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}

#[cfg(feature = "redis-tls")]
mod tls {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn tls_needs_no_provider_that_somebody_installed() {
        let server = Server::options().tls().start().expect("a server");
        let files = server.certificates();
        let redis = Redis::new(server.tls_url()).ca_file(&files.authority);
        let mut process = connected(&redis).await;
        process.trip("stripe").await.expect("an answer");
        assert_eq!(process.told().await.0, "stripe");
        let installed = tokio_rustls::rustls::crypto::CryptoProvider::get_default();
        assert!(installed.is_none(), "nothing global was installed");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_server_that_nobody_vouches_for_is_not_talked_to() {
        let server = Server::options().tls().start().expect("a server");
        let mut process = start(&Redis::new(server.tls_url()));
        let cause = process.down().await;
        assert!(cause.to_string().contains("UnknownIssuer"), "{cause}");
    }

    /// Its certificate is for `localhost` and `127.0.0.1`.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_server_that_shows_the_certificate_of_another_is_not_talked_to() {
        let server = Server::options().tls().start().expect("a server");
        let files = server.certificates();
        let url = format!("rediss://0.0.0.0:{}", server.tls_port());
        let mut process = start(&Redis::new(url).ca_file(&files.authority));
        let cause = process.down().await;
        assert!(cause.to_string().contains("not valid for name"), "{cause}");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_server_may_want_to_know_who_calls() {
        let options = Server::options().tls_with_client_certificates();
        let server = options.start().expect("a server");
        let files = server.certificates();
        let redis = Redis::new(server.tls_url()).ca_file(&files.authority);
        let known = redis.clone();
        let known = known.client_certificate(&files.client, &files.client_key);
        connected(&known)
            .await
            .trip("stripe")
            .await
            .expect("an answer");
        start(&redis).down().await;
    }

    #[test]
    fn files_that_are_none_are_named_before_anything_is_connected_to() {
        let redis = Redis::new("rediss://cache").ca_file("/nowhere.pem");
        let error = redis.open().expect_err("no file");
        assert!(
            error.to_string().starts_with("/nowhere.pem cannot be used"),
            "{error}"
        );
    }
}
