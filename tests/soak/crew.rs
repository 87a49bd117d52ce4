//! The processes, as the one sees them that has started them.

use std::env;
use std::io::BufRead;
use std::io::BufReader;
use std::io::Read;
use std::io::Write;
use std::process::Child;
use std::process::ChildStdin;
use std::process::Command;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::thread;
use std::thread::JoinHandle;
use std::time::Duration;
use std::time::Instant;

use rustix::process::Pid;
use rustix::process::Signal;
use rustix::process::kill_process;

use crate::flags::Post;
use crate::log::Log;
use crate::spans::Spans;

pub(crate) const WORKERS: usize = 8;

/// These are stopped and never killed: their memory is looked at over the whole time.
pub(crate) const SPARED: usize = 3;

/// How long a process takes at most to end that is asked to.
const PARTING: Duration = Duration::from_secs(20);

pub(crate) struct Crew {
    seats: Vec<Mutex<Option<Worker>>>,
    posts: Vec<Post>,
    /// When each of them was stopped.
    pub(crate) stops: Vec<Spans>,
    log: Arc<Log>,
}

struct Worker {
    child: Child,
    orders: Option<ChildStdin>,
    reports: Arc<Mutex<Reports>>,
    readers: [JoinHandle<()>; 2],
}

/// What one process has said of itself.
#[derive(Clone, Default)]
pub(crate) struct Reports {
    pub(crate) first: Option<Report>,
    pub(crate) last: Option<Report>,
}

#[derive(Clone, Debug)]
pub(crate) struct Report {
    pub(crate) at: Instant,
    pub(crate) calls: u64,
    pub(crate) heap: u64,
    pub(crate) pages: u64,
    pub(crate) slowest: Duration,
    pub(crate) states: Vec<String>,
}

impl Crew {
    pub(crate) fn start(posts: Vec<Post>, log: &Arc<Log>) -> Self {
        let crew = Self {
            seats: posts.iter().map(|_| Mutex::new(None)).collect(),
            stops: posts.iter().map(|_| Spans::default()).collect(),
            posts,
            log: Arc::clone(log),
        };
        for seat in 0..crew.posts.len() {
            crew.restart(seat);
        }
        crew
    }

    /// Starts a process at a seat that has none.
    pub(crate) fn restart(&self, seat: usize) {
        *self.seat(seat) = Some(Worker::start(&self.posts[seat], &self.log));
    }

    /// Kills it, in the middle of whatever it does.
    pub(crate) fn kill(&self, seat: usize) {
        if let Some(mut worker) = self.seat(seat).take() {
            worker.expect_alive(seat, &self.log);
            worker.child.kill().expect("a process can be killed");
            worker.part();
        }
    }

    /// Stops it for so long.
    pub(crate) fn stop(&self, seat: usize, time: Duration) {
        let id = match self.seat(seat).as_ref() {
            Some(worker) => worker.id(),
            None => return,
        };
        self.stops[seat].during(|| {
            kill_process(id, Signal::STOP).expect("it can be stopped");
            thread::sleep(time);
            kill_process(id, Signal::CONT).expect("it can go on");
        });
    }

    /// Tells one what to do. One that is just gone does not do it.
    pub(crate) fn order(&self, seat: usize, order: &str) {
        if let Some(orders) = self.seat(seat).as_mut().and_then(|it| it.orders.as_mut()) {
            let _ = writeln!(orders, "{order}");
        }
    }

    pub(crate) fn reports(&self) -> Vec<Reports> {
        let reports = (0..self.posts.len()).map(|seat| match self.seat(seat).as_ref() {
            Some(worker) => lock(&worker.reports).clone(),
            None => Reports::default(),
        });
        reports.collect()
    }

    /// From now on their memory is not to grow.
    pub(crate) fn are_warm(&self) {
        for seat in 0..self.posts.len() {
            if let Some(worker) = self.seat(seat).as_ref() {
                let mut reports = lock(&worker.reports);
                reports.first = reports.last.clone();
            }
        }
    }

    /// Asks all of them to end, which they do in order.
    pub(crate) fn end(&self) {
        for seat in 0..self.posts.len() {
            let Some(mut worker) = self.seat(seat).take() else {
                continue;
            };
            worker.expect_alive(seat, &self.log);
            drop(worker.orders.take());
            let asked = Instant::now();
            let status = loop {
                match worker.child.try_wait().expect("it is a child") {
                    Some(status) => break Some(status),
                    None if asked.elapsed() > PARTING => break None,
                    None => thread::sleep(Duration::from_millis(5)),
                }
            };
            match status {
                Some(status) if status.success() => {}
                Some(status) => self
                    .log
                    .wrong(&format!("worker {seat} ended with {status}")),
                None => self.log.wrong(&format!("worker {seat} does not end")),
            }
            let _ = worker.child.kill();
            worker.part();
        }
    }

    fn seat(&self, seat: usize) -> MutexGuard<'_, Option<Worker>> {
        lock(&self.seats[seat])
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for seat in 0..self.posts.len() {
            if let Some(mut worker) = self.seat(seat).take() {
                let _ = worker.child.kill();
                worker.part();
            }
        }
    }
}

impl Worker {
    fn start(post: &Post, log: &Arc<Log>) -> Self {
        let program = env::current_exe().expect("this program is a file");
        let mut child = Command::new(program)
            .args(post.words())
            // Else the pages that each thread keeps for itself look like growth.
            .env("MALLOC_ARENA_MAX", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("this program can be started");
        let reports = Arc::new(Mutex::new(Reports::default()));
        let seat = post.seat;
        let out = child.stdout.take().expect("it is piped");
        let hears = (Arc::clone(log), Arc::clone(&reports));
        let said = read(out, move |line| hear(seat, line, &hears.0, &hears.1));
        let errors = child.stderr.take().expect("it is piped");
        let complains = Arc::clone(log);
        let complained = read(errors, move |line| {
            complains.wrong(&format!("worker {seat} on standard error: {line}"));
        });
        Self {
            orders: child.stdin.take(),
            child,
            reports,
            readers: [said, complained],
        }
    }

    fn id(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    fn expect_alive(&mut self, seat: usize, log: &Log) {
        if let Some(status) = self.child.try_wait().expect("it is a child") {
            log.wrong(&format!("worker {seat} had ended by itself with {status}"));
        }
    }

    /// Hears its last words.
    fn part(mut self) {
        let _ = self.child.wait();
        for reader in self.readers {
            reader.join().expect("a reader does not panic");
        }
    }
}

/// Hands each line to `hear` until there is none any more.
fn read(from: impl Read + Send + 'static, hear: impl Fn(&str) + Send + 'static) -> JoinHandle<()> {
    thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            hear(&line);
        }
    })
}

fn hear(seat: usize, line: &str, log: &Log, reports: &Mutex<Reports>) {
    match line.split_once(' ') {
        Some(("report", report)) => {
            if let Some(report) = Report::of(report) {
                lock(reports).last = Some(report);
            }
        }
        Some(("note", note)) => log.note(&format!("worker {seat}: {note}")),
        Some(("slow", what)) => log.wrong(&format!("worker {seat}: {what}")),
        // A process that is killed leaves half a line.
        _ => {}
    }
}

impl Report {
    fn of(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let mut number = || words.next()?.parse().ok();
        let (calls, heap, pages, slowest) = (number()?, number()?, number()?, number()?);
        Some(Self {
            at: Instant::now(),
            calls,
            heap,
            pages,
            slowest: Duration::from_micros(slowest),
            states: words.next()?.split(',').map(str::to_owned).collect(),
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
