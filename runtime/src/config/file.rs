//! Reading a file that may be anything.

use std::fs::File;
use std::io;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use crate::settings::ConfigError;
use crate::settings::Source;

/// Far more than any configuration has: a wrong path may lead to something endless.
const MOST: u64 = 1 << 20;

pub(super) fn read(shown: &Arc<Path>, path: &Path) -> Result<String, ConfigError> {
    let error = |line, message| {
        let path = Arc::clone(shown);
        ConfigError::new(Source::File { path, line }, message)
    };
    let bytes = bytes(path).map_err(|source| error(0, format!("it cannot be read: {source}")))?;
    if bytes.len() as u64 > MOST {
        return Err(error(0, "it is longer than 1 MiB".to_owned()));
    }
    String::from_utf8(bytes).map_err(|wrong| {
        let good = &wrong.as_bytes()[..wrong.utf8_error().valid_up_to()];
        let before = good.iter().filter(|byte| **byte == b'\n').count();
        let line = u32::try_from(before + 1).unwrap_or(u32::MAX);
        error(line, "it is not UTF-8".to_owned())
    })
}

/// One more than there may be, if there are that many.
fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    // Asked before it is opened: opening a pipe waits for its other end.
    if !path.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
