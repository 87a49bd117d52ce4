//! One worker, a process of its own: it makes charges, and tells what it sees.

use std::error::Error;
use std::io;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::time::Duration;
use std::time::Instant;
use std::time::SystemTime;
use std::time::UNIX_EPOCH;

use breakerbox::Event;
use breakerbox::Redis;
use breakerbox::Registry;
use breakerbox::RejectedKind;
use tokio::runtime::Builder;
use tokio::time;

use crate::client;
use crate::client::ChargeError;
use crate::client::Stripe;
use crate::words::Counts;
use crate::words::Said;
use crate::words::What;

/// Two charges are under way at a time, each followed by a pause.
const LINES: usize = 2;
const PAUSE: Duration = Duration::from_millis(20);

/// What a worker is told when it is started.
#[derive(Clone, Debug)]
pub(crate) struct Orders {
    pub(crate) worker: usize,
    pub(crate) redis: String,
    pub(crate) provider: SocketAddr,
    /// When the story began, in microseconds since 1970.
    pub(crate) start: u64,
}

/// Works until it is told to quit, or nobody is there to tell it anything.
pub(crate) fn work(orders: &Orders) -> Result<(), Box<dyn Error>> {
    let start = UNIX_EPOCH + Duration::from_micros(orders.start);
    // All that makes a circuit a shared one. The name is what the journal calls this process.
    let redis = Redis::new(&orders.redis).instance(name(orders.worker));
    let registry = Registry::builder()
        .store(redis)
        .on_event(move |event| tell_event(start, event))
        .install()?;

    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let tally = Arc::new(Mutex::new(Tally::default()));
    for _ in 0..LINES {
        let stripe = Stripe::new(orders.provider, orders.worker);
        runtime.spawn(charge_for_ever(stripe, Arc::clone(&tally)));
    }
    for order in io::stdin().lines() {
        match order?.as_str() {
            "counts" => {
                let counts = lock(&tally).take();
                tell(start, SystemTime::now(), What::Counts(counts));
            }
            _ => break,
        }
    }
    runtime.shutdown_background();
    // Gives back what this process holds in Redis.
    registry.close();
    Ok(())
}

/// What a worker is called.
pub(crate) fn name(worker: usize) -> String {
    format!("worker {worker}")
}

async fn charge_for_ever(mut stripe: Stripe, tally: Arc<Mutex<Tally>>) {
    loop {
        let (begun, took) = (Instant::now(), stripe.took);
        let charged = client::charge(&mut stripe).await;
        let in_breaker = begun.elapsed().saturating_sub(stripe.took - took);
        lock(&tally).add(&charged, in_breaker);
        time::sleep(PAUSE).await;
    }
}

/// What became of the calls.
#[derive(Debug, Default)]
struct Tally {
    /// Since somebody asked.
    counts: Counts,
    /// How long each that was made was in the breaker, since the start.
    in_breaker: Vec<Duration>,
}

impl Tally {
    fn add(&mut self, charged: &Result<(), ChargeError>, in_breaker: Duration) {
        let counts = &mut self.counts;
        if let Err(ChargeError::Rejected(rejected)) = charged {
            counts.rejected += 1;
            counts.others_probed += u64::from(rejected.kind() == RejectedKind::ProbesBusy);
            counts.longest_rejected = counts.longest_rejected.max(in_breaker);
            return;
        }
        counts.made += 1;
        counts.in_vain += u64::from(matches!(charged, Err(ChargeError::Status(_))));
        counts.broken += u64::from(matches!(charged, Err(ChargeError::Io(_))));
        counts.longest = counts.longest.max(in_breaker);
        self.in_breaker.push(in_breaker);
    }

    fn take(&mut self) -> Counts {
        self.in_breaker.sort_unstable();
        let middle = self.in_breaker.get(self.in_breaker.len() / 2);
        Counts {
            median: middle.copied().unwrap_or_default(),
            ..std::mem::take(&mut self.counts)
        }
    }
}

fn lock(tally: &Mutex<Tally>) -> MutexGuard<'_, Tally> {
    tally.lock().expect("nobody panics over the tally")
}

fn tell_event(start: SystemTime, event: &Event) {
    match event {
        Event::Transition(moved) => {
            let what = What::Moved {
                from: moved.from.label().to_owned(),
                to: moved.to.label().to_owned(),
                reason: moved.reason.to_string(),
            };
            tell(start, moved.at, what);
        }
        Event::StoreFound => tell(start, SystemTime::now(), What::Found),
        Event::StoreLost { cause, .. } => {
            let cause = cause.replace(char::is_control, " ");
            tell(start, SystemTime::now(), What::Lost(cause));
        }
        Event::Warning(warning) => eprintln!("{warning}"),
        _ => {}
    }
}

fn tell(start: SystemTime, at: SystemTime, what: What) {
    let at = at.duration_since(start).unwrap_or_default();
    // Where nobody listens any more, the end is near.
    let _ = writeln!(io::stdout(), "{}", Said { at, what });
}
