//! Waiting for a condition instead of sleeping for a while.

use std::thread;
use std::time::Duration;
use std::time::Instant;

use crate::error::Error;

/// How long a condition is waited for before it is said never to come. Generous, since it is
/// only spent where something is broken.
pub const LIMIT: Duration = Duration::from_secs(30);

const PAUSE: Duration = Duration::from_millis(5);

/// Asks until there is an answer, and returns it.
///
/// # Panics
///
/// Where there is none within [`LIMIT`]: "waited 30s in vain until {what}".
#[track_caller]
pub fn until<T>(what: &str, ask: impl FnMut() -> Option<T>) -> T {
    match wait(what, ask) {
        Ok(answer) => answer,
        Err(error) => panic!("{error}"),
    }
}

/// As [`until`], with an error instead of a panic.
pub(crate) fn wait<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> Result<T, Error> {
    let began = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return Ok(answer);
        }
        if began.elapsed() > LIMIT {
            return Err(Error::Late { until: what.into() });
        }
        thread::sleep(PAUSE);
    }
}
