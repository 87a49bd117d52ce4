//! One run of the night: opens the services, lets the workers loose, keeps the evidence.

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use std::time::Instant;
use std::time::SystemTime;

use breakerbox::Event;
use breakerbox::State;
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time;

use crate::client::Shop;
use crate::flags::Flags;
use crate::mail;
use crate::provider::Books;
use crate::provider::Provider;
use crate::queue::Lanes;
use crate::queue::MAIL_EVERY;
use crate::queue::Queue;
use crate::report;
use crate::worker::Guard;
use crate::worker::Office;
use crate::worker::Tally;

const WORKERS: usize = 8;

/// What was seen and written down in one run; `numbers.rs` reads it.
#[derive(Debug)]
pub(crate) struct Night {
    pub(crate) jobs: usize,
    pub(crate) guard: Guard,
    /// The same moment on two clocks: events tell the time of the wall clock.
    pub(crate) start: Instant,
    pub(crate) start_on_the_wall: SystemTime,
    pub(crate) end: Instant,
    pub(crate) lanes: Lanes,
    pub(crate) tally: Tally,
    pub(crate) books: Books,
    pub(crate) mails_sent: usize,
    /// The states of the circuit, and how long after the start it entered them.
    pub(crate) circuit: Vec<(Duration, State)>,
}

/// Runs the night once: the services on threads of their own, the workers on the caller's.
pub(crate) async fn run(
    flags: Flags,
    guard: Guard,
    services: &Handle,
) -> Result<Night, Box<dyn Error>> {
    eprintln!("\nThe night {} #[circuit_breaker]:", guard.name());
    let mut rng = fastrand::Rng::with_seed(flags.seed);
    let opening = Provider::open(flags, rng.fork());
    let (payments_at, provider) = services.spawn(opening).await??;
    let (mail_at, mails_sent) = services.spawn(mail::open()).await??;
    let (start, start_on_the_wall) = (Instant::now(), SystemTime::now());
    let office = Arc::new(Office {
        guard,
        shop: Shop::new(payments_at, mail_at)?,
        queue: Queue::new(start, flags, rng.fork()),
        tally: Mutex::default(),
    });

    let mut workers = JoinSet::new();
    for _ in 0..WORKERS {
        let (office, rng) = (Arc::clone(&office), rng.fork());
        workers.spawn(async move { office.work(rng).await });
    }
    // Workers stop by themselves at the limit; this is for a call that never comes back.
    let patience = flags.limit + Duration::from_secs(5);
    tokio::select! {
        _ = workers.join_all() => {}
        never = narrate(flags, &office, start, &provider) => match never {},
        () = time::sleep(patience) => return Err("a worker never came back, giving up".into()),
    }

    let office = Arc::into_inner(office).ok_or("a worker is still at it, giving up")?;
    let (mut lanes, mut tally) = (office.queue.into_lanes(), office.tally.into_inner()?);
    let end = lanes.end.unwrap_or_else(Instant::now);
    // An e-mail that nobody took has waited to the end.
    while lanes.next_mail <= end {
        tally.mails.push((end - lanes.next_mail, lanes.next_mail));
        lanes.next_mail += MAIL_EVERY;
    }
    tally.mails.sort_unstable();
    tally.put_back.sort_unstable();
    Ok(Night {
        jobs: flags.jobs,
        guard,
        start,
        start_on_the_wall,
        end,
        lanes,
        tally,
        books: provider.hand_over(),
        mails_sent: mails_sent.load(Relaxed),
        circuit: Vec::new(),
    })
}

/// Says every second how things stand.
async fn narrate(flags: Flags, office: &Office, start: Instant, provider: &Provider) -> Infallible {
    let mut second = time::interval(Duration::from_secs(1));
    loop {
        second.tick().await;
        let (confirmed, mail_age) = office.queue.progress();
        eprintln!(
            "{:>4}s   {:>9} of {} payments made   provider {:5} e-mail waits {:.1}s",
            start.elapsed().as_secs(),
            report::count(confirmed),
            report::count(flags.jobs),
            if provider.is_down() { "DOWN" } else { "ok" },
            mail_age.as_secs_f64(),
        );
    }
}

impl Night {
    /// Writes down what the circuit did this night, as its events told.
    pub(crate) fn hear(&mut self, events: impl Iterator<Item = Event>) {
        for event in events {
            if let Event::Transition(change) = event
                && let Ok(at) = change.at.duration_since(self.start_on_the_wall)
            {
                self.circuit.push((at, change.to));
            }
        }
    }
}
