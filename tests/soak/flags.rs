//! What the command line wants. It may have been written for all test programs together.

use std::net::SocketAddr;
use std::str::FromStr;

pub(crate) const HELP: &str = "\
usage: soak [--seconds N] [--seed S] [--verbose]

  --seconds N  how long it goes on, at least 20  [60]
  --seed S     seeds the faults                  [random, and printed]
  --verbose    a line for each fault as it happens

Exits with 0 when all held, 1 when something did not, 2 for bad flags. What is said to the
usual test programs is understood: a filter, --exact, --skip, --ignored, --list.";

pub(crate) enum Wish {
    Soak(Plan),
    Work(Post),
    List,
    Nothing,
    Help,
}

/// How to soak.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) seconds: u64,
    pub(crate) seed: u64,
    pub(crate) is_verbose: bool,
}

/// Which of the processes this is, and where the others are.
pub(crate) struct Post {
    pub(crate) seat: usize,
    pub(crate) redis: String,
    pub(crate) service: SocketAddr,
    pub(crate) seed: u64,
}

/// The name that filters are about.
const NAME: &str = "soak";

/// What the usual test programs take a value for.
const WITH_VALUE: [&str; 6] = [
    "--test-threads",
    "--format",
    "--color",
    "--logfile",
    "--shuffle-seed",
    "-Z",
];

impl Wish {
    pub(crate) fn of(words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut words = words.flat_map(halves).peekable();
        if words.next_if(|word| word == "--worker").is_some() {
            return Post::of(words).map(Self::Work);
        }
        let mut plan = Plan {
            seconds: 60,
            seed: fastrand::u64(..1_000_000),
            is_verbose: false,
        };
        let (mut filters, mut skipped) = (Vec::new(), Vec::new());
        let (mut is_list, mut is_exact, mut is_ignored) = (false, false, false);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} wants a value"));
            match word.as_str() {
                "--seconds" => plan.seconds = number::<u64>(&value()?)?.max(20),
                "--seed" => plan.seed = number(&value()?)?,
                "--verbose" => plan.is_verbose = true,
                "--list" => is_list = true,
                "--exact" => is_exact = true,
                "--ignored" => is_ignored = true,
                "--skip" => skipped.push(value()?),
                "--help" | "-h" => return Ok(Self::Help),
                known if WITH_VALUE.contains(&known) => drop(value()?),
                flag if flag.starts_with('-') => {}
                _ => filters.push(word),
            }
        }
        let is_meant = |filter: &String| match is_exact {
            true => filter == NAME,
            false => NAME.contains(filter.as_str()),
        };
        let is_wanted = !is_ignored
            && (filters.is_empty() || filters.iter().any(is_meant))
            && !skipped.iter().any(is_meant);
        Ok(match (is_wanted, is_list) {
            (false, _) => Self::Nothing,
            (true, true) => Self::List,
            (true, false) => Self::Soak(plan),
        })
    }
}

impl Post {
    /// The words after `--worker`.
    fn of(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut next = || words.next().ok_or("a worker is told four things");
        let (seat, redis, service, seed) = (next()?, next()?, next()?, next()?);
        Ok(Self {
            seat: number(&seat)?,
            redis,
            service: number(&service)?,
            seed: number(&seed)?,
        })
    }

    pub(crate) fn words(&self) -> [String; 5] {
        [
            "--worker".to_owned(),
            self.seat.to_string(),
            self.redis.clone(),
            self.service.to_string(),
            self.seed.to_string(),
        ]
    }
}

/// `--flag=value` is two words.
fn halves(word: String) -> Vec<String> {
    match word.split_once('=') {
        Some((flag, value)) if flag.starts_with("--") => vec![flag.to_owned(), value.to_owned()],
        _ => vec![word],
    }
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("{text:?} is not what is expected here"))
}
