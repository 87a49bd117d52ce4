//! Several processes share one circuit through Redis: what that looks like when the service
//! fails, when a process dies in the middle of a probe, and when Redis itself is gone.
//!
//! ```text
//! cargo run --release --example shared --features shared
//! cargo run --release --example shared --features shared -- --workers 8 --json
//! ```
//!
//! It starts all that it needs: a private Redis, a provider that fails on demand, and workers,
//! which are processes of this same program. Read `client.rs` for the guarded function and
//! `worker.rs` for the one line that shares its circuit; `story.rs` is what happens to them.
//! Every time in the report was taken by a process of its own when it saw something, and what
//! the end claims was checked against these times and the provider's book.

mod client;
mod fleet;
mod provider;
mod report;
mod stage;
mod story;
mod words;
mod worker;

use std::process::ExitCode;

use breakerbox_servers::Server;
use lexopt::Arg;
use lexopt::ValueExt;

use crate::worker::Orders;

const HELP: &str = "\
Several processes share one circuit through Redis. Starts a private redis-server.

usage: shared [--workers N] [--json]

  --workers N  processes, from 2 to 32                          [4]
  --json       print one JSON object as the last line of stdout
  --help       print this

Exits with 0 when every claim of the summary holds, 1 when one does not or something is
missing, 2 for bad flags.
";

/// What this process is to be.
enum Part {
    Help,
    Story { workers: usize, json: bool },
    Worker(Orders),
}

fn main() -> ExitCode {
    let part = match Part::from_env() {
        Ok(part) => part,
        Err(error) => {
            eprintln!("shared: {error}\nTry --help.");
            return ExitCode::from(2);
        }
    };
    match part {
        Part::Help => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        Part::Worker(orders) => match worker::work(&orders) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{}: {error}", worker::name(orders.worker));
                ExitCode::FAILURE
            }
        },
        Part::Story { workers, json } => tell(workers, json),
    }
}

fn tell(workers: usize, json: bool) -> ExitCode {
    let redis = match Server::start() {
        Ok(redis) => redis,
        Err(breakerbox_servers::Error::Missing { program }) => {
            eprintln!(
                "shared: this example starts a Redis of its own, and there is no {program}: \
                 install one, or run ./tests/run once, which puts one below target/tools"
            );
            return ExitCode::FAILURE;
        }
        Err(error) => {
            eprintln!("shared: {error}");
            return ExitCode::FAILURE;
        }
    };
    let told = match story::tell(workers, &redis) {
        Ok(told) => told,
        Err(error) => {
            eprintln!("shared: {error}");
            return ExitCode::FAILURE;
        }
    };
    print!("{}", report::summary(&told));
    if json {
        println!("{}", report::json(&told));
    }
    match told.claims.iter().all(|claim| claim.holds) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

impl Part {
    fn from_env() -> Result<Self, lexopt::Error> {
        let (mut workers, mut json) = (4, false);
        let (mut worker, mut redis, mut provider, mut start) = (None, None, None, None);
        let mut parser = lexopt::Parser::from_env();
        while let Some(arg) = parser.next()? {
            match arg {
                Arg::Long("workers") => workers = parser.value()?.parse_with(count)?,
                Arg::Long("json") => json = true,
                Arg::Long("help") | Arg::Short('h') => return Ok(Self::Help),
                // How this program starts itself as a worker.
                Arg::Long("worker") => worker = Some(parser.value()?.parse()?),
                Arg::Long("redis") => redis = Some(parser.value()?.string()?),
                Arg::Long("provider") => provider = Some(parser.value()?.parse()?),
                Arg::Long("start") => start = Some(parser.value()?.parse()?),
                _ => return Err(arg.unexpected()),
            }
        }
        Ok(match (worker, redis, provider, start) {
            (None, ..) => Self::Story { workers, json },
            (Some(worker), Some(redis), Some(provider), Some(start)) => Self::Worker(Orders {
                worker,
                redis,
                provider,
                start,
            }),
            _ => return Err("a worker needs --redis, --provider and --start".into()),
        })
    }
}

fn count(text: &str) -> Result<usize, &'static str> {
    match text.parse() {
        Ok(workers @ 2..=32) => Ok(workers),
        _ => Err("write a number from 2 to 32"),
    }
}
