//! Tests that need a process of their own: the global registry, the global recorder and
//! standard error are there once a process.

use std::any;
use std::env;
use std::io::Write;
use std::process;
use std::process::Command;
use std::process::Stdio;
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
    play_alone(scenario, Hearing::Open)
}

/// The same, where nobody reads standard error: writing to it fails.
#[allow(
    dead_code,
    reason = "one of the two binaries that have this has such a test"
)]
#[track_caller]
pub(crate) fn unheard<F: FnOnce()>(scenario: F) {
    play_alone(scenario, Hearing::Closed);
}

#[derive(Clone, Copy)]
enum Hearing {
    Open,
    #[allow(dead_code, reason = "as above")]
    Closed,
}

#[track_caller]
fn play_alone<F: FnOnce()>(scenario: F, hearing: Hearing) -> Option<String> {
    // `binary::module::test::{{closure}}`
    let name = any::type_name::<F>();
    let name = name.split_once("::").map_or(name, |(_, rest)| rest);
    let name = name.strip_suffix("::{{closure}}").unwrap_or(name);
    if env::var(SCENARIO).is_ok_and(|wanted| wanted == name) {
        play(scenario);
        return None;
    }
    let this = env::current_exe().expect("the path of this binary");
    let mut playing = Command::new(this)
        .args([name, "--exact", "--nocapture"])
        .env(SCENARIO, name)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("this binary runs again");
    if let Hearing::Closed = hearing {
        drop(playing.stderr.take());
    }
    let played = playing.wait_with_output().expect("it ends");
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
