//! One of the processes: it makes calls, and says how its circuits stand.
//!
//! It hears orders on standard input, and ends with it. On standard output it tells what
//! happens to it; on standard error nothing must ever appear.

mod calls;
mod client;
mod delays;
mod orders;

use std::io;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use breakerbox::Breaker;
use breakerbox::Clock;
use breakerbox::Event;
use breakerbox::Registry;
use breakerbox::WhenStoreIsLost;
use tokio::runtime::Builder;

use crate::ALLOCATOR;
use crate::circuits::CIRCUITS;
use crate::flags::Post;
use calls::Caller;
use calls::Way;
use client::Client;
use delays::Delays;

/// How often it says how it is.
const EACH: Duration = Duration::from_millis(200);

pub(crate) fn run(post: &Post) -> ExitCode {
    let registry = registry(post);
    let breakers: Vec<&'static Breaker> = CIRCUITS
        .iter()
        .map(|circuit| registry.breaker(circuit.name).expect("it is declared"))
        .collect();
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let delays = Arc::new(Delays::start());
    let mut random = fastrand::Rng::with_seed(post.seed);
    let mut caller = |at: usize, way| Caller {
        breaker: breakers[at],
        way,
        client: Client::new(post.service, post.seat, at),
        delays: Arc::clone(&delays),
        random: random.fork(),
    };
    for at in 0..CIRCUITS.len() {
        for way in [Way::Call, Way::Permit] {
            runtime.spawn(caller(at, way).go_on());
        }
    }
    let blocking = caller(post.seat % CIRCUITS.len(), Way::Blocking);
    let handle = runtime.handle().clone();
    thread::spawn(move || handle.block_on(blocking.go_on()));
    let reporting = (breakers.clone(), Arc::clone(&delays));
    thread::spawn(move || {
        loop {
            report(&reporting.0, &reporting.1);
            thread::sleep(EACH);
        }
    });
    orders::obey(&breakers, post.seat);
    registry.close();
    // Its tasks go on until the process ends; without it they could not.
    std::mem::forget(runtime);
    ExitCode::SUCCESS
}

fn registry(post: &Post) -> Registry {
    let mut builder = Registry::builder()
        .clock(Clock::system())
        .redis(&post.redis)
        .when_store_is_lost(match post.seat {
            6 => WhenStoreIsLost::OpenFails,
            7 => WhenStoreIsLost::Admit(Duration::from_millis(400)),
            _ => WhenStoreIsLost::Local,
        })
        .on_event(|event| match event {
            Event::Transition(it) => say(&format!(
                "note {}: {} -> {} in {} by {}",
                it.service, it.from, it.to, it.generation, it.reason
            )),
            Event::StoreFound => say("note the store is found"),
            Event::StoreLost { cause, .. } => say(&format!("note the store is lost: {cause}")),
            _ => {}
        });
    for circuit in &CIRCUITS {
        builder = builder.declare_with(circuit.name, circuit.policy);
    }
    builder.build().expect("a right set-up")
}

/// `report CALLS HEAP PAGES SLOWEST STATE,STATE,..`: the heap and the pages in bytes, the
/// slowest way through a breaker so far in microseconds.
fn report(breakers: &[&'static Breaker], delays: &Delays) {
    let stats = ALLOCATOR.stats();
    let heap = stats
        .bytes_allocated
        .saturating_sub(stats.bytes_deallocated);
    let states: Vec<_> = breakers.iter().map(|it| it.state().label()).collect();
    say(&format!(
        "report {} {heap} {} {} {}",
        delays.calls(),
        pages().unwrap_or(0),
        delays.slowest().as_micros(),
        states.join(",")
    ));
}

/// The memory that the system has given this process, where it says so.
fn pages() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// Nobody may listen any more, and that is no reason to panic.
fn say(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}
