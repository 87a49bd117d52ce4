//! A server from before Redis 6.

use super::fake::Fake;
use super::start;
use crate::store::StoreError;
use crate::store::redis::Redis;

/// B168. No script is run on such a server, which would refuse to write after `TIME`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_too_old_is_told_by_what_it_does_not_know() {
    for (login, arguments) in [
        (None, "`3`, "),
        (Some("secret"), "`3`, `AUTH`, `default`, `secret`, "),
    ] {
        let fake = Fake::start().await;
        let unknown = "-ERR unknown command `HELLO`, with args beginning with: ";
        fake.says("HELLO", &format!("{unknown}{arguments}\r\n"));
        let mut redis = Redis::new(fake.url());
        if let Some(password) = login {
            redis = redis.login("", password);
        }
        let mut process = start(&redis);
        let cause = process.down().await;
        assert!(matches!(cause, StoreError::Unavailable(_)), "{cause}");
        // What Redis 6 brought, and the guide asks for.
        assert!(cause.to_string().contains("HELLO"), "{cause}");
        assert!(cause.to_string().contains("resp3"), "{cause}");
        assert!(!cause.to_string().contains("secret"), "{cause}");
        assert_eq!(process.counts.connections(), 0);
        assert_eq!(fake.came("EVALSHA") + fake.came("EVAL"), 0);
    }
}
