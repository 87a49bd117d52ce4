//! Money over two providers that fail at random: nothing is charged or paid out twice, and
//! nothing is lost.
//!
//! ```text
//! cargo run --release --example payments
//! cargo run --release --example payments -- --naive
//! ```
//!
//! Three rules, each an attribute or a line of code:
//!
//! - A call that was turned away in this process has sent nothing: another provider may have it
//!   at once (`#[fallback]` on `charge` in `client.rs`).
//! - A call that was sent and brought no answer or a bad one may have moved the money. It is
//!   kept as pending, and confirmed with the same provider under the same key (`confirm`).
//! - Money that goes out never changes the provider (`pay_out`): it waits in the queue.
//!
//! The providers are real HTTP servers on loopback, and count for each order how often its money
//! has moved. With `--naive` the same faults meet a shop for which all errors are alike.

mod client;
mod report;
mod server;
mod shop;

use std::collections::HashMap;
use std::error::Error;
use std::process::ExitCode;
use std::sync::mpsc;

use breakerbox::Event;
use breakerbox::Registry;
use breakerbox::State;
use lexopt::Arg;
use lexopt::ValueExt;
use tokio::time;

use crate::client::Client;
use crate::report::Sums;
use crate::server::Providers;
use crate::shop::Kind;
use crate::shop::Rule;

const HELP: &str = "\
usage: payments [--orders N] [--seed N] [--naive]

  --orders N  charges and payouts to make   [10000]
  --seed N    seeds the faults              [1]
  --naive     treat all errors alike, to see what that costs

Exits with 0 if nothing was made twice or lost (with --naive: if something was made twice),
else with 1; with 2 for bad flags.
";

/// What the day is to be.
#[derive(Clone, Copy, Debug)]
struct Flags {
    orders: u64,
    seed: u64,
    rule: Rule,
}

impl Flags {
    /// Reads the command line; `None` when help was asked for.
    fn from_env() -> Result<Option<Self>, lexopt::Error> {
        let mut flags = Self {
            orders: 10_000,
            seed: 1,
            rule: Rule::Confirm,
        };
        let mut parser = lexopt::Parser::from_env();
        while let Some(arg) = parser.next()? {
            match arg {
                Arg::Long("orders") => flags.orders = parser.value()?.parse()?,
                Arg::Long("seed") => flags.seed = parser.value()?.parse()?,
                Arg::Long("naive") => flags.rule = Rule::Naive,
                Arg::Long("help") | Arg::Short('h') => return Ok(None),
                _ => return Err(arg.unexpected()),
            }
        }
        Ok(Some(flags))
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let flags = match Flags::from_env() {
        Ok(Some(flags)) => flags,
        Ok(None) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("payments: {error}\nTry --help.");
            return ExitCode::from(2);
        }
    };
    a_day(flags).await.unwrap_or_else(|error| {
        eprintln!("payments: {error}");
        ExitCode::FAILURE
    })
}

async fn a_day(flags: Flags) -> Result<ExitCode, Box<dyn Error>> {
    let (told, openings) = mpsc::channel();
    let registry = Registry::builder()
        .on_event(move |event| match event {
            Event::Transition(moved) if moved.to == State::Open => drop(told.send(moved.service)),
            Event::Warning(warning) => eprintln!("{warning}"),
            _ => {}
        })
        .install()?;
    let providers = Providers::open(flags.seed).await?;
    let client = Client::new(providers.clone());
    let settled = shop::run(&client, flags.orders, flags.rule).await;
    // What still hangs at a provider is booked before we count.
    time::sleep(2 * server::HANG).await;
    registry.close();

    let sums = |kind| Sums::of(kind, flags.orders, &settled, &providers);
    let (charges, payouts) = (sums(Kind::Charge), sums(Kind::PayOut));
    println!("{}", report::orders(&charges, &payouts));
    let mut opened = HashMap::new();
    for service in openings.try_iter() {
        *opened.entry(service).or_default() += 1;
    }
    println!("{}", report::providers(&providers, &opened));

    let broken = [
        charges.broken_promises("charges"),
        payouts.broken_promises("payouts"),
    ]
    .concat();
    for sentence in &broken {
        println!("{sentence}");
    }
    let is_as_said = match flags.rule {
        Rule::Confirm => broken.is_empty(),
        Rule::Naive => charges.twice > 0 && payouts.twice > 0,
    };
    Ok(if is_as_said {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
