//! The workers: processes of this same program, and what they have said so far.

use std::env;
use std::io;
use std::io::BufRead;
use std::io::BufReader;
use std::io::Write;
use std::process::Child;
use std::process::ChildStdin;
use std::process::ChildStdout;
use std::process::Command;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use crate::words::Counts;
use crate::words::Said;
use crate::words::What;
use crate::worker::Orders;

/// Whatever is waited for comes far sooner, or not at all.
const LIMIT: Duration = Duration::from_secs(20);

const LOOK: Duration = Duration::from_millis(1);

/// All that was said, each line with the worker who said it, in the order in which it came.
type Heard = Arc<Mutex<Vec<(usize, Said)>>>;

#[derive(Debug)]
pub(crate) struct Fleet {
    orders: Orders,
    workers: Vec<Worker>,
    heard: Heard,
}

/// A process; dropped, it is killed.
#[derive(Debug)]
struct Worker {
    child: Child,
    orders: ChildStdin,
}

/// That something did not come.
#[derive(Debug, thiserror::Error)]
#[error("waited {LIMIT:?} in vain for this: {0}")]
pub(crate) struct InVain(&'static str);

impl Fleet {
    /// Starts workers 1 to `count`; of `orders` each gets its own number.
    pub(crate) fn start(count: usize, orders: Orders) -> io::Result<Self> {
        let heard = Heard::default();
        let workers = (1..=count).map(|worker| Worker::start(worker, &orders, &heard));
        Ok(Self {
            workers: workers.collect::<Result<_, _>>()?,
            orders,
            heard,
        })
    }

    /// All of them, by number.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = usize> + use<> {
        1..=self.workers.len()
    }

    /// Kills one with SIGKILL, and returns when it is gone.
    pub(crate) fn kill(&mut self, worker: usize) -> io::Result<()> {
        let child = &mut self.workers[worker - 1].child;
        child.kill()?;
        child.wait().map(drop)
    }

    /// Starts one that was killed again.
    pub(crate) fn restart(&mut self, worker: usize) -> io::Result<()> {
        self.workers[worker - 1] = Worker::start(worker, &self.orders, &self.heard)?;
        Ok(())
    }

    /// How much was said until now.
    pub(crate) fn mark(&self) -> usize {
        self.heard().len()
    }

    /// What was said since.
    pub(crate) fn since(&self, mark: usize) -> Vec<(usize, Said)> {
        self.heard()[mark..].to_vec()
    }

    /// Waits until each worker has said since `mark` what is meant, and returns when each did
    /// first.
    pub(crate) fn until_each(
        &self,
        mark: usize,
        what: &'static str,
        is_meant: impl Fn(&What) -> bool,
    ) -> Result<Vec<(usize, Duration)>, InVain> {
        let all: Vec<usize> = self.numbers().collect();
        self.until_these(&all, mark, what, is_meant)
    }

    /// The same for some of them.
    pub(crate) fn until_these(
        &self,
        workers: &[usize],
        mark: usize,
        what: &'static str,
        is_meant: impl Fn(&What) -> bool,
    ) -> Result<Vec<(usize, Duration)>, InVain> {
        wait(what, || {
            let said = self.since(mark);
            let first = |worker: usize| {
                let mut lines = said.iter().filter(|(who, _)| *who == worker);
                let line = lines.find(|(_, said)| is_meant(&said.what));
                line.map(|(_, said)| (worker, said.at))
            };
            workers.iter().map(|worker| first(*worker)).collect()
        })
    }

    /// Asks each what became of its calls since it was asked last.
    pub(crate) fn counts(&mut self) -> Result<Vec<(usize, Counts)>, Box<dyn std::error::Error>> {
        let mark = self.mark();
        for worker in &mut self.workers {
            worker.orders.write_all(b"counts\n")?;
        }
        let is_counts = |what: &What| matches!(what, What::Counts(_));
        self.until_each(mark, "what became of the calls", is_counts)?;
        let said = self.since(mark).into_iter();
        let mut counts: Vec<_> = said
            .filter_map(|(worker, said)| match said.what {
                What::Counts(counts) => Some((worker, counts)),
                _ => None,
            })
            .collect();
        counts.sort_by_key(|(worker, _)| *worker);
        Ok(counts)
    }

    /// Lets all end by themselves.
    pub(crate) fn quit(&mut self) -> io::Result<()> {
        for worker in &mut self.workers {
            worker.orders.write_all(b"quit\n")?;
        }
        for worker in &mut self.workers {
            worker.child.wait()?;
        }
        Ok(())
    }

    fn heard(&self) -> MutexGuard<'_, Vec<(usize, Said)>> {
        lock(&self.heard)
    }
}

impl Worker {
    fn start(worker: usize, orders: &Orders, heard: &Heard) -> io::Result<Self> {
        let mut child = Command::new(env::current_exe()?)
            .arg("--worker")
            .arg(worker.to_string())
            .arg("--redis")
            .arg(&orders.redis)
            .arg("--provider")
            .arg(orders.provider.to_string())
            .arg("--start")
            .arg(orders.start.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let heard = Arc::clone(heard);
        let stdout = stdout.expect("it was asked for");
        thread::spawn(move || hear(worker, stdout, &heard));
        Ok(Self {
            child,
            orders: stdin.expect("it was asked for"),
        })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Most have ended by themselves.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn hear(worker: usize, stdout: ChildStdout, heard: &Heard) {
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        match line.parse() {
            Ok(said) => lock(heard).push((worker, said)),
            Err(error) => eprintln!("shared: {error}"),
        }
    }
}

fn lock(heard: &Heard) -> MutexGuard<'_, Vec<(usize, Said)>> {
    heard.lock().expect("nobody panics over what was heard")
}

/// Asks again and again until there is an answer.
pub(crate) fn wait<T>(what: &'static str, mut ask: impl FnMut() -> Option<T>) -> Result<T, InVain> {
    let begun = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return Ok(answer);
        }
        if begun.elapsed() > LIMIT {
            return Err(InVain(what));
        }
        thread::sleep(LOOK);
    }
}
