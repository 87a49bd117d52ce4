//! Tests that need a process of their own: the global registry, the global recorder and
//! standard error are there once a process.

use std::any;
use std::env;
use std::io::Write;
use std::process;
use std::process::Command;
use std::thread;
use std::time::Duration;

const SCENARIO: &str = "BREAKERBOX_SCENARIO";

/// Far more than any scenario takes.
const LIMIT: Duration = Duration::from_secs(300);

/// Runs the scenario of the calling test in a process of its own: this binary again, with
/// that one test.
#[track_caller]
pub(crate) fn alone<F: FnOnce()>(scenario: F) {
    heard(scenario);
}

/// The same. Gives what the scenario wrote to standard error; nothing in the process of
/// the scenario.
#[track_caller]
pub(crate) fn heard<F: FnOnce()>(scenario: F) -> Option<String> {
    // `binary::module::test::{{closure}}`
    let name = any::type_name::<F>();
    let name = name.split_once("::").map_or(name, |(_, rest)| rest);
    let name = name.strip_suffix("::{{closure}}").unwrap_or(name);
    if env::var(SCENARIO).is_ok_and(|wanted| wanted == name) {
        play(scenario);
        return None;
    }
    let this = env::current_exe().expect("the path of this binary");
    let played = Command::new(this)
        .args([name, "--exact", "--nocapture"])
        .env(SCENARIO, name)
        .output()
        .expect("this binary runs again");
    let out = String::from_utf8_lossy(&played.stdout);
    let err = String::from_utf8_lossy(&played.stderr);
    assert!(
        played.status.success() && out.contains("1 passed"),
        "{name} alone: {}\n{out}\n{err}",
        played.status
    );
    Some(err.into_owned())
}

fn play<F: FnOnce()>(scenario: F) {
    thread::spawn(|| {
        thread::sleep(LIMIT);
        let _ = writeln!(std::io::stderr(), "the scenario never ends");
        process::abort();
    });
    scenario();
}
