//! Why there is no server.

use std::env;
use std::io;

use crate::wait::LIMIT;

/// Why a server could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The machine has no such program or library.
    #[error("{program} is not installed: run ./tests/run")]
    Missing {
        /// What is looked for.
        program: &'static str,
    },
    /// The server knows no TLS.
    #[error("this {program} was built without TLS")]
    WithoutTls {
        /// The server.
        program: &'static str,
    },
    /// The process ended instead of serving.
    #[error("{program} ended while it started:\n{log}")]
    Ended {
        /// The server.
        program: &'static str,
        /// What it had to say.
        log: String,
    },
    /// What was waited for did not come.
    #[error("waited {LIMIT:?} in vain until {until}")]
    Late {
        /// The condition, as half a sentence.
        until: String,
    },
    /// No certificate could be made.
    #[error("no certificate")]
    Certificate(#[from] rcgen::Error),
    /// The system refused a file, a socket or a process.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// What was started, or `None` on a machine that cannot have it.
///
/// `./tests/run` sets `BREAKERBOX_WITHOUT` to the programs that it could not install, apart
/// by spaces. Their tests are skipped, and say so; anywhere else a missing program is a
/// failure, as nobody would notice a test that never runs.
///
/// # Panics
///
/// With every other error.
#[track_caller]
pub fn installed<T>(started: Result<T, Error>) -> Option<T> {
    match started {
        Ok(started) => Some(started),
        Err(Error::Missing { program }) if given_up(program) => {
            eprintln!("skipped: {program} is not installed");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn given_up(program: &str) -> bool {
    let without = env::var("BREAKERBOX_WITHOUT").unwrap_or_default();
    without.split_whitespace().any(|given| given == program)
}
