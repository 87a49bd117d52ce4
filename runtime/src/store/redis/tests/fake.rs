//! A server that is none, and says what no server should.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use tokio::io::AsyncBufReadExt;
use tokio::io::AsyncReadExt;
use tokio::io::AsyncWriteExt;
use tokio::io::BufReader;
use tokio::net::TcpListener;
use tokio::net::TcpStream;

/// Where it is, what it has seen, and what it is to do.
#[derive(Debug, Default)]
pub(super) struct Fake {
    port: u16,
    /// Before its next answer to a command on a circuit it gives the last one once more.
    pub(super) repeats: AtomicBool,
    /// It says that it is one.
    pub(super) is_replica: AtomicBool,
    /// What it answers to commands of this name instead.
    instead: Mutex<HashMap<String, String>>,
    /// How late it answers them.
    late: Mutex<HashMap<String, Duration>>,
    came: Mutex<HashMap<String, usize>>,
}

/// Longer than any test lasts.
pub(super) const NEVER: Duration = Duration::from_secs(3600);

impl Fake {
    /// Serves until the test is over.
    pub(super) async fn start() -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("its number").port();
        let fake = Arc::new(Self {
            port,
            ..Self::default()
        });
        let served = Arc::clone(&fake);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(talk(stream, Arc::clone(&served)));
            }
        });
        fake
    }

    /// As many as there are names for.
    pub(super) async fn start_all<const N: usize>() -> [Arc<Self>; N] {
        let mut fakes = Vec::with_capacity(N);
        for _ in 0..N {
            fakes.push(Self::start().await);
        }
        fakes.try_into().expect("as many as were started")
    }

    pub(super) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// What another node says that sends one here: `MOVED` or `ASK`.
    pub(super) fn redirection(&self, how: &str) -> String {
        format!("-{how} 7 127.0.0.1:{}\r\n", self.port)
    }

    pub(super) fn says(&self, command: &str, answer: &str) {
        locked(&self.instead).insert(command.to_owned(), answer.to_owned());
    }

    pub(super) fn says_what_it_should(&self, command: &str) {
        locked(&self.instead).remove(command);
    }

    pub(super) fn takes(&self, command: &str, time: Duration) {
        locked(&self.late).insert(command.to_owned(), time);
    }

    /// How many commands of this name have come.
    pub(super) fn came(&self, command: &str) -> usize {
        locked(&self.came).get(command).copied().unwrap_or(0)
    }

    /// These nodes have the slots from there to there.
    pub(super) fn knows(&self, nodes: &[(u16, u16, &Self)]) {
        let ranges = nodes.iter().map(|(first, last, node)| {
            let host = bulk("127.0.0.1");
            format!(
                "*3\r\n:{first}\r\n:{last}\r\n*2\r\n{host}:{}\r\n",
                node.port
            )
        });
        let ranges: String = ranges.collect();
        self.says("CLUSTER", &format!("*{}\r\n{ranges}", nodes.len()));
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nobody panicked")
}

/// Answers until the other side goes away.
async fn talk(stream: TcpStream, fake: Arc<Fake>) {
    let mut stream = BufReader::new(stream);
    let mut last = None;
    while let Some(words) = command(&mut stream).await {
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        *locked(&fake.came).entry(words[0].to_owned()).or_default() += 1;
        let late = locked(&fake.late).get(words[0]).copied();
        tokio::time::sleep(late.unwrap_or_default()).await;
        let instead = locked(&fake.instead).get(words[0]).cloned();
        let role = match fake.is_replica.load(SeqCst) {
            true => "replica",
            false => "master",
        };
        let mut answer = instead.unwrap_or_else(|| usual(&words, role));
        if words[0] == "EVALSHA" {
            let before = last.replace(answer.clone());
            if let Some(before) = before.filter(|_| fake.repeats.swap(false, SeqCst)) {
                answer.insert_str(0, &before);
            }
        }
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// What a server of the oldest version says in which nothing ever happens.
fn usual(words: &[&str], role: &str) -> String {
    match words {
        ["HELLO"] => "-ERR wrong number of arguments for 'hello' command\r\n".to_owned(),
        ["HELLO", ..] => format!("%1\r\n{}{}", bulk("role"), bulk(role)),
        ["SUBSCRIBE", channel] => {
            format!(">3\r\n{}{}:1\r\n", bulk("subscribe"), bulk(channel))
        }
        ["PUBLISH", channel, text] => {
            let push = format!(">3\r\n{}{}{}", bulk("message"), bulk(channel), bulk(text));
            format!("{push}:1\r\n")
        }
        ["TIME"] => format!("*2\r\n{}{}", bulk("1800000000"), bulk("0")),
        ["LRANGE", ..] => "*0\r\n".to_owned(),
        ["EVALSHA", ..] => {
            let nonce = nonce(words);
            let closed = "0|closed|0|0|0|-|0|-|0";
            bulk(&format!("{nonce}|done||1800000000000|0,0,0|{closed}|-|"))
        }
        _ => "+OK\r\n".to_owned(),
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
