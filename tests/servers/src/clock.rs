//! A server's clock that can be set, while it runs, by libfaketime.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use crate::error::Error;
use crate::tools;

/// What the clock of a server shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The time.
    Right,
    /// So much more.
    Ahead(Duration),
    /// So much less.
    Behind(Duration),
}

impl Clock {
    /// What a process is started with that is to see this clock for all its life, as `file`
    /// says, which is written. Its monotonic clock stays right.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] where there is no libfaketime, and if the file cannot be written.
    pub fn of_process(self, file: &Path) -> Result<Vec<(&'static str, OsString)>, Error> {
        self.set(file)?;
        environment(file)
    }

    /// Sets it for the processes that were started with `environment` of this file. Replaced
    /// at once: half an offset must never be read.
    pub(crate) fn set(self, file: &Path) -> io::Result<()> {
        let (sign, by) = match self {
            Self::Right => ('+', Duration::ZERO),
            Self::Ahead(by) => ('+', by),
            Self::Behind(by) => ('-', by),
        };
        let next = file.with_extension("next");
        fs::write(&next, format!("{sign}{:.6}\n", by.as_secs_f64()))?;
        fs::rename(&next, file)
    }
}

/// What makes a process take its clock from `file`. Its monotonic clock stays as it is.
pub(crate) fn environment(file: &Path) -> Result<Vec<(&'static str, OsString)>, Error> {
    let mut preload = library()?.into_os_string();
    // Its first question starts libfaketime, which allocates, which starts jemalloc, which
    // asks for the time. With the allocator of the C library in front this is no circle.
    if cfg!(target_env = "gnu") {
        preload.push(" libc.so.6");
    }
    Ok(vec![
        ("LD_PRELOAD", preload),
        ("FAKETIME_TIMESTAMP_FILE", file.into()),
        ("FAKETIME_NO_CACHE", "1".into()),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".into()),
        ("DONT_FAKE_MONOTONIC", "1".into()),
    ])
}

fn library() -> Result<PathBuf, Error> {
    let mut folders = tools::unpacked_libraries();
    folders.extend(["/usr/lib64", "/usr/lib", "/usr/local/lib"].map(PathBuf::from));
    // Debian has a folder for each architecture.
    let below = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    folders.extend(below.map(|entry| entry.path()));
    folders
        .into_iter()
        .map(|folder| folder.join("faketime/libfaketimeMT.so.1"))
        .find(|library| library.is_file())
        .ok_or(Error::Missing {
            program: "libfaketime",
        })
}
