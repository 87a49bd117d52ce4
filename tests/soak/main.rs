//! The soak of shared circuits: eight processes, one Redis, and everything that can happen.
//!
//! The processes are this program again. Their calls go to a service that this one plays; the
//! service, the processes, Redis and the network between fail at random, by a seed. Then it
//! all ends, and every circuit has to be closed again by itself. What must never happen is
//! judged from the journals in Redis and from what the service saw.
//!
//! `cargo test --release -p breakerbox-tests --test soak -- --seconds 300`

mod circuits;
mod crew;
mod ending;
mod faults;
mod flags;
mod journal;
mod log;
mod memory;
mod probes;
mod service;
mod soak;
mod spans;
mod worker;

use std::alloc::System;
use std::process::ExitCode;

use stats_alloc::INSTRUMENTED_SYSTEM;
use stats_alloc::StatsAlloc;

use flags::Wish;

/// Of a worker: what lives on its heap is counted, since pages alone tell too little.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> ExitCode {
    match Wish::of(std::env::args().skip(1)) {
        Ok(Wish::Soak(plan)) => soak::run(plan),
        Ok(Wish::Work(post)) => worker::run(&post),
        Ok(Wish::List) => {
            println!("soak: test\n\n1 test, 0 benchmarks");
            ExitCode::SUCCESS
        }
        Ok(Wish::Nothing) => {
            println!("\nrunning 0 tests\n");
            ExitCode::SUCCESS
        }
        Ok(Wish::Help) => {
            println!("{}", flags::HELP);
            ExitCode::SUCCESS
        }
        Err(wrong) => {
            eprintln!("soak: {wrong}\n\n{}", flags::HELP);
            ExitCode::from(2)
        }
    }
}
