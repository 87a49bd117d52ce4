//! Where the programs are: on the `PATH`, or where `./tests/run` unpacks what the machine
//! has not.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::path::PathBuf;

use crate::error::Error;

const UNPACKED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/usr");

pub(crate) fn find(program: &'static str) -> Result<PathBuf, Error> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain([Path::new(UNPACKED).join("bin")])
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
        .ok_or(Error::Missing { program })
}

/// The folders of libraries that were unpacked, which no program finds by itself. There is
/// one for each architecture.
pub(crate) fn unpacked_libraries() -> Vec<PathBuf> {
    let folder = Path::new(UNPACKED).join("lib");
    let below = fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = below
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    folders.push(folder);
    folders
}

/// What lets a program find them, too.
pub(crate) fn library_path() -> OsString {
    let before = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = env::split_paths(&before).collect();
    folders.extend(unpacked_libraries());
    folders.retain(|folder| folder.is_absolute());
    // A folder with a colon in its name cannot be told to the loader.
    env::join_paths(folders).unwrap_or(before)
}
