//! What a worker tells: one line each, with tabs between the words.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A line of one worker, and when that was, since the start.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) at: Duration,
    pub(crate) what: What,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    /// The circuit has moved in this process.
    Moved {
        from: String,
        to: String,
        reason: String,
    },
    /// Redis is reached.
    Found,
    /// Redis is not reached any more.
    Lost(String),
    /// What its calls have come to since it was asked last.
    Counts(Counts),
}

/// What became of the calls of one worker.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) made: u64,
    /// Made, and answered with an error.
    pub(crate) in_vain: u64,
    /// Made, and not answered at all.
    pub(crate) broken: u64,
    pub(crate) rejected: u64,
    /// Of these, the ones whose time it was, and that others probed for.
    pub(crate) others_probed: u64,
    /// How long calls that were made were in the breaker, and not at the provider: half of all
    /// that its process has ever made, at most.
    pub(crate) median: Duration,
    /// The same of all since it was asked last, ...
    pub(crate) longest: Duration,
    /// ... and of all that were rejected.
    pub(crate) longest_rejected: Duration,
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\t", self.at.as_micros())?;
        match &self.what {
            What::Moved { from, to, reason } => write!(f, "moved\t{from}\t{to}\t{reason}"),
            What::Found => f.write_str("found"),
            What::Lost(cause) => write!(f, "lost\t{cause}"),
            What::Counts(counts) => write!(
                f,
                "counts\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
                counts.made,
                counts.in_vain,
                counts.broken,
                counts.rejected,
                counts.others_probed,
                counts.median.as_nanos(),
                counts.longest.as_nanos(),
                counts.longest_rejected.as_nanos(),
            ),
        }
    }
}

/// That a line is none of these.
#[derive(Debug, thiserror::Error)]
#[error("a worker said {0:?}, which nobody understands")]
pub(crate) struct NoWord(String);

impl FromStr for Said {
    type Err = NoWord;

    fn from_str(line: &str) -> Result<Self, NoWord> {
        read(line).ok_or_else(|| NoWord(line.to_owned()))
    }
}

fn read(line: &str) -> Option<Said> {
    let words: Vec<&str> = line.split('\t').collect();
    let (at, words) = words.split_first()?;
    let number = |word: &str| word.parse::<u64>().ok();
    let what = match *words {
        ["moved", from, to, reason] => What::Moved {
            from: from.to_owned(),
            to: to.to_owned(),
            reason: reason.to_owned(),
        },
        ["found"] => What::Found,
        ["lost", cause] => What::Lost(cause.to_owned()),
        [
            "counts",
            made,
            in_vain,
            broken,
            rejected,
            others,
            median,
            longest,
            long_rejected,
        ] => What::Counts(Counts {
            made: number(made)?,
            in_vain: number(in_vain)?,
            broken: number(broken)?,
            rejected: number(rejected)?,
            others_probed: number(others)?,
            median: Duration::from_nanos(number(median)?),
            longest: Duration::from_nanos(number(longest)?),
            longest_rejected: Duration::from_nanos(number(long_rejected)?),
        }),
        _ => return None,
    };
    Some(Said {
        at: Duration::from_micros(number(at)?),
        what,
    })
}
