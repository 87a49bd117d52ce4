//! A server from before Redis 6.

use tokio::io::AsyncBufReadExt;
use tokio::io::AsyncReadExt;
use tokio::io::AsyncWriteExt;
use tokio::io::BufReader;
use tokio::net::TcpListener;
use tokio::net::TcpStream;

use super::start;
use crate::store::StoreError;
use crate::store::redis::Redis;

/// Answers each command as Redis 5 does that does not know it.
async fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("its number");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(talk(BufReader::new(stream)));
        }
    });
    format!("redis://{address}")
}

async fn talk(mut stream: BufReader<TcpStream>) -> Option<()> {
    loop {
        let mut words = Vec::new();
        for _ in 0..number(&mut stream).await? {
            let length = number(&mut stream).await?;
            let mut word = vec![0; length + 2];
            stream.read_exact(&mut word).await.ok()?;
            word.truncate(length);
            words.push(String::from_utf8(word).ok()?);
        }
        let (name, arguments) = words.split_first()?;
        let quoted: Vec<_> = arguments.iter().map(|it| format!("`{it}`, ")).collect();
        let answer = format!(
            "-ERR unknown command `{name}`, with args beginning with: {}\r\n",
            quoted.concat()
        );
        stream.write_all(answer.as_bytes()).await.ok()?;
    }
}

/// The number behind a `*` or a `$`.
async fn number(stream: &mut BufReader<TcpStream>) -> Option<usize> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    line.trim_end().get(1..)?.parse().ok()
}

/// B168. No script is run on such a server, which would refuse to write after `TIME`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_too_old_is_told_by_what_it_does_not_know() {
    for login in [None, Some("secret")] {
        let mut redis = Redis::new(serve().await);
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
    }
}
