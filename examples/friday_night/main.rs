//! Friday night: the payment provider fails while eight workers drain a queue.
//!
//! ```text
//! cargo run --release --example friday_night
//! cargo run --release --example friday_night -- --jobs 2000 --outage 2s --seed 7 --json
//! ```
//!
//! The same night runs twice, without and with `#[circuit_breaker]`. Read `client.rs` for the
//! difference and `worker.rs` for what a job does with a rejection; the rest is the night
//! around them. The provider is a real HTTP server on loopback. Its outage mixes 500s with
//! requests that hang, and half of those hang after the money was booked. The same workers send
//! e-mail through a second service, which is healthy all night. Every number in the report was
//! measured by a server or a clock.

mod client;
mod flags;
mod mail;
mod night;
mod numbers;
mod provider;
mod queue;
mod report;
mod timeline;
mod worker;

use std::error::Error;
use std::process::ExitCode;
use std::sync::mpsc;

use breakerbox::Registry;
use tokio::runtime::Builder;

use crate::flags::Flags;
use crate::worker::Guard;

fn main() -> ExitCode {
    let flags = match Flags::from_env() {
        Ok(Some(flags)) => flags,
        Ok(None) => {
            print!("{}", flags::HELP);
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("friday_night: {error}\nTry --help.");
            return ExitCode::from(2);
        }
    };
    both_nights(flags).unwrap_or_else(|error| {
        eprintln!("friday_night: {error}");
        ExitCode::FAILURE
    })
}

fn both_nights(flags: Flags) -> Result<ExitCode, Box<dyn Error>> {
    let (told, events) = mpsc::channel();
    let registry = Registry::builder()
        .on_event(move |event| drop(told.send(event.clone())))
        .install()?;
    // The two services have a thread of their own, as they would have machines of their own.
    let mut threads = Builder::new_multi_thread();
    let services = threads.enable_all().worker_threads(1).build()?;
    let workers = threads.worker_threads(2).build()?;

    let without = workers.block_on(night::run(flags, Guard::Off, services.handle()))?;
    let mut with = workers.block_on(night::run(flags, Guard::On, services.handle()))?;
    registry.close();
    with.hear(events.try_iter());

    println!("\n{}", report::table(&without, &with));
    println!("{}", timeline::draw(&without, &with));
    let stopped = [&without, &with].into_iter().filter_map(report::stopped);
    let broken = report::broken_promises(&with);
    for sentence in stopped.chain(broken.iter().cloned()) {
        println!("{sentence}");
    }
    if flags.json {
        println!("{}", report::json(&without, &with));
    }
    Ok(match broken.as_slice() {
        [] => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}
