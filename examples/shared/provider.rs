//! The provider: a server that answers as it is told to, and keeps a book of its calls.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::time::Duration;
use std::time::Instant;

use tokio::io::AsyncBufReadExt;
use tokio::io::AsyncWriteExt;
use tokio::io::BufReader;
use tokio::net::TcpListener;
use tokio::net::TcpStream;
use tokio::time;

/// What whoever calls gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// This status, after so long.
    Status(u16, Duration),
    /// Nothing, for as long as the caller stays.
    Never,
}

/// One call, as the provider has seen it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) worker: usize,
    pub(crate) came: Duration,
    /// When it was answered, or the caller had gone; nothing while it is there.
    pub(crate) went: Option<Duration>,
    /// What it was answered with; nothing where the caller had gone.
    pub(crate) status: Option<u16>,
}

#[derive(Debug)]
pub(crate) struct Provider {
    pub(crate) address: SocketAddr,
    start: Instant,
    answer: Mutex<Answer>,
    calls: Mutex<Vec<Call>>,
}

impl Provider {
    /// Opens it; to be called within a runtime, where it then runs. It counts time from
    /// `start`.
    pub(crate) async fn open(start: Instant) -> io::Result<Arc<Self>> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let provider = Arc::new(Self {
            address: listener.local_addr()?,
            start,
            answer: Mutex::new(HEALTHY),
            calls: Mutex::default(),
        });
        let serving = Arc::clone(&provider);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let provider = Arc::clone(&serving);
                // A caller that has gone is nobody's error.
                tokio::spawn(async move { provider.serve(stream).await });
            }
        });
        Ok(provider)
    }

    /// From now on, whoever calls gets this.
    pub(crate) fn set(&self, answer: Answer) {
        *self.answer.lock().expect("nobody panics over it") = answer;
    }

    /// Its calls so far, in the order in which they came.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.book().clone()
    }

    async fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut stream = BufReader::new(stream);
        let mut request = String::new();
        while stream.read_line(&mut request).await? > 0 {
            let worker = request.split_whitespace().nth(2);
            let worker = worker.and_then(|it| it.parse().ok()).unwrap_or_default();
            request.clear();
            let call = self.begin(worker);
            let answer = *self.answer.lock().expect("nobody panics over it");
            match answer {
                Answer::Status(status, after) => {
                    time::sleep(after).await;
                    self.end(call, Some(status));
                    let answer = format!("{status}\n");
                    stream.get_mut().write_all(answer.as_bytes()).await?;
                }
                Answer::Never => {
                    // It sends nothing more, so this ends when it has gone.
                    let gone = stream.read_line(&mut request).await;
                    self.end(call, None);
                    return gone.map(drop);
                }
            }
        }
        Ok(())
    }

    fn begin(&self, worker: usize) -> usize {
        let mut book = self.book();
        book.push(Call {
            worker,
            came: self.start.elapsed(),
            went: None,
            status: None,
        });
        book.len() - 1
    }

    fn end(&self, call: usize, status: Option<u16>) {
        let call = &mut self.book()[call];
        call.went = Some(self.start.elapsed());
        call.status = status;
    }

    fn book(&self) -> MutexGuard<'_, Vec<Call>> {
        self.calls.lock().expect("nobody panics over the book")
    }
}

pub(crate) const HEALTHY: Answer = Answer::Status(200, Duration::from_millis(2));

/// How many of these calls were there at once, at most.
pub(crate) fn at_once(calls: &[Call]) -> usize {
    let is_there = |call: &Call, at| call.came <= at && call.went.is_none_or(|went| at < went);
    let counts = calls.iter().map(|first| {
        let there = calls.iter().filter(|call| is_there(call, first.came));
        there.count()
    });
    counts.max().unwrap_or_default()
}
