//! All policies on one function, and what each of them did while the service behind it was
//! healthy, slow, down, and healthy again. The numbers are those that the registry keeps; the
//! provider counts for itself, and at the end the two must agree.
//!
//! `cargo run --release --example layered`

use std::error::Error;
use std::process::ExitCode;
use std::sync::atomic::AtomicU8;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use std::time::Instant;

use breakerbox::Registry;
use breakerbox::Rejected;
use breakerbox::TimedOut;
use breakerbox::bulkhead;
use breakerbox::circuit_breaker;
use breakerbox::fallback;
use breakerbox::rate_limit;
use breakerbox::retry;
use breakerbox::timeout;
use tokio::task::JoinSet;
use tokio::time;

const PHASES: [(&str, u8); 4] = [
    ("healthy", HEALTHY),
    ("slow", SLOW),
    ("down", DOWN),
    ("healthy again", HEALTHY),
];
const CALLS_A_PHASE: u32 = 250;
/// One call begins in each of these, whatever becomes of those before it.
const CALL_EVERY: Duration = Duration::from_millis(5);

/// Written order is outermost first; read it as the way of a call:
///
/// - whatever goes wrong below, the customer sees the bestsellers. This call only reads, so
///   `when = any` harms nobody; where money moves it would (see the example `payments`).
/// - the customer waits no longer than 250 ms, for all attempts together.
/// - an attempt that failed is made again, twice at most, and retries are never more than a
///   fifth of all calls.
/// - an open circuit costs an attempt nothing, so it is asked before tokens and places.
/// - no more attempts a second than the provider has agreed to.
/// - no more attempts at a time than we can spare.
/// - one attempt has 80 ms. Inside the breaker, so that a provider that hangs opens it.
#[fallback(bestsellers(customer), when = any)]
#[timeout("250ms")]
#[retry(idempotent, attempts = 3, delay = "20ms", budget = "20%")]
#[circuit_breaker(
    service = "recommendations",
    window = "1s",
    failure_rate = "50%",
    cooldown = "200ms"
)]
#[rate_limit("220/s", burst = 20)]
#[bulkhead(max_concurrent = 8, queue = 4, max_wait = "20ms")]
#[timeout("80ms")]
async fn recommend(customer: u32) -> Result<Shelf, RecommendError> {
    provider(customer).await
}

/// What the customer is shown.
#[derive(Debug)]
enum Shelf {
    ForYou,
    Bestsellers,
}

#[derive(Debug, thiserror::Error)]
enum RecommendError {
    /// Nothing was sent.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    /// No answer in time.
    #[error(transparent)]
    TimedOut(#[from] TimedOut),
    #[error("the provider answered 503")]
    Unavailable,
}

fn bestsellers(_customer: u32) -> Result<Shelf, RecommendError> {
    Ok(Shelf::Bestsellers)
}

const HEALTHY: u8 = 0;
const SLOW: u8 = 1;
const DOWN: u8 = 2;
static MODE: AtomicU8 = AtomicU8::new(HEALTHY);
static REACHED_THE_PROVIDER: AtomicU64 = AtomicU64::new(0);

/// Stands for a service at the other end of a wire.
async fn provider(_customer: u32) -> Result<Shelf, RecommendError> {
    REACHED_THE_PROVIDER.fetch_add(1, Relaxed);
    let (millis, answer) = match MODE.load(Relaxed) {
        SLOW => (fastrand::u64(10..110), Ok(Shelf::ForYou)),
        DOWN => (2, Err(RecommendError::Unavailable)),
        _ => (fastrand::u64(3..8), Ok(Shelf::ForYou)),
    };
    time::sleep(Duration::from_millis(millis)).await;
    answer
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    fastrand::seed(1);
    let registry = Registry::builder().install()?;

    println!("{}", row_of("", &COLUMNS));
    let mut wrong = Vec::new();
    for (phase, mode) in PHASES {
        let before = Numbers::read()?;
        MODE.store(mode, Relaxed);
        let seen = traffic().await;
        let numbers = Numbers::read()?.since(before);
        println!("{}", row(phase, &seen, numbers));
        wrong.extend(numbers.contradictions(&seen));
    }
    println!("{LEGEND}");
    registry.close();

    for sentence in &wrong {
        eprintln!("layered: {sentence}");
    }
    Ok(match wrong.as_slice() {
        [] => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// What the customers of one phase saw.
#[derive(Default)]
struct Seen {
    for_you: u64,
    /// How long each of them waited, the shortest first.
    waits: Vec<Duration>,
}

/// The calls of one phase, until the last of them has its answer.
async fn traffic() -> Seen {
    let mut pace = time::interval(CALL_EVERY);
    let mut calls = JoinSet::new();
    for customer in 0..CALLS_A_PHASE {
        pace.tick().await;
        calls.spawn(async move {
            let asked = Instant::now();
            (recommend(customer).await, asked.elapsed())
        });
    }
    let mut seen = Seen::default();
    for (shelf, wait) in calls.join_all().await {
        if let Ok(Shelf::ForYou) = shelf {
            seen.for_you += 1;
        }
        seen.waits.push(wait);
    }
    seen.waits.sort_unstable();
    seen
}

/// What the policies of the service have counted, each for itself, and what the provider has.
#[derive(Clone, Copy)]
struct Numbers {
    /// The attempts that asked the circuit, and what it made of them.
    attempts: u64,
    rejected: u64,
    /// Those that say nothing about the provider, or said it when it no longer mattered.
    undecided: u64,
    retried: u64,
    limited: u64,
    full: u64,
    timed_out: u64,
    fell_back: u64,
    reached: u64,
}

impl Numbers {
    fn read() -> Result<Self, Box<dyn Error>> {
        let breaker = breakerbox::breaker("recommendations").ok_or("it is annotated")?;
        let policies = breakerbox::policies("recommendations");
        let limiter = policies.get_rate_limiter().ok_or("it is annotated")?;
        let bulkhead = policies.get_bulkhead().ok_or("it is annotated")?;
        let circuit = breaker.snapshot().calls;
        Ok(Self {
            attempts: circuit.by_label().map(|(_, calls)| calls).sum(),
            rejected: circuit.rejected,
            undecided: circuit.ignored + circuit.late,
            retried: policies.retried(),
            limited: limiter.rejected(),
            full: bulkhead.rejected(),
            timed_out: policies.timeouts(),
            fell_back: policies.fallbacks().iter().sum(),
            reached: REACHED_THE_PROVIDER.load(Relaxed),
        })
    }

    fn since(self, before: Self) -> Self {
        Self {
            attempts: self.attempts - before.attempts,
            rejected: self.rejected - before.rejected,
            undecided: self.undecided - before.undecided,
            retried: self.retried - before.retried,
            limited: self.limited - before.limited,
            full: self.full - before.full,
            timed_out: self.timed_out - before.timed_out,
            fell_back: self.fell_back - before.fell_back,
            reached: self.reached - before.reached,
        }
    }

    /// What does not add up.
    fn contradictions(self, seen: &Seen) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut check = |what: &str, holds: bool| {
            if !holds {
                wrong.push(format!("{what} do not add up"));
            }
        };
        let customers = seen.waits.len() as u64;
        check("answers", seen.for_you + self.fell_back == customers);
        check("attempts", customers + self.retried == self.attempts);
        // Let in by the circuit, and never sent: the rate limit and the bulkhead say so, or the
        // 250 ms were over, and to the circuit they say nothing about the provider.
        let stopped = self.attempts - self.rejected - self.reached;
        check("refusals", self.limited + self.full <= stopped);
        check("verdicts", stopped <= self.undecided);
        wrong
    }
}

const COLUMNS: [&str; 10] = [
    "calls",
    "sent",
    "retried",
    "rejected",
    "limited",
    "full",
    "timed out",
    "fallback",
    "median",
    "99 %",
];
const LEGEND: &str = "
sent          attempts that reached the provider
retried       attempts after the first one of a call
rejected      attempts that the circuit turned away
limited       attempts that were too many for the rate limit
full          attempts for which the bulkhead had no place
timed out     attempts given up after their 80 ms, or when the 250 ms of the call were over
fallback      calls answered with the bestsellers
median, 99 %  how long customers waited";

fn row(phase: &str, seen: &Seen, numbers: Numbers) -> String {
    let counts = [
        seen.waits.len() as u64,
        numbers.reached,
        numbers.retried,
        numbers.rejected,
        numbers.limited,
        numbers.full,
        numbers.timed_out,
        numbers.fell_back,
    ];
    let waits = [50, 99].map(|percent| seen.waits[seen.waits.len() * percent / 100]);
    let cells = counts.iter().map(u64::to_string);
    let cells = cells.chain(waits.map(|wait| format!("{wait:.1?}")));
    row_of(phase, &cells.collect::<Vec<_>>())
}

fn row_of(phase: &str, cells: &[impl std::fmt::Display]) -> String {
    let cells = cells.iter().map(|cell| format!("{cell:>10}"));
    format!("{phase:14}{}", cells.collect::<String>())
}
