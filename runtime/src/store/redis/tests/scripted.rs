//! A server that is none, and says what no server should.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use tokio::io::AsyncBufReadExt;
use tokio::io::AsyncReadExt;
use tokio::io::AsyncWriteExt;
use tokio::io::BufReader;
use tokio::net::TcpListener;
use tokio::net::TcpStream;

use super::connected;
use super::start;
use crate::store::StoreError;
use crate::store::redis::Redis;

/// What it has seen, and what it is to do.
#[derive(Default)]
struct Script {
    /// Before its next answer to a command on a circuit it gives the last one once more.
    repeats: AtomicBool,
    /// It refuses what a server refuses that has not read its database yet.
    loads: AtomicBool,
    connections: AtomicUsize,
}

async fn serve(script: Arc<Script>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("its number");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            script.connections.fetch_add(1, SeqCst);
            tokio::spawn(talk(stream, Arc::clone(&script)));
        }
    });
    format!("redis://{address}")
}

/// Answers until the other side goes away.
async fn talk(stream: TcpStream, script: Arc<Script>) {
    let mut stream = BufReader::new(stream);
    let mut last = None;
    while let Some(words) = command(&mut stream).await {
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let mut answer = match words.as_slice() {
            ["HELLO", ..] => "%1\r\n$4\r\nrole\r\n$6\r\nmaster\r\n".to_owned(),
            ["SUBSCRIBE", channel] => {
                format!(">3\r\n{}{}:1\r\n", bulk("subscribe"), bulk(channel))
            }
            ["PUBLISH", channel, text] => {
                let push = format!(">3\r\n{}{}{}", bulk("message"), bulk(channel), bulk(text));
                format!("{push}:1\r\n")
            }
            ["TIME"] => format!("*2\r\n{}{}", bulk("1800000000"), bulk("0")),
            ["EVALSHA", ..] if script.loads.load(SeqCst) => {
                "-LOADING Redis is loading the dataset in memory\r\n".to_owned()
            }
            ["EVALSHA", ..] => {
                let nonce = nonce(&words);
                let closed = "0|closed|0|0|0|-|0|-|0";
                let text = format!("{nonce}|done||1800000000000|0,0,0|{closed}|-|");
                bulk(&text)
            }
            _ => "+OK\r\n".to_owned(),
        };
        if words[0] == "EVALSHA" {
            let before = last.replace(answer.clone());
            if let Some(before) = before.filter(|_| script.repeats.swap(false, SeqCst)) {
                answer.insert_str(0, &before);
            }
        }
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

fn bulk(text: &str) -> String {
    format!("${}\r\n{text}\r\n", text.len())
}

/// The number that has to come back: wherever it stands, the same text says.
fn nonce<'a>(words: &[&'a str]) -> &'a str {
    words[5]
}

async fn command(stream: &mut BufReader<TcpStream>) -> Option<Vec<String>> {
    let count = number(stream).await?;
    let mut words = Vec::with_capacity(count);
    for _ in 0..count {
        let length = number(stream).await?;
        let mut word = vec![0; length + 2];
        stream.read_exact(&mut word).await.ok()?;
        word.truncate(length);
        words.push(String::from_utf8(word).ok()?);
    }
    Some(words)
}

/// The number behind a `*` or a `$`.
async fn number(stream: &mut BufReader<TcpStream>) -> Option<usize> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    line.trim_end().get(1..)?.parse().ok()
}

/// It accepts connections, tells the time and lets itself be subscribed to.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_still_loads_is_not_taken_for_one_that_works() {
    let script = Arc::new(Script::default());
    script.loads.store(true, SeqCst);
    let mut process = start(&Redis::new(serve(Arc::clone(&script)).await));
    let cause = process.down().await;
    assert!(cause.to_string().contains("LOADING"), "{cause}");
    script.loads.store(false, SeqCst);
    process.up().await;
    assert_eq!(process.counts.losses(), 0);
}

/// An answer that belongs to another command would be believed, and so
/// would every one after it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_answer_too_many_ends_the_connection_and_is_not_believed() {
    let script = Arc::new(Script::default());
    let mut process = connected(&Redis::new(serve(Arc::clone(&script)).await)).await;
    process.sync("stripe").await.expect("an answer");
    script.repeats.store(true, SeqCst);
    let error = process
        .sync("stripe")
        .await
        .expect_err("it is the answer of before");
    assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
    let cause = process.down().await;
    assert!(cause.to_string().contains("out of step"), "{cause}");
    process.up().await;
    process.sync("stripe").await.expect("an answer");
    assert_eq!(script.connections.load(SeqCst), 2);
}
