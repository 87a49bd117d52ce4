//! Numbers from files, the environment, code and live changes: which are in force, where
//! they come from, and what is wrong with them.

mod bad_files;
mod concurrency;
mod defaults;
mod environment;
mod files;
mod late;
mod layers;
mod reload;
mod told;
mod update;
mod values;
mod watch;

use std::env;
use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use breakerbox::Breaker;
use breakerbox::BuildError;
use breakerbox::Key;
use breakerbox::Registry;
use breakerbox::RegistryBuilder;
use breakerbox::Setting;

/// What a registry refuses to be built with, a line each.
#[track_caller]
fn refused(builder: RegistryBuilder) -> Vec<String> {
    match builder.build() {
        Err(BuildError::Problems(problems)) => problems.iter().map(ToString::to_string).collect(),
        other => panic!("{other:?}"),
    }
}

/// A registry with one file, whose services are all declared.
#[track_caller]
fn built(services: &[&str], toml: &str) -> Registry {
    let builder = Registry::builder().config_toml(toml);
    let declare = |builder: RegistryBuilder, service: &&str| builder.declare(*service);
    let built = services.iter().fold(builder, declare).build();
    built.expect("nothing is wrong")
}

/// One key of a breaker, as its snapshot shows it: `threshold = 5 (default)`.
#[track_caller]
fn setting(breaker: &Breaker, key: Key) -> String {
    let snapshot = breaker.snapshot();
    let found = snapshot.configuration.iter().find(|it| it.key == key);
    found.map_or_else(String::new, Setting::to_string)
}

/// A folder of one test, gone with it.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static FOLDERS: AtomicUsize = AtomicUsize::new(0);
        let number = FOLDERS.fetch_add(1, Relaxed);
        let name = format!("breakerbox-tests-{}-{number}", process::id());
        let path = env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a folder for temporary files");
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).expect("a file can be written");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The text with the path of a file in place of `FILE`.
fn with_path(text: &str, path: &Path) -> String {
    text.replace("FILE", &path.display().to_string())
}
