//! What a guarded call costs beside the same call without a guard.
//!
//! `cargo bench --bench calls` prints nanoseconds a call for each case: the minimum
//! and the median of interleaved rounds. Compare the rows of one run only.

use std::hint::black_box;
use std::pin::pin;
use std::task::Context;
use std::task::Poll;
use std::task::Waker;
use std::time::Duration;
use std::time::Instant;

use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::Rejected;
use breakerbox::circuit_breaker;

const ROUNDS: usize = 40;
const CALLS: u64 = 200_000;

#[derive(Debug)]
enum WorkError {
    Rejected(#[allow(dead_code)] Rejected),
    Failed,
}

impl From<Rejected> for WorkError {
    fn from(rejected: Rejected) -> Self {
        Self::Rejected(rejected)
    }
}

async fn bare(x: u64) -> Result<u64, WorkError> {
    Ok(black_box(x) + 1)
}

#[circuit_breaker(service = "closed")]
async fn attribute(x: u64) -> Result<u64, WorkError> {
    Ok(black_box(x) + 1)
}

#[circuit_breaker(service = "open", threshold = 1, cooldown = "1h")]
async fn rejected(_: u64) -> Result<u64, WorkError> {
    Err(WorkError::Failed)
}

/// Polls a future that never waits, in place.
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    match future.as_mut().poll(&mut context) {
        Poll::Ready(out) => out,
        Poll::Pending => unreachable!("the body never waits"),
    }
}

struct Case {
    name: &'static str,
    call: Box<dyn Fn(u64)>,
    nanos: Vec<f64>,
}

impl Case {
    fn new(name: &'static str, call: impl Fn(u64) + 'static) -> Self {
        Self {
            name,
            call: Box::new(call),
            nanos: Vec::new(),
        }
    }

    fn round(&mut self) {
        let begin = Instant::now();
        (self.call)(CALLS);
        let elapsed = begin.elapsed();
        #[allow(clippy::cast_precision_loss)]
        self.nanos.push(elapsed.as_nanos() as f64 / CALLS as f64);
    }

    fn print(&mut self) {
        self.nanos.sort_by(f64::total_cmp);
        println!(
            "{:<24} {:>8.2} {:>8.2}",
            self.name,
            self.nanos[0],
            self.nanos[self.nanos.len() / 2]
        );
    }
}

fn main() {
    let registry = Registry::builder()
        .clock(breakerbox::Clock::system())
        .declare("closed_permit")
        .declare_with(
            "open_permit",
            Policy::new()
                .threshold(1)
                .cooldown(Duration::from_secs(3600)),
        )
        .install()
        .expect("nothing was installed before");
    let closed = registry.breaker("closed_permit").expect("declared");
    let open = registry.breaker("open_permit").expect("declared");
    open.try_acquire().expect("closed").failure();
    now(rejected(0)).expect_err("it fails");

    let mut cases = [
        Case::new("bare", |calls| {
            for x in 0..calls {
                let _ = black_box(now(bare(black_box(x))));
            }
        }),
        Case::new("permit_consecutive", move |calls| {
            for x in 0..calls {
                let permit = closed.try_acquire().expect("closed");
                let _ = black_box(now(bare(black_box(x))));
                permit.success();
            }
        }),
        Case::new("closed_consecutive", |calls| {
            for x in 0..calls {
                let _ = black_box(now(attribute(black_box(x))));
            }
        }),
        Case::new("rejected_permit", move |calls| {
            for _ in 0..calls {
                let _ = black_box(open.try_acquire().is_err());
            }
        }),
        Case::new("rejected", |calls| {
            for x in 0..calls {
                let _ = black_box(now(rejected(black_box(x))));
            }
        }),
    ];
    for _ in 0..ROUNDS {
        for case in &mut cases {
            case.round();
        }
    }
    println!("{:<24} {:>8} {:>8}", "case", "min ns", "med ns");
    for case in &mut cases {
        case.print();
    }
}
