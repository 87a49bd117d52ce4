//! The flags of the command line.

use std::time::Duration;

use lexopt::Arg;
use lexopt::ValueExt;

pub(crate) const HELP: &str = "\
Friday night: the payment provider fails while eight workers drain a queue of payments,
once without and once with #[circuit_breaker].

usage: friday_night [--jobs N] [--outage TIME] [--limit TIME] [--seed N] [--json]

  --jobs N       payments to make                                [50000]
  --outage TIME  how long the provider is down, e.g. 6s, 800ms   [6s]
  --limit TIME   when to stop a run that is not done             [outage + 22s]
  --seed N       seeds the faults, the keys and the spread       [1]
  --json         print one JSON object as the last line of stdout
  --help         print this

Exits with 0 when every promise was kept, 1 when one was not, 2 for bad flags.
";

/// What this night is to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flags {
    pub(crate) jobs: usize,
    pub(crate) outage: Duration,
    pub(crate) limit: Duration,
    pub(crate) seed: u64,
    pub(crate) json: bool,
}

impl Flags {
    /// Reads the command line; `None` when help was asked for.
    pub(crate) fn from_env() -> Result<Option<Self>, lexopt::Error> {
        let mut flags = Self {
            jobs: 50_000,
            outage: Duration::from_secs(6),
            limit: Duration::ZERO,
            seed: 1,
            json: false,
        };
        let mut limit = None;
        let mut parser = lexopt::Parser::from_env();
        while let Some(arg) = parser.next()? {
            match arg {
                Arg::Long("jobs") => flags.jobs = parser.value()?.parse_with(jobs)?,
                Arg::Long("outage") => flags.outage = parser.value()?.parse_with(time)?,
                Arg::Long("limit") => limit = Some(parser.value()?.parse_with(time)?),
                Arg::Long("seed") => flags.seed = parser.value()?.parse()?,
                Arg::Long("json") => flags.json = true,
                Arg::Long("help") | Arg::Short('h') => return Ok(None),
                _ => return Err(arg.unexpected()),
            }
        }
        flags.limit = limit.unwrap_or(flags.outage + Duration::from_secs(22));
        Ok(Some(flags))
    }
}

fn jobs(text: &str) -> Result<usize, &'static str> {
    match text.parse() {
        Ok(jobs @ 1..=1_000_000) => Ok(jobs),
        _ => Err("write a number from 1 to 1000000"),
    }
}

fn time(text: &str) -> Result<Duration, &'static str> {
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 1),
        None => (text.strip_suffix('s').unwrap_or_default(), 1000),
    };
    match number.parse::<u32>() {
        Ok(number @ ..=3_600_000) => Ok(Duration::from_millis(u64::from(number) * unit)),
        _ => Err("write a time such as 6s or 800ms"),
    }
}
